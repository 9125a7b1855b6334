"""Streams that stay open: who may use the session behind one, and their end when the server stops."""

import hashlib

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send


def owned(scope: Scope) -> Scope:
    """Return a scope that tells the SDK whose request it is, by the digest of its credentials.

    The SDK lets only requests of one owner use a session. Whether credentials are good was checked before.
    """
    credentials = Headers(scope=scope).get("authorization", "")
    if not credentials:
        return scope
    digest = hashlib.sha256(credentials.encode()).hexdigest()
    return {**scope, "user": AuthenticatedUser(AccessToken(token=digest, client_id=digest, scopes=[]))}


class OpenStreams:
    """The streams of one application. A stream is served as long as its client wants it, or until `end`."""

    def __init__(self) -> None:
        self._ending = anyio.Event()

    def end(self) -> None:
        """End all streams, also those that begin later: the server stops."""
        self._ending.set()

    async def serve(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Run an application whose answer is a stream without an end of its own."""
        answer = _Answer(send)

        async def receive_or_end() -> Message:
            return await self._until_end(receive)

        await app(scope, receive_or_end, answer.send)
        await answer.complete()

    async def _until_end(self, receive: Receive) -> Message:
        """Return the next message of the client, or that there is none any more when all streams end."""
        found: Message = {"type": "http.disconnect"}
        async with anyio.create_task_group() as group:

            async def wait_for_end() -> None:
                await self._ending.wait()
                group.cancel_scope.cancel()

            group.start_soon(wait_for_end)
            found = await receive()
            group.cancel_scope.cancel()
        return found


class _Answer:
    """An answer, and whether it has begun and was completed."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = False
        self._is_complete = False

    async def send(self, message: Message) -> None:
        self._has_begun = True
        self._is_complete = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def complete(self) -> None:
        """Send the end of an answer that was left open, so that the server takes it as one."""
        if self._has_begun and not self._is_complete:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})
