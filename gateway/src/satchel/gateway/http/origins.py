"""Which pages may call from a browser: Cross-Origin Resource Sharing, off unless origins are named.

Source: https://fetch.spec.whatwg.org/#http-cors-protocol. Keys travel in ``Authorization``, which a page sets
itself, so that no answer ever allows credentials: cookies are neither read nor set.
"""

from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel.gateway.exchanges import PROJECT_HEADER, SPANS_HEADER, TRACE_ID_HEADER
from satchel.gateway.settings import ANY_ORIGIN
from satchel.runtime.propagation import AUTHORIZATION, TRACE_DEMAND, TRACEPARENT, TRACESTATE

_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
_SENT = (
    *(AUTHORIZATION, "content-type", PROJECT_HEADER, TRACEPARENT, TRACESTATE, TRACE_DEMAND),
    *("last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id"),
)
_SHOWN = (TRACE_ID_HEADER, SPANS_HEADER, "retry-after", "www-authenticate", "mcp-session-id")
_REMEMBERED_S = 600


class SharedOrigins:
    """Tells browsers that pages of the allowed origins may read the answers, and answers their preflights."""

    def __init__(self, app: ASGIApp, allowed_origins: Collection[str]) -> None:
        self._app = app
        self._allowed = frozenset(allowed_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; of other origins it is passed on untouched."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        origin = headers.get("origin", "")
        if not origin or not self._allowed & {origin, ANY_ORIGIN}:
            await self._app(scope, receive, send)
            return
        shared = self._shared(origin)
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            await Response(status_code=204, headers={**shared, **_PREFLIGHT})(scope, receive, send)
            return

        async def send_shared(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                sent.update({**shared, "Access-Control-Expose-Headers": ", ".join(_SHOWN)})
            await send(message)

        await self._app(scope, receive, send_shared)

    def _shared(self, origin: str) -> dict[str, str]:
        if ANY_ORIGIN in self._allowed:
            return {"Access-Control-Allow-Origin": ANY_ORIGIN}
        return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}


_PREFLIGHT = {
    "Access-Control-Allow-Methods": _METHODS,
    "Access-Control-Allow-Headers": ", ".join(_SENT),
    "Access-Control-Max-Age": str(_REMEMBERED_S),
}
