"""Composition of the gateway's process: settings, channels, the application, the HTTP server."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Self

import uvicorn
from starlette.applications import Starlette

from satchel.gateway.app import Doors, Gateway
from satchel.gateway.clients import Clients
from satchel.gateway.settings import GatewaySettings, ProcessSettings, require_guarded, split_address
from satchel.gateway.webhooks.running import delivering
from satchel.runtime.background import running
from satchel.runtime.channels import open_channel
from satchel.runtime.keys import KeyRing
from satchel.runtime.metrics.reporting import report_totals
from satchel.runtime.server import note_signals
from satchel.runtime.settings import Secret
from satchel.runtime.telemetry import setup_telemetry

_log = logging.getLogger("satchel.gateway")

_BACKLOG = 2048


class HttpServer:
    """Serves an application over HTTP in the running event loop.

    ``address`` is ``host:port``; that of the settings when empty. Use it as an async context manager:
    entering binds and serves, leaving finishes the requests under way.
    """

    def __init__(self, app: Starlette, settings: GatewaySettings, address: str = "") -> None:
        self._address = address or settings.http_address
        # What has no end of its own, such as the stream of an MCP session, would hold the server up.
        self._end_streams: Sequence[Callable[[], None]] = getattr(app.state, "end_streams", ())
        self._server = _Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # whose word is taken for a client's address, the settings say
                lifespan="on",
                timeout_graceful_shutdown=max(1, round(settings.grace_s)),
            )
        )
        self._task: asyncio.Task[None] | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        """Bind the address and serve.

        Raises:
            OSError: the address cannot be bound.
            RuntimeError: the application did not start.
        """
        host, port = split_address(self._address)
        bound = bind(host, port)
        self.port = bound.getsockname()[1]
        self._task = asyncio.create_task(self._server.serve(sockets=[bound]), name="satchel-http")
        await self._server.is_serving(self._task)
        _log.info("http.started", extra={"host": host, "port": self.port})
        return self

    async def __aexit__(self, *_: object) -> None:
        """Refuse new requests, let those under way end, and stop."""
        self._server.should_exit = True
        for end_streams in self._end_streams:
            end_streams()
        if self._task is not None:
            await self._task
        _log.info("http.stopped")


class _Server(uvicorn.Server):
    """A server that says when it serves, and leaves signals to whoever owns the process."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._has_started = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then let the waiting know."""
        await super().startup(sockets)
        self._has_started.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    async def is_serving(self, task: asyncio.Task[None]) -> None:
        """Wait until requests are answered; raise what stopped the server before."""
        started = asyncio.ensure_future(self._has_started.wait())
        await asyncio.wait((started, task), return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        if task.done():
            await task
        if not self.started:
            raise RuntimeError("The HTTP application did not start; its log says why.")


@asynccontextmanager
async def build(settings: ProcessSettings) -> AsyncIterator[Gateway]:
    """Open channels to the services and compose the gateway; they are closed at the end.

    Raises:
        SettingsError: an address can be reached from other machines, and callers need no key.
    """
    require_guarded(settings)
    key = settings.keys.for_peers(None)
    async with AsyncExitStack() as stack:
        # Calls for a client carry its own key or none: with that of the process anybody could do anything.
        clients = await _open_clients(settings.gateway, stack, None)
        yield Gateway(
            clients,
            settings.gateway,
            ring=KeyRing(settings.keys),
            inside=await _open_clients(settings.gateway, stack, key) if key else clients,
            mcp=settings.mcp,
            metrics=settings.metrics,
        )


async def serve(settings: ProcessSettings) -> None:
    """Run the gateway as a process of its own until SIGTERM or SIGINT."""
    asked = note_signals()
    async with build(settings) as gateway, AsyncExitStack() as stack:
        await stack.enter_async_context(running(report_totals(settings.metrics.report_interval_seconds)))
        await stack.enter_async_context(delivering(gateway.inside, settings.webhooks))
        await stack.enter_async_context(HttpServer(gateway.app(), settings.gateway))
        if settings.metrics.enabled and settings.metrics.prometheus_addr:
            app = gateway.app(Doors(rest=False, mcp=False))
            await stack.enter_async_context(
                HttpServer(app, settings.gateway, settings.metrics.prometheus_addr)
            )
        await asked.wait()


def run(environ: Mapping[str, str] | None = None) -> None:
    """Run the process, as ``environ`` or the environment says: the entry point of the gateway's container."""
    settings = ProcessSettings.load(environ)
    shutdown = setup_telemetry("satchel-gateway")
    try:
        asyncio.run(serve(settings))
    finally:
        shutdown()


async def _open_clients(settings: GatewaySettings, stack: AsyncExitStack, key: Secret | None) -> Clients:
    targets = {
        "embedder": settings.embedder,
        "index": settings.index,
        "store": settings.store,
        "allocator": settings.allocator,
    }
    return Clients(
        {
            name: await stack.enter_async_context(
                open_channel(target, timeout_s=settings.timeout_s, api_key=key)
            )
            for name, target in targets.items()
        }
    )


def bind(host: str, port: int) -> socket.socket:
    """Bind and listen.

    The protocol is named because asyncio sets TCP_NODELAY only where it is: without, an answer on a
    connection that is used again waits some 40 ms for the client's delayed acknowledgement.
    """
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound
