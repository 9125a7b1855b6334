"""MCP over stdin and stdout, for clients that start their server themselves.

While it runs, the SDK keeps stdout for protocol frames and sends everything else that is printed to
stderr; logs belong there anyway (`satchel.runtime.logs`).
"""

import io
import sys
from collections.abc import AsyncIterator
from typing import Any, Self

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from satchel.gateway.caller import Caller
from satchel.gateway.clients import Clients
from satchel.gateway.mcp.frames import mend
from satchel.gateway.mcp.server import build_server
from satchel.gateway.metrics import GatewayMetrics
from satchel.gateway.settings import McpSettings
from satchel.gateway.transcoder.descriptors import load_contract


async def run_stdio(clients: Clients, settings: McpSettings | None = None) -> None:
    """Serve one client until it closes stdin."""
    settings = settings or McpSettings()
    caller = Caller(load_contract(), clients, GatewayMetrics(), timeout_s=settings.timeout_seconds)
    server = build_server(caller, clients, settings)
    async with stdio_server(stdin=_MendedInput(io.TextIOWrapper(sys.stdin.buffer, "utf-8", "replace"))) as (
        read_stream,
        write_stream,
    ):
        frames = AnsweredFrames(read_stream, write_stream)
        await server.run(frames, write_stream, server.create_initialization_options())


class _MendedInput(anyio.AsyncFile[str]):
    """Standard input, line by line, with frames that the SDK can read."""

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield lines that are not blank until the client closes its end."""
        async for line in super().__aiter__():
            if not line.isspace():
                yield mend(line.encode("utf-8", "replace")).decode()


class AnsweredFrames:
    """What a client sends, as the server reads it; what is no frame is answered here, as JSON-RPC asks.

    The SDK reports such lines to its server, which drops them, so that their sender waits for ever.
    """

    def __init__(self, frames: Any, answers: Any) -> None:  # noqa: ANN401  # the SDK's stream types are private
        self._frames = frames
        self._answers = answers

    @property
    def last_context(self) -> Any:  # noqa: ANN401
        """The context in which the last frame was sent."""
        return self._frames.last_context

    async def receive(self) -> SessionMessage | Exception:
        """Return the next frame."""
        while isinstance(item := await self._frames.receive(), Exception):
            await self._answers.send(SessionMessage(_refusal(item)))
        return item  # type: ignore[no-any-return]  # as above

    async def aclose(self) -> None:
        """Take no more frames."""
        await self._frames.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        """Return the next frame, until there are no more."""
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _refusal(error: Exception) -> JSONRPCError:
    """Return the answer to a line that is no JSON, or JSON that is no message of JSON-RPC."""
    kinds = {fault["type"] for fault in error.errors()} if isinstance(error, ValidationError) else set()
    data = (
        ErrorData(code=PARSE_ERROR, message="The line is not JSON: send one JSON-RPC message a line.")
        if "json_invalid" in kinds
        else ErrorData(code=INVALID_REQUEST, message="The line is not a message of JSON-RPC 2.0.")
    )
    return JSONRPCError(jsonrpc="2.0", id=None, error=data)
