"""Composes the HTTP application of both doors: the contract's routes, documents, health, metrics and MCP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from importlib.metadata import version

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from satchel.gateway.caller import Caller
from satchel.gateway.clients import Clients
from satchel.gateway.errors import PathNotFound, VerbNotAllowed
from satchel.gateway.health import SCHEMA as HEALTH_SCHEMA
from satchel.gateway.http.callers import CallerGuard
from satchel.gateway.http.guard import Apart, Gate, HostGuard
from satchel.gateway.http.origins import SharedOrigins
from satchel.gateway.http.patience import Patience
from satchel.gateway.http.rates import TokenBuckets
from satchel.gateway.http.routes import refuse
from satchel.gateway.mcp.endpoint import McpEndpoint
from satchel.gateway.mcp.server import build_server
from satchel.gateway.mcp.sse import MESSAGE_PATH, STREAM_PATH, SseEndpoint
from satchel.gateway.metrics import GatewayMetrics
from satchel.gateway.rest.dispatch import Dispatcher
from satchel.gateway.rest.documents import document_routes
from satchel.gateway.rest.health import health_routes
from satchel.gateway.settings import ANY_ORIGIN, PREFIX, GatewaySettings, McpSettings
from satchel.gateway.transcoder.descriptors import Contract, load_contract
from satchel.gateway.transcoder.openapi import make_openapi
from satchel.gateway.transcoder.routes import RouteTable
from satchel.runtime.keys import KeyRing
from satchel.runtime.metrics.settings import MetricsSettings
from satchel.runtime.settings import SettingsError


@dataclass(frozen=True, slots=True)
class Doors:
    """What is served at one address, beside health."""

    rest: bool = True
    mcp: bool = True
    metrics: bool = True


class Gateway:
    """What the doors share, whatever the number of addresses: the caller, the counts of requests, the rates.

    ``clients`` carry the credentials of each request; ``inside`` reach the services as one of them, for
    health and metrics. With keys in the ``ring`` every request needs one.
    """

    def __init__(
        self,
        clients: Clients,
        settings: GatewaySettings | None = None,
        *,
        contract: Contract | None = None,
        ring: KeyRing | None = None,
        inside: Clients | None = None,
        mcp: McpSettings | None = None,
        metrics: MetricsSettings | None = None,
    ) -> None:
        """Make the shared parts.

        Raises:
            SettingsError: pages of any origin may call although callers need no key.
        """
        self.settings = settings or GatewaySettings()
        self.ring = ring or KeyRing()
        self.metrics = GatewayMetrics()
        self._clients = clients
        self.inside = inside or clients
        self._contract = contract or load_contract()
        self._mcp = mcp or McpSettings()
        self._has_metrics = (metrics or MetricsSettings()).enabled
        self._caller = Caller(self._contract, clients, self.metrics, timeout_s=self.settings.timeout_s)
        self._table = RouteTable(self._contract)
        self._gate = Gate(self.settings.max_requests)
        self._streams = Gate(self.settings.max_streams, "streams")
        self._buckets = TokenBuckets(self.settings.request_rate)
        if ANY_ORIGIN in self.settings.allowed_origins and not self.ring:
            raise SettingsError(
                f"{PREFIX}_ALLOWED_ORIGINS={ANY_ORIGIN} lets every web page read memories, and callers need "
                "no key. Name the origins, or set SATCHEL_AUTH_TOKEN."
            )

    def app(self, doors: Doors | None = None) -> Starlette:
        """Return the application for one address.

        Its lifespan runs the MCP sessions; everything else is ready at once. Before it stops,
        ``state.end_streams`` ends what has no end of its own.
        """
        doors = doors or Doors(rest=self.settings.rest)
        mcp, sse = self._mcp_endpoints() if doors.mcp else (None, None)

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with mcp.running() if mcp else nullcontext():
                yield

        made = Starlette(
            routes=self._routes(doors, mcp, sse),
            middleware=self._middleware(),
            exception_handlers={HTTPException: _show_http_error},
            lifespan=lifespan,
        )
        made.state.end_streams = [each.end_streams for each in (mcp, sse) if each is not None]
        return made

    def _routes(self, doors: Doors, mcp: McpEndpoint | None, sse: SseEndpoint | None) -> list[BaseRoute]:
        # Health is not behind the gate: a gateway that has much to do is alive.
        has_metrics = doors.metrics and self._has_metrics
        routes = health_routes(self.inside, self.ring, with_metrics=has_metrics)
        if doors.rest:
            document = make_openapi(
                self._contract, self._table, version=version("satchel"), health=HEALTH_SCHEMA
            )
            routes += document_routes(document)
        if mcp is not None:
            # A stream stays open as long as its client listens, and would keep its place from requests.
            routes.append(Route("/mcp", Apart(self._gate, self._streams, mcp)))
        if sse is not None:
            routes.append(Route(STREAM_PATH, self._streams.before(sse.stream)))
            routes.append(Route(MESSAGE_PATH, self._gate.before(sse.messages)))
        if doors.rest:
            rest = Dispatcher(self._table, self._caller, max_body_bytes=self.settings.max_body_bytes)
            routes.append(Route("/{path:path}", self._gate.before(_AnyVerb(rest))))
        return routes

    def _mcp_endpoints(self) -> tuple[McpEndpoint, SseEndpoint]:
        caller = self._caller.within(self._mcp.timeout_seconds)
        server = build_server(caller, self._clients, self._mcp, inside=self.inside)
        limit = self.settings.max_body_bytes
        endpoint = McpEndpoint(server, max_body_bytes=limit, sessions=self._mcp.sessions)
        return endpoint, SseEndpoint(server, max_body_bytes=limit)

    def _middleware(self) -> list[Middleware]:
        settings = self.settings
        any_host = bool(self.ring) and not settings.allowed_hosts
        return [
            Middleware(Patience, settings.read_timeout_s, settings.write_timeout_s),
            Middleware(HostGuard, settings.allowed_hosts, settings.allowed_origins, any_host=any_host),
            Middleware(SharedOrigins, settings.allowed_origins),
            Middleware(CallerGuard, self.ring, self._buckets, settings.trusted_proxies),
        ]


def build_app(
    clients: Clients,
    settings: GatewaySettings | None = None,
    *,
    contract: Contract | None = None,
    ring: KeyRing | None = None,
) -> Starlette:
    """Return the application of all doors over the services that ``clients`` reach."""
    return Gateway(clients, settings, contract=contract, ring=ring).app()


class _AnyVerb:
    """An ASGI application, so that Starlette leaves the verbs to the dispatcher."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._dispatcher(Request(scope, receive))
        await response(scope, receive, send)


async def _show_http_error(request: Request, error: Exception) -> Response:
    """Show what Starlette itself refuses, a verb or a file, as every other error."""
    allowed = (error.headers or {}).get("Allow", "") if isinstance(error, HTTPException) else ""
    refused = (
        VerbNotAllowed(request.method, allowed.split(", "))
        if allowed
        else PathNotFound(request.method, request.scope["path"])
    )
    return refuse(request, refused)
