"""Which hosts and pages may ask, and how many requests run at a time: refused before anything is read."""

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from satchel.gateway.errors import HostRefused, TooManyRequests
from satchel.gateway.http.routes import refuse
from satchel.gateway.settings import ANY_ORIGIN
from satchel.runtime.metrics.queues import count_rejection, watch_queue

_LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})


class HostGuard:
    """Lets through only requests for, and from pages of, the hosts that are served.

    Where callers need no key, any web page could else reach the server through the browser of someone who
    can: by a name that resolves to its address (DNS rebinding), or by a request across sites. It stands on
    every address, because the port of a container may be published on a loopback address. Where callers need
    a key, which no such page has, a request may be for any host.
    """

    def __init__(
        self,
        app: ASGIApp,
        allowed_hosts: Collection[str],
        allowed_origins: Collection[str] = (),
        *,
        any_host: bool = False,
    ) -> None:
        """Serve the loopback names and ``allowed_hosts``, which are names without a port."""
        self._app = app
        self._allowed = _LOOPBACK_HOSTS | {host.strip("[]").lower() for host in allowed_hosts}
        self._origins = frozenset(allowed_origins)
        self._any_host = any_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403 to the others."""
        refused = self._refused(Headers(scope=scope)) if scope["type"] == "http" else ""
        if refused:
            await refuse(Request(scope), HostRefused(refused))(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refused(self, headers: Headers) -> str:
        host = _host_of(f"//{headers.get('host', '')}")
        if not self._any_host and host not in self._allowed:
            return "Host"
        allowed = self._allowed | {host} if self._any_host and host else self._allowed
        for origin in headers.getlist("origin"):
            if _host_of(origin) not in allowed and not self._origins & {origin, ANY_ORIGIN}:
                return "Origin"
        return ""


class Gate:
    """Counts the requests under way, of all applications that it stands before.

    ``kind`` names them, in the plural, in errors and metrics.
    """

    def __init__(self, limit: int, kind: str = "requests") -> None:
        self._limit = limit
        self._kind = kind
        self._under_way = 0
        watch_queue(self, f"gateway.{kind}", limit=limit, depth=lambda gate: gate.under_way)

    @property
    def under_way(self) -> int:
        """Number of requests under way."""
        return self._under_way

    def before(self, app: ASGIApp) -> "Gated":
        """Return the application behind this gate."""
        return Gated(app, self)

    async def run(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Run one request, or refuse it at once when as many as the limit are under way."""
        if self._under_way >= self._limit:
            count_rejection(f"gateway.{self._kind}")
            await refuse(Request(scope), TooManyRequests(self._limit, self._kind))(scope, receive, send)
            return
        self._under_way += 1
        try:
            await app(scope, receive, send)
        finally:
            self._under_way -= 1


class Gated:
    """An ASGI application behind a gate."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._gate.run(self._app, scope, receive, send)


class Apart:
    """An ASGI application whose streams, which a client opens with GET, have a gate of their own."""

    def __init__(self, requests: Gate, streams: Gate, app: ASGIApp) -> None:
        self._requests = requests
        self._streams = streams
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        gate = self._streams if scope["method"] == "GET" else self._requests
        await gate.run(self._app, scope, receive, send)


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
