"""Requests to RPCs: the path finds the RPC, the parts become its message, its answer becomes JSON."""

import logging
import time
from http import HTTPStatus
from urllib.parse import parse_qsl, quote

from google.protobuf.message import Message
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from satchel.gateway.caller import Caller
from satchel.gateway.errors import PathNotFound, VerbNotAllowed
from satchel.gateway.exchanges import Exchange, open_exchange
from satchel.gateway.http.bodies import read_json
from satchel.gateway.http.responses import error_response, json_response, stamped
from satchel.gateway.transcoder.encoding import encode, encode_field
from satchel.gateway.transcoder.routes import Place, Route, RouteTable
from satchel.runtime.errors import InternalError, ServiceError

_log = logging.getLogger("satchel.gateway.rest")

_UNKNOWN_PLACE = "unknown"
_CLIENT_CLOSED_REQUEST = 499


class Dispatcher:
    """Answers every request under the contract's paths."""

    def __init__(self, table: RouteTable, caller: Caller, *, max_body_bytes: int) -> None:
        self._table = table
        self._caller = caller
        self._max_body_bytes = max_body_bytes

    async def __call__(self, request: Request) -> Response:
        """Answer a request; whatever happens, the answer is JSON with a trace id."""
        began = time.perf_counter()
        place, fields = self._table.find(_sent_path(request)) or (None, {})
        name = place.template if place else _UNKNOWN_PLACE
        attributes = {"http.request.method": request.method, "http.route": name}
        with open_exchange(f"{request.method} {name}", _carrier(request), dict(attributes)) as exchange:
            response = await self._answered(request, place, fields, exchange)
            failure = str(response.status_code) if response.status_code >= HTTPStatus.BAD_REQUEST else ""
            exchange.finish(failure=failure, **{"http.response.status_code": response.status_code})
            stamped(response, exchange)
            self._observe(request.method, name, response.status_code, time.perf_counter() - began)
        return response

    async def _answered(
        self, request: Request, place: Place | None, fields: dict[str, str], exchange: Exchange
    ) -> Response:
        try:
            return await self._answer(request, place, fields)
        except ServiceError as error:
            return error_response(error, exchange.trace_id)
        except ClientDisconnect:
            return Response(status_code=_CLIENT_CLOSED_REQUEST)
        except Exception:  # noqa: BLE001  # the door's boundary: no request ends without an answer
            _log.exception("http.unhandled", extra={"method": request.method})
            return error_response(InternalError(), exchange.trace_id)

    async def _answer(self, request: Request, place: Place | None, fields: dict[str, str]) -> Response:
        if place is None:
            raise PathNotFound(request.method, request.scope["path"])
        if request.method == "OPTIONS":
            return Response(status_code=HTTPStatus.NO_CONTENT, headers={"Allow": ", ".join(place.allowed())})
        route = place.routes.get("GET" if request.method == "HEAD" else request.method)
        if route is None:
            raise VerbNotAllowed(request.method, place.allowed())
        body = await read_json(request, self._max_body_bytes) if route.rule.body else None
        message = route.request(fields, _sent_query(request), body)
        answer = await self._caller.call(route.rpc, message)
        return _response(route, answer)

    def _observe(self, method: str, place: str, status: int, seconds: float) -> None:
        self._caller.metrics.count_request(method, place, status, seconds)
        _log.info(
            "http.request",
            extra={"method": method, "route": place, "status": status, "ms": round(seconds * 1000, 2)},
        )


def _response(route: Route, answer: Message) -> Response:
    status = route.rpc.http_success
    if status == HTTPStatus.NO_CONTENT:
        return Response(status_code=status)
    if route.rule.response_body:
        return json_response(encode_field(answer, route.rule.response_body), status)
    return json_response(encode(answer), status)


def _sent_path(request: Request) -> str:
    """Return the path still percent-encoded, so that an encoded slash does not part it."""
    raw: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    return raw.partition(b"?")[0].decode("latin-1")


def _sent_query(request: Request) -> list[tuple[str, str]]:
    """Return names and values; bytes that are not UTF-8 become halves of surrogate pairs."""
    text: bytes = request.scope["query_string"]
    return parse_qsl(text.decode("latin-1"), keep_blank_values=True, errors="surrogateescape")


def _carrier(request: Request) -> dict[str, str]:
    """Return the headers, of which a repeated one counts once, by its last value."""
    return dict(request.headers.items())
