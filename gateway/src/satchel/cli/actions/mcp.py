"""What the command mcp does: MCP over stdin and stdout, on the data folder that all agents share."""

import asyncio

from satchel.cli.connect import open_clients
from satchel.cli.exits import CommandError, Exit
from satchel.cli.logs import setup_server_logs
from satchel.cli.place import Place
from satchel.gateway.mcp.stdio import run_stdio
from satchel.gateway.settings import MCP_PREFIX, McpSettings
from satchel.runtime.settings import load
from satchel.runtime.telemetry import setup_telemetry

_STDIO = "stdio"


def mcp(place: Place, *, transport: str = _STDIO, address: str = "") -> None:
    """Serve one MCP client until it closes stdin; stdout carries protocol frames only.

    The handshake does not wait for Satchel: the first call of a tool finds the owner of the data folder, or
    becomes it. Over HTTP it is `satchel server` with the same transport and address.

    Raises:
        CommandError: an address without HTTP, or HTTP for a Satchel elsewhere, which serves MCP itself.
        FolderBusy: over HTTP, another Satchel owns the data folder.
    """
    if transport != _STDIO:
        _serve_http(place, transport, address)
        return
    if address:
        raise CommandError("--mcp-addr goes with --transport sse or http.", Exit.USAGE)
    setup_server_logs(place.values)
    flush = setup_telemetry("satchel-mcp")
    try:
        asyncio.run(_mcp(place, load(McpSettings, MCP_PREFIX, place.values)))
    finally:
        flush()


def _serve_http(place: Place, transport: str, address: str) -> None:
    if place.url:
        raise CommandError(
            "--url goes with --transport stdio. For services elsewhere 'satchel serve gateway' serves MCP.",
            Exit.USAGE,
        )
    from satchel.cli.actions.server import server  # noqa: PLC0415  # a client's handshake does not wait for it

    server(place, texts={"--transport": transport, "--mcp-addr": address}, switches={})


async def _mcp(place: Place, settings: McpSettings) -> None:
    async with open_clients(place, role="mcp") as clients:
        await run_stdio(clients, settings)
