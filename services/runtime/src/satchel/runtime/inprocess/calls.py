"""Provides the client's view of an in-process call, as the call objects of grpc.aio show it."""

import asyncio
import logging
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Iterable
from typing import Any, cast
from weakref import WeakMethod

import grpc

from satchel.runtime.inprocess.exchange import Exchange, _EndOfStream, oversize

_log = logging.getLogger("satchel.inprocess")

_CANCELLED = "Locally cancelled by application!"


class InProcessCall(grpc.aio.Call):
    """What the calls of all four kinds share: status, metadata, cancellation.

    A call that is dropped before its end is cancelled.
    """

    def __init__(
        self,
        exchange: Exchange,
        encode: Callable[[Any], bytes],
        decode: Callable[[bytes], Any],
    ) -> None:
        self._exchange = exchange
        self._encode = encode
        self._decode = decode
        self._callbacks: list[Callable[[Any], None]] = []
        # Weak, so that a forgotten call is collected and cancelled while its server still runs.
        method = WeakMethod(self._run_callbacks)
        exchange.on_finish = lambda: _call_if_alive(method)

    def __del__(self) -> None:
        exchange = getattr(self, "_exchange", None)
        if exchange is not None and exchange.code is None and not exchange.loop.is_closed():
            # The collector may run on any thread.
            exchange.loop.call_soon_threadsafe(
                exchange.stop, grpc.StatusCode.CANCELLED, "Cancelled upon garbage collection!"
            )

    def cancelled(self) -> bool:
        """Say whether the call ended as CANCELLED."""
        return self._exchange.code is grpc.StatusCode.CANCELLED

    def done(self) -> bool:
        """Say whether the call has ended."""
        return self._exchange.code is not None

    def cancel(self) -> bool:
        """Cancel the call and what the server runs for it; false if it has ended."""
        if self._exchange.code is not None:
            return False
        self._exchange.locally_cancelled = True
        return self._exchange.stop(grpc.StatusCode.CANCELLED, _CANCELLED)

    def time_remaining(self) -> float | None:
        """Seconds until the deadline."""
        return self._exchange.time_remaining()

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Call ``callback(call)`` when the call ends, at once if it has."""
        if self._exchange.code is not None:
            callback(self)
        else:
            self._callbacks.append(callback)

    async def initial_metadata(self) -> grpc.aio.Metadata:
        """Wait for the server's first metadata."""
        await self._exchange.initial_sent.wait()
        return grpc.aio.Metadata(*(self._exchange.initial_metadata or ()))

    async def trailing_metadata(self) -> grpc.aio.Metadata:
        """Wait for the end and return the metadata that came with the status."""
        await self._exchange.finished.wait()
        return grpc.aio.Metadata(*self._exchange.trailing_metadata)

    async def code(self) -> grpc.StatusCode:
        """Wait for the end and return the status."""
        await self._exchange.finished.wait()
        return cast("grpc.StatusCode", self._exchange.code)

    async def details(self) -> str:
        """Wait for the end and return the text of the status."""
        await self._exchange.finished.wait()
        return self._exchange.details

    async def debug_error_string(self) -> str:
        """Return an empty text: there is no transport to tell of."""
        return ""

    async def wait_for_connection(self) -> None:
        """Return at once: the server is here."""

    def raise_for_status(self) -> None:
        """Raise what grpc.aio raises for a call that ended without success."""
        exchange = self._exchange
        if exchange.locally_cancelled:
            raise asyncio.CancelledError
        if exchange.code is not None and exchange.code is not grpc.StatusCode.OK:
            raise grpc.aio.AioRpcError(
                exchange.code,
                grpc.aio.Metadata(*(exchange.initial_metadata or ())),
                grpc.aio.Metadata(*exchange.trailing_metadata),
                exchange.details,
                "",
            )

    async def send(self, request: Any) -> None:  # noqa: ANN401
        """Send a request message; one that is larger than the network carries ends the call."""
        if (data := self.encoded(request)) is not None:
            await self._exchange.requests.put(data)

    def encoded(self, request: Any) -> bytes | None:  # noqa: ANN401
        """Return a request as bytes, or end the call and return `None` if those are too many."""
        data = self._encode(request)
        if (problem := oversize(data)) is None:
            return data
        self._exchange.stop(grpc.StatusCode.RESOURCE_EXHAUSTED, problem)
        return None

    async def receive(self) -> Any:  # noqa: ANN401
        """Wait for the next response message; `grpc.aio.EOF` after the last one of a success."""
        try:
            data = await self._exchange.responses.get()
        except asyncio.CancelledError:
            self.cancel()
            raise
        if not isinstance(data, _EndOfStream):
            return self._decode(data)
        self.raise_for_status()
        return grpc.aio.EOF

    def _run_callbacks(self) -> None:
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)


