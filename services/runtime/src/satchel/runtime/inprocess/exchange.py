"""Provides the state of one in-process call, shared by its two ends.

The server runs in a task of its own with an empty context, as if it were elsewhere: no context variable
of the client reaches it. Messages cross as bytes, so that the ends share no mutable object.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any, Final

import grpc

from satchel.runtime.propagation import Metadatum
from satchel.runtime.status import MAX_MESSAGE_BYTES

# Messages that a stream may hold before its writer waits; gRPC bounds bytes instead (its window).
STREAM_CAPACITY = 16


class _EndOfStream:
    """The type of `END`."""


END: Final = _EndOfStream()


def oversize(data: bytes) -> str | None:
    """Say what is wrong with a message that is larger than the network carries, in gRPC's words."""
    if len(data) <= MAX_MESSAGE_BYTES:
        return None
    return f"Sent message larger than max ({len(data)} vs. {MAX_MESSAGE_BYTES})"


class Pipe:
    """Messages in one direction, in order; a full pipe makes the writer wait."""

    __slots__ = ("_closed", "_items", "_waiters")

    def __init__(self) -> None:
        self._items: deque[bytes] = deque()
        self._closed = False
        self._waiters: list[asyncio.Future[None]] = []

    def put_now(self, item: bytes) -> None:
        """Add a message without waiting: the only one of a call that does not stream."""
        self._items.append(item)
        self._wake()

    async def put(self, item: bytes) -> bool:
        """Add a message; false if nobody will read it any more."""
        while len(self._items) >= STREAM_CAPACITY and not self._closed:
            await self._changed()
        if self._closed:
            return False
        self._items.append(item)
        self._wake()
        return True

    async def get(self) -> bytes | _EndOfStream:
        """Take the next message; `END` after the last."""
        while not self._items:
            if self._closed:
                return END
            await self._changed()
        item = self._items.popleft()
        self._wake()
        return item

    def close(self, *, drop: bool = False) -> None:
        """Add nothing more; with ``drop`` also forget what was not read."""
        self._closed = True
        if drop:
            self._items.clear()
        self._wake()

    async def _changed(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


class Exchange:
    """One call: what was sent each way, how it ended, and the task that serves it."""

    def __init__(self, method: str, metadata: tuple[Metadatum, ...], timeout: float | None) -> None:
        self.loop = asyncio.get_running_loop()
        self.method = method
        self.metadata = metadata
        self.deadline = None if timeout is None else self.loop.time() + timeout
        self.requests = Pipe()
        self.responses = Pipe()
        self.initial_metadata: tuple[Metadatum, ...] | None = None
        self.initial_sent = asyncio.Event()
        self.finished = asyncio.Event()
        self.code: grpc.StatusCode | None = None
        self.details = ""
        self.trailing_metadata: tuple[Metadatum, ...] = ()
        self.locally_cancelled = False
        self.on_finish: Callable[[], None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self, serve: Callable[["Exchange"], Any]) -> None:
        """Begin to serve the call, with a task of its own and a timer for the deadline."""
        if self.deadline is not None:
            if self.deadline <= self.loop.time():
                self._expire()
                return
            self._timer = self.loop.call_at(self.deadline, self._expire)
        # The exchange is the owner: it cancels the task when the call ends before it.
        self._task = self.loop.create_task(serve(self), context=Context())

    def time_remaining(self) -> float | None:
        """Seconds until the deadline, at least 0; `None` without one."""
        return None if self.deadline is None else max(0.0, self.deadline - self.loop.time())

    def send_initial_metadata(self, metadata: tuple[Metadatum, ...]) -> None:
        """Give the client the metadata that comes before any response; only the first time counts."""
        if self.initial_metadata is None:
            self.initial_metadata = metadata
            self.initial_sent.set()

    def finish(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: tuple[Metadatum, ...] = ()
    ) -> bool:
        """End the call for the client; false if it had ended before."""
        if self.code is not None:
            return False
        self.code, self.details, self.trailing_metadata = code, details, trailing_metadata
        self.send_initial_metadata(())
        self.requests.close(drop=True)
        self.responses.close()
        if self._timer is not None:
            self._timer.cancel()
        self.finished.set()
        if self.on_finish is not None:
            self.on_finish()
        return True

    def stop(self, code: grpc.StatusCode, details: str) -> bool:
        """End the call before the server is done, and cancel what it runs."""
        if not self.finish(code, details):
            return False
        self.responses.close(drop=True)
        if self._task is not None:
            self._task.cancel()
        return True

    def _expire(self) -> None:
        self.stop(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded")
