"""MCP over streamable HTTP, without sessions where it can be: then any replica answers any request.

In the revisions up to 2025-11-25 a question to the user needs a session, as the answer comes in a request of
its own. So a client that says at the beginning that it can ask its user gets a session of this process, where
the settings allow it. All others get none, and a client of a later revision never needs one.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from satchel.gateway.errors import VerbNotAllowed
from satchel.gateway.http.bodies import check_content, read_body
from satchel.gateway.http.routes import refuse
from satchel.gateway.mcp.frames import mend
from satchel.gateway.mcp.streams import OpenStreams, owned
from satchel.gateway.transcoder.json_text import loads
from satchel.runtime.errors import ServiceError

_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"


class McpEndpoint:
    """The ASGI application of one path. Hosts and origins are checked in front of it.

    Answers are JSON; a client that asks for progress gets a stream.
    """

    def __init__(
        self,
        server: Server[dict[str, Any]],
        *,
        max_body_bytes: int,
        sessions: bool = True,
    ) -> None:
        self._max_body_bytes = max_body_bytes
        self._has_sessions = sessions
        self._streams = OpenStreams()
        self._plain = StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=max_body_bytes
        )
        self._streaming = StreamableHTTPSessionManager(
            server, stateless=True, max_request_body_size=max_body_bytes
        )
        self._sessions = StreamableHTTPSessionManager(server, max_request_body_size=max_body_bytes)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run what answers requests; once in the life of an endpoint."""
        async with AsyncExitStack() as stack:
            for manager in (self._plain, self._streaming, self._sessions):
                await stack.enter_async_context(manager.run())
            yield

    def end_streams(self) -> None:
        """End the streams of sessions: the server stops."""
        self._streams.end()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        in_session = self._has_sessions and _SESSION in request.headers
        if request.method == "GET" and in_session:
            await self._streams.serve(self._sessions.handle_request, owned(scope), receive, send)
            return
        if request.method == "DELETE" and in_session:
            await self._sessions.handle_request(owned(scope), receive, send)
            return
        try:
            frame = await self._read(request, in_session=in_session)
        except ServiceError as error:
            await refuse(request, error)(scope, receive, send)
            return
        manager = self._sessions if in_session else self._manager(request, frame)
        framed = owned(with_length(scope, len(frame)))
        await manager.handle_request(framed, replay(frame, receive), send)

    async def _read(self, request: Request, *, in_session: bool) -> bytes:
        if request.method != "POST":
            raise VerbNotAllowed(request.method, ("GET", "POST", "DELETE") if in_session else ("POST",))
        check_content(request.headers)
        return mend(await read_body(request, self._max_body_bytes))

    def _manager(self, request: Request, frame: bytes) -> StreamableHTTPSessionManager:
        """Return who answers a frame outside of sessions."""
        version = request.headers.get(_VERSION, "")
        if version and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return self._streaming
        if self._has_sessions and _can_ask(frame):
            return self._sessions
        return self._streaming if b'"progressToken"' in frame else self._plain


def _can_ask(frame: bytes) -> bool:
    """Say whether a frame begins a session with a client that can ask its user."""
    if b'"elicitation"' not in frame or b'"initialize"' not in frame:
        return False
    try:
        match loads(frame):
            case {"method": "initialize", "params": {"capabilities": {"elicitation": dict()}}}:
                return True
    except ServiceError:
        pass  # the SDK says what is wrong with it
    return False


def with_length(scope: Scope, length: int) -> Scope:
    """Return a scope whose headers tell this length of the body."""
    headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
    return {**scope, "headers": [*headers, (b"content-length", str(length).encode())]}


def replay(frame: bytes, receive: Receive) -> Receive:
    """Return what gives the body once, and then whatever the connection has to tell."""
    waiting: list[Message] = [{"type": "http.request", "body": frame, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again