class UnaryResponse(InProcessCall):
    """A call that is awaited; awaiting it again gives the same response."""

    _response: Any = grpc.aio.EOF

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait for the response."""
        return self._wait().__await__()

    async def _wait(self) -> Any:  # noqa: ANN401
        if self._response is grpc.aio.EOF:
            # The response precedes the status; callbacks have run once the call is finished.
            response = await self.receive()
            await self._exchange.finished.wait()
            self.raise_for_status()
            self._response = response
        return self._response


class StreamResponse(InProcessCall):
    """A call whose responses are iterated or read."""

    _messages: AsyncIterator[Any] | None = None

    def __aiter__(self) -> AsyncIterator[Any]:
        """Iterate over the responses; an error is raised after the last."""
        if self._messages is None:
            self._messages = self._iterate()
        return self._messages

    async def read(self) -> Any:  # noqa: ANN401
        """Return the next response or `grpc.aio.EOF`."""
        return await self.receive()

    async def _iterate(self) -> AsyncIterator[Any]:
        while (response := await self.receive()) is not grpc.aio.EOF:
            yield response


class StreamRequest(InProcessCall):
    """A call whose requests come from an iterator or are written."""

    _poller: asyncio.Task[None] | None = None

    def consume(self, requests: AsyncIterable[Any] | Iterable[Any]) -> None:
        """Send everything from ``requests``, in a task in the caller's context."""
        self._poller = self._exchange.loop.create_task(self._consume(requests))
        self.add_done_callback(_stop_poller)

    async def write(self, request: Any) -> None:  # noqa: ANN401
        """Send one request; waits while the server is behind."""
        if self.done():
            self.raise_for_status()
            raise asyncio.InvalidStateError("RPC already finished.")
        await self.send(request)

    async def done_writing(self) -> None:
        """Tell the server that no request follows."""
        self._exchange.requests.close()

    async def _consume(self, requests: AsyncIterable[Any] | Iterable[Any]) -> None:
        try:
            if isinstance(requests, AsyncIterable):
                async for request in requests:
                    await self.send(request)
            else:
                for request in requests:
                    await self.send(request)
            self._exchange.requests.close()
        except Exception:  # noqa: BLE001  # it is the caller's code, and nobody awaits this task
            # As grpc.aio does: an iterator that fails cancels its call.
            _log.exception("inprocess.request_iterator_failed", extra={"rpc": self._exchange.method})
            self.cancel()


class UnaryUnaryCall(UnaryResponse):
    """One request, one response."""


class UnaryStreamCall(StreamResponse):
    """One request, many responses."""


class StreamUnaryCall(StreamRequest, UnaryResponse):
    """Many requests, one response."""


class StreamStreamCall(StreamRequest, StreamResponse):
    """Many requests, many responses."""


def _stop_poller(call: StreamRequest) -> None:
    if call._poller is not None:  # noqa: SLF001  # a method of the class in all but form
        call._poller.cancel()  # noqa: SLF001


def _call_if_alive(method: "WeakMethod[Callable[[], None]]") -> None:
    run = method()
    if run is not None:
        run()
