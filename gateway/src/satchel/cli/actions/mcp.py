"""What the command mcp does: MCP over stdin and stdout, on the data folder that all agents share."""

import asyncio

from satchel.cli.connect import open_clients
from satchel.cli.logs import setup_server_logs
from satchel.cli.place import Place
from satchel.gateway.mcp.stdio import run_stdio
from satchel.gateway.settings import PREFIX, GatewaySettings
from satchel.runtime.settings import load
from satchel.runtime.telemetry import setup_telemetry


def mcp(place: Place) -> None:
    """Serve one MCP client until it closes stdin; stdout carries protocol frames only.

    The handshake does not wait for Satchel: the first call of a tool finds the owner of the data folder, or
    becomes it.
    """
    setup_server_logs()
    flush = setup_telemetry("satchel-mcp")
    try:
        asyncio.run(_mcp(place, load(GatewaySettings, PREFIX)))
    finally:
        flush()


async def _mcp(place: Place, settings: GatewaySettings) -> None:
    async with open_clients(place, role="mcp") as clients:
        await run_stdio(clients, settings)
