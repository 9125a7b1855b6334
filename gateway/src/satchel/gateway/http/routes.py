"""Routes that the door adds to the contract's: each answers GET, and nothing else."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from satchel.gateway.errors import VerbNotAllowed
from satchel.gateway.exchanges import open_exchange
from satchel.gateway.http.responses import error_response, stamped
from satchel.gateway.metrics import count_refusal
from satchel.runtime.errors import ServiceError

_ANSWERED = ("GET", "HEAD")
_ALLOWED = (*_ANSWERED, "OPTIONS")


def get_route(path: str, answer: Callable[[Request], Awaitable[Response]]) -> Route:
    """Return a route that refuses other verbs itself, so that no later route takes them."""
    return Route(path, _GetOnly(answer))


def refuse(request: Request, error: ServiceError) -> Response:
    """Return the answer to a request that no RPC sees, with a trace id as every other."""
    count_refusal(error.reason)
    with open_exchange(request.method, dict(request.headers.items()), {}) as exchange:
        return stamped(error_response(error, exchange.trace_id), exchange)


class _GetOnly:
    """An ASGI application, which Starlette gives every verb."""

    def __init__(self, answer: Callable[[Request], Awaitable[Response]]) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if request.method in _ANSWERED:
            response = await self._answer(request)
        elif request.method == "OPTIONS":
            response = Response(status_code=HTTPStatus.NO_CONTENT, headers={"Allow": ", ".join(_ALLOWED)})
        else:
            response = refuse(request, VerbNotAllowed(request.method, _ALLOWED))
        await response(scope, receive, send)
