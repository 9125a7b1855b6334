"""Composes the HTTP application of both doors: the contract's routes, documents, health, metrics and MCP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from satchel.gateway.caller import Caller
from satchel.gateway.clients import Clients
from satchel.gateway.errors import PathNotFound, VerbNotAllowed
from satchel.gateway.health import SCHEMA as HEALTH_SCHEMA
from satchel.gateway.http.guard import Gate, HostGuard
from satchel.gateway.http.routes import refuse
from satchel.gateway.mcp.endpoint import McpEndpoint
from satchel.gateway.mcp.server import build_server
from satchel.gateway.metrics import GatewayMetrics
from satchel.gateway.rest.dispatch import Dispatcher
from satchel.gateway.rest.documents import document_routes
from satchel.gateway.rest.health import health_routes
from satchel.gateway.settings import GatewaySettings
from satchel.gateway.transcoder.descriptors import Contract, load_contract
from satchel.gateway.transcoder.openapi import make_openapi
from satchel.gateway.transcoder.routes import RouteTable


def build_app(
    clients: Clients, settings: GatewaySettings | None = None, *, contract: Contract | None = None
) -> Starlette:
    """Return the application over the services that ``clients`` reach.

    Its lifespan runs the MCP sessions; everything else is ready at once.
    """
    settings = settings or GatewaySettings()
    contract = contract or load_contract()
    metrics = GatewayMetrics()
    caller = Caller(contract, clients, metrics, timeout_s=settings.timeout_s)
    table = RouteTable(contract)
    mcp = McpEndpoint(build_server(caller, clients), max_body_bytes=settings.max_body_bytes)
    rest = _AnyVerb(Dispatcher(table, caller, max_body_bytes=settings.max_body_bytes))
    # Health is not behind the gate: a gateway that has much to do is alive.
    gate = Gate(settings.max_requests)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.running():
            yield

    return Starlette(
        routes=[
            *health_routes(clients, metrics),
            *document_routes(make_openapi(contract, table, version=version("satchel"), health=HEALTH_SCHEMA)),
            Route("/mcp", gate.before(mcp)),
            Route("/{path:path}", gate.before(rest)),
        ],
        middleware=[Middleware(HostGuard, settings.allowed_hosts)],
        exception_handlers={HTTPException: _show_http_error},
        lifespan=lifespan,
    )


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
