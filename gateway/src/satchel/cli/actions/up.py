"""What the command up does: one process with everything, on one data folder."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version

from satchel.cli.actions.addresses import bound_socket, require_loopback
from satchel.cli.output import tell
from satchel.cli.place import Place
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.embedded import Embedded, EmbeddedSettings, open_embedded
from satchel.gateway.home import Home, Start
from satchel.gateway.main import HttpServer
from satchel.gateway.rest.app import build_app
from satchel.gateway.settings import PREFIX, GatewaySettings
from satchel.runtime.channels import open_channel
from satchel.runtime.logs import setup_logs
from satchel.runtime.server import wait_for_signal
from satchel.runtime.settings import load
from satchel.runtime.telemetry import setup_telemetry

_REMEDY = (
    "Use 127.0.0.1; to serve other machines, put a proxy that asks for a key before it, "
    "as docs/operations.md says."
)


def up(place: Place, *, grpc_address: str, http_address: str) -> None:
    """Run until SIGINT or SIGTERM, then drain and return.

    Raises:
        CommandError: an address is taken, or can be reached from other machines.
        FolderBusy: another Satchel owns the data folder.
    """
    require_loopback(grpc_address, "--grpc", _REMEDY)
    require_loopback(http_address, "--http", _REMEDY)
    setup_server_logs()
    flush = setup_telemetry("satchel")
    try:
        asyncio.run(_up(place, grpc_address, http_address))
    finally:
        flush()


def setup_server_logs() -> None:
    """Log as ``SATCHEL_LOG_LEVEL`` and ``SATCHEL_LOG_FORMAT`` say; for a terminal as text, else as JSON."""
    default = "text" if sys.stderr.isatty() else "json"
    chosen = os.environ.get("SATCHEL_LOG_FORMAT", default)
    setup_logs(os.environ.get("SATCHEL_LOG_LEVEL", "INFO"), "text" if chosen == "text" else "json")
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # our own events say the same


async def _up(place: Place, grpc_address: str, http_address: str) -> None:
    home = Home(
        place.data_dir,
        start=_start(grpc_address, http_address),
        connect=open_channel,
        role="up",
        version=version("satchel"),
    )
    async with home:
        owner = (await home.own()).owner
        tell(f"Satchel {version('satchel')} is ready. Data folder: {home.folder.path}")
        tell(f"  REST     {owner.http}/api/v1   (documentation: {owner.http}/docs)")
        tell(f"  MCP      {owner.http}/mcp")
        tell(f"  gRPC     {owner.grpc}")
        await wait_for_signal()
        tell("Satchel is stopping.")


def _start(grpc_address: str, http_address: str) -> Start:
    host = http_address.rpartition(":")[0]

    @asynccontextmanager
    async def start(folder: DataFolder) -> AsyncIterator[Embedded]:
        # Loading the models takes a second; an address that is taken should be told at once.
        with bound_socket(grpc_address, "--grpc"), bound_socket(http_address, "--http"):
            settings = replace(load(GatewaySettings, PREFIX), http_address=http_address)
        async with open_embedded(EmbeddedSettings.load(folder, grpc_address=grpc_address)) as embedded:
            app = build_app(embedded.clients(), settings)
            async with HttpServer(app, settings) as http:
                yield replace(embedded, http_address=f"http://{host}:{http.port}")

    return start
