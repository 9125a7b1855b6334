"""MCP over HTTP with server-sent events: the transport of the protocol of 2024-11-05, which MIRA speaks.

A client opens ``/sse`` and is told where to post its frames; the answers come in the stream that it opened.
"""

from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from satchel.gateway.errors import VerbNotAllowed
from satchel.gateway.http.bodies import check_content, read_body
from satchel.gateway.http.routes import refuse
from satchel.gateway.mcp.endpoint import replay, with_length
from satchel.gateway.mcp.frames import mend
from satchel.gateway.mcp.stdio import AnsweredFrames
from satchel.gateway.mcp.streams import OpenStreams, owned
from satchel.runtime.errors import ServiceError

STREAM_PATH: Final = "/sse"
MESSAGE_PATH: Final = "/messages/"


class SseEndpoint:
    """Two ASGI applications: the stream of a session, and where its client posts."""

    def __init__(self, server: Server[dict[str, Any]], *, max_body_bytes: int) -> None:
        self._server = server
        self._max_body_bytes = max_body_bytes
        self._transport = SseServerTransport(MESSAGE_PATH, max_request_body_size=max_body_bytes)
        self._streams = OpenStreams()

    def end_streams(self) -> None:
        """End all sessions: the server stops."""
        self._streams.end()

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one session until its client goes."""
        request = Request(scope, receive)
        if request.method != "GET":
            await refuse(request, VerbNotAllowed(request.method, ("GET",)))(scope, receive, send)
            return
        await self._streams.serve(self._session, owned(scope), receive, send)

    async def messages(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take one frame of a session."""
        request = Request(scope, receive)
        try:
            if request.method != "POST":
                raise VerbNotAllowed(request.method, ("POST",))
            check_content(request.headers)
            frame = mend(await read_body(request, self._max_body_bytes))
        except ServiceError as error:
            await refuse(request, error)(scope, receive, send)
            return
        framed = owned(with_length(scope, len(frame)))
        await self._transport.handle_post_message(framed, replay(frame, receive), send)

    async def _session(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._transport.connect_sse(scope, receive, send) as (frames, answers):
            await self._server.run(
                AnsweredFrames(frames, answers), answers, self._server.create_initialization_options()
            )
