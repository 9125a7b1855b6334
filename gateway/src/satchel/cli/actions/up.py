"""What the command up does: one process with everything, on one data folder."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version

from satchel.cli.actions.addresses import bound_socket, require_loopback
from satchel.cli.logs import setup_server_logs
from satchel.cli.output import tell
from satchel.cli.place import Place
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.home import Home
from satchel.gateway.home_services import Running, Start
from satchel.gateway.settings import PREFIX, GatewaySettings
from satchel.runtime.channels import open_channel
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
        ServicesEnded: a service failed, and all were stopped.
    """
    require_loopback(grpc_address, "--grpc", _REMEDY)
    require_loopback(http_address, "--http", _REMEDY)
    setup_server_logs()
    flush = setup_telemetry("satchel")
    try:
        asyncio.run(_up(place, grpc_address, http_address))
    finally:
        flush()


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
        await wait_until_stopped(home)
        tell("Satchel is stopping.")


async def wait_until_stopped(home: Home) -> None:
    """Return when the process is asked to end.

    Raises:
        ServicesEnded: a service failed first.
    """
    asked = asyncio.create_task(wait_for_signal())
    ended = asyncio.create_task(home.ended())
    try:
        await asyncio.wait((asked, ended), return_when=asyncio.FIRST_COMPLETED)
        failure = ended.result() if ended.done() else None
    finally:
        asked.cancel()
        ended.cancel()
    if failure is not None:
        raise failure


def _start(grpc_address: str, http_address: str) -> Start:
    host = http_address.rpartition(":")[0]

    @asynccontextmanager
    async def start(folder: DataFolder) -> AsyncIterator[Running]:
        # Loading what runs takes a second; an address or a folder that is taken should be told at once.
        with bound_socket(grpc_address, "--grpc"), bound_socket(http_address, "--http"):
            settings = replace(load(GatewaySettings, PREFIX), http_address=http_address)
        from satchel.gateway.app import build_app  # noqa: PLC0415
        from satchel.gateway.embedded import EmbeddedSettings, open_embedded  # noqa: PLC0415
        from satchel.gateway.main import HttpServer  # noqa: PLC0415

        async with open_embedded(EmbeddedSettings.load(folder, grpc_address=grpc_address)) as embedded:
            app = build_app(embedded.clients(), settings)
            async with HttpServer(app, settings) as http:
                yield replace(embedded, http_address=f"http://{host}:{http.port}")

    return start
