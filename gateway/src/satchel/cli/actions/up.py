"""What the command up does: one process with everything, on one data folder."""

import asyncio
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version

from satchel.cli.actions.serving import Everything, Listener, joined
from satchel.cli.connect import local_key
from satchel.cli.logs import setup_server_logs
from satchel.cli.output import tell
from satchel.cli.place import Place
from satchel.cli.settings import PREFIX, CommandSettings
from satchel.gateway.home import Home
from satchel.gateway.settings import ProcessSettings
from satchel.runtime.channels import open_channel
from satchel.runtime.server import note_signals
from satchel.runtime.settings import load
from satchel.runtime.telemetry import setup_telemetry


def up(place: Place, *, grpc_address: str, http_address: str) -> None:
    """Run until SIGINT or SIGTERM, then drain and return; an empty address is the one that is configured.

    Raises:
        CommandError: an address is taken, or can be reached from other machines without a key.
        FolderBusy: another Satchel owns the data folder.
        ServicesEnded: a service failed, and all were stopped.
    """
    values = place.with_options(
        {
            "SATCHEL_GRPC": ("--grpc", grpc_address),
            "SATCHEL_GATEWAY_HTTP_ADDRESS": ("--http", http_address),
        }
    )
    settings = ProcessSettings.load(values)
    gateway, metrics = settings.gateway, settings.metrics
    listeners = [Listener("--http", gateway.http_address, rest=gateway.rest, mcp=True, metrics=True)]
    if metrics.enabled and metrics.prometheus_addr:
        listeners.append(Listener("metrics.prometheus_addr", metrics.prometheus_addr, metrics=True))
    grpc = load(CommandSettings, PREFIX, values).grpc
    run(place, Everything(settings, values, joined(listeners), grpc), role="up")


def run(place: Place, everything: Everything, *, role: str) -> None:
    """Own the data folder and serve until SIGINT or SIGTERM."""
    setup_server_logs(place.values)
    flush = setup_telemetry("satchel")
    try:
        asyncio.run(_run(place, everything, role))
    finally:
        flush()


def home_of(place: Place, everything: Everything, *, role: str) -> Home:
    """Return this process's place at the data folder, with everything in it."""
    return Home(
        place.data_dir,
        start=everything.start,
        connect=partial(open_channel, api_key=local_key(place)),
        role=role,
        version=version("satchel"),
    )


async def _run(place: Place, everything: Everything, role: str) -> None:
    home = home_of(place, everything, role=role)
    async with home:
        owner = (await home.own()).owner
        asked = note_signals()
        tell(f"Satchel {version('satchel')} is ready. Data folder: {home.folder.path}")
        for line in _lines(everything.served, owner.grpc):
            tell(f"  {line}")
        if place.configuration.file or place.configuration.passed_over:
            tell(f"  Configuration: {place.configuration.described}")
        await wait_until_stopped(home, asked)
        tell("Satchel is stopping.")


def _lines(served: Sequence[tuple[Listener, str]], grpc: str) -> list[str]:
    """Return what is served where, for a person."""
    lines = []
    for listener, url in served:
        if listener.rest:
            lines.append(f"REST     {url}/api/v1   (documentation: {url}/docs)")
        if listener.mcp:
            lines.append(f"MCP      {url}/mcp   (server-sent events: {url}/sse)")
        if listener.metrics and not (listener.rest or listener.mcp):
            lines.append(f"Metrics  {url}/metrics")
    return [*lines, f"gRPC     {grpc}"]


async def wait_until_stopped(home: Home, asked: asyncio.Event) -> None:
    """Return when the process is asked to end, as `note_signals` tells.

    Raises:
        ServicesEnded: a service failed first.
    """
    stopping = asyncio.create_task(asked.wait())
    ended = asyncio.create_task(home.ended())
    try:
        await asyncio.wait((stopping, ended), return_when=asyncio.FIRST_COMPLETED)
        failure = ended.result() if ended.done() else None
    finally:
        stopping.cancel()
        ended.cancel()
    if failure is not None:
        raise failure
