"""Serves the HTTP application on a socket, as part of a process that has other things to do."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp


class _Server(uvicorn.Server):
    """A server that leaves signals alone and tells when it has started."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.begun = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none: the process stops this server itself."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self.begun.set()


@asynccontextmanager
async def serving_http(app: ASGIApp, bound: socket.socket, grace_s: float) -> AsyncIterator[None]:
    """Serve ``app`` on ``bound`` for a ``with`` block; requests under way get ``grace_s`` to end.

    Raises:
        RuntimeError: the application did not start; its log says why.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=max(1, round(grace_s)),
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[bound]), name="satchel-http")
    begun = asyncio.create_task(server.begun.wait())
    try:
        await asyncio.wait((serving, begun), return_when=asyncio.FIRST_COMPLETED)
        if not server.started:
            raise RuntimeError("The HTTP door did not start; the log says why.")
        yield
    finally:
        begun.cancel()
        server.should_exit = True
        await serving
