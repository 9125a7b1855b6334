"""MCP over stdin and stdout, for clients that start their server themselves.

While it runs, the SDK keeps stdout for protocol frames and sends everything else that is printed to
stderr; logs belong there anyway (`satchel.runtime.logs`).
"""

import io
import sys
from collections.abc import AsyncIterator

import anyio
from mcp.server.stdio import stdio_server

from satchel.gateway.caller import Caller
from satchel.gateway.clients import Clients
from satchel.gateway.mcp.frames import mend
from satchel.gateway.mcp.server import build_server
from satchel.gateway.metrics import GatewayMetrics
from satchel.gateway.settings import GatewaySettings
from satchel.gateway.transcoder.descriptors import load_contract


async def run_stdio(clients: Clients, settings: GatewaySettings | None = None) -> None:
    """Serve one client until it closes stdin."""
    timeout_s = (settings or GatewaySettings()).timeout_s
    caller = Caller(load_contract(), clients, GatewayMetrics(), timeout_s=timeout_s)
    server = build_server(caller, clients)
    async with stdio_server(stdin=_MendedInput(io.TextIOWrapper(sys.stdin.buffer, "utf-8", "replace"))) as (
        read_stream,
        write_stream,
    ):
        await server.run(read_stream, write_stream, server.create_initialization_options())


class _MendedInput(anyio.AsyncFile[str]):
    """Standard input, line by line, with frames that the SDK can read."""

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield lines until the client closes its end."""
        async for line in super().__aiter__():
            yield mend(line.encode("utf-8", "replace")).decode()
