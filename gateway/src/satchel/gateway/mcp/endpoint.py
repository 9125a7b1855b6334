"""MCP over streamable HTTP, without sessions: any replica answers any request."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from satchel.gateway.errors import VerbNotAllowed
from satchel.gateway.http.bodies import check_content, read_body
from satchel.gateway.http.routes import refuse
from satchel.gateway.mcp.frames import mend
from satchel.runtime.errors import ServiceError


class McpEndpoint:
    """The ASGI application of one path. Hosts and origins are checked in front of it.

    The server never speaks first, so that there is no stream to open with GET and no session to end with
    DELETE; the transport's specification provides for answering both with 405.
    """

    def __init__(self, server: Server[dict[str, Any]], *, max_body_bytes: int) -> None:
        self._max_body_bytes = max_body_bytes
        self._manager = StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=max_body_bytes
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run what answers requests; once in the life of an endpoint."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            frame = await self._read(request)
        except ServiceError as error:
            await refuse(request, error)(scope, receive, send)
            return
        await self._manager.handle_request(_with_length(scope, len(frame)), _replay(frame, receive), send)

    async def _read(self, request: Request) -> bytes:
        if request.method != "POST":
            raise VerbNotAllowed(request.method, ("POST",))
        check_content(request.headers)
        return mend(await read_body(request, self._max_body_bytes))


def _with_length(scope: Scope, length: int) -> Scope:
    headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
    return {**scope, "headers": [*headers, (b"content-length", str(length).encode())]}


def _replay(frame: bytes, receive: Receive) -> Receive:
    """Return what gives the body once, and then whatever the connection has to tell."""
    waiting: list[Message] = [{"type": "http.request", "body": frame, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again
