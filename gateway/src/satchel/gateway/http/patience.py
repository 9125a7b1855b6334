"""How long a client may take to send a body and to receive an answer: a slow one holds no place for ever."""

import asyncio
import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from satchel.gateway.errors import SlowBody

_log = logging.getLogger("satchel.gateway")


class _ClientTooSlowError(Exception):
    """The client does not take the answer."""


class Patience:
    """Gives a body ``read_s`` seconds to arrive, and each part of an answer ``write_s`` to be taken."""

    def __init__(self, app: ASGIApp, read_s: float, write_s: float) -> None:
        self._app = app
        self._read_s = read_s
        self._write_s = write_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whoever reads its body too late gets `SlowBody`."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(receive, self._read_s)

        async def send_in_time(message: Message) -> None:
            try:
                async with asyncio.timeout(self._write_s):
                    await send(message)
            except TimeoutError:
                raise _ClientTooSlowError from None

        try:
            await self._app(scope, body.receive, send_in_time)
        except _ClientTooSlowError:
            # The server closes the connection of an answer that is not complete.
            _log.warning("http.client_too_slow", extra={"method": scope["method"], "limit_s": self._write_s})


class _Body:
    """What a client sends, by the deadline of its body; what comes after the body has none."""

    def __init__(self, receive: Receive, limit_s: float) -> None:
        self._receive = receive
        self._limit_s = limit_s
        self._deadline_s = asyncio.get_running_loop().time() + limit_s
        self._is_complete = False

    async def receive(self) -> Message:
        """Return the next message.

        Raises:
            SlowBody: it belongs to the body, and did not come in time.
        """
        if self._is_complete:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline_s):
                message = await self._receive()
        except TimeoutError:
            raise SlowBody(self._limit_s) from None
        self._is_complete = message["type"] != "http.request" or not message.get("more_body", False)
        return message
