"""Provides the servicer's view of an in-process call: the part of `grpc.aio.ServicerContext` in use."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Never, cast

import grpc

from satchel.runtime.inprocess.exchange import Exchange, _EndOfStream, oversize
from satchel.runtime.propagation import Metadatum

PEER = "inprocess:"


class InProcessContext(grpc.aio.ServicerContext[Any, Any]):
    """Answers like the context of a networked server, for one call."""

    def __init__(self, exchange: Exchange, handler: "grpc.RpcMethodHandler[Any, Any]") -> None:
        self._exchange = exchange
        self._decode = handler.request_deserializer or _same
        self._encode = handler.response_serializer or _same
        self._code: grpc.StatusCode | None = None
        self._details = ""
        self._trailing: tuple[Metadatum, ...] = ()
        self.abortion: grpc.aio.AbortError | None = None
        self.callbacks: list[Callable[[], None]] = []

    async def read(self) -> Any:  # noqa: ANN401
        """Return the next request of the stream, or `grpc.aio.EOF`."""
        self._raise_if_over()
        data = await self._exchange.requests.get()
        self._raise_if_over()
        return grpc.aio.EOF if isinstance(data, _EndOfStream) else self._decode(data)

    async def write(self, message: Any) -> None:  # noqa: ANN401
        """Send one response of the stream; waits while the client is behind."""
        self._raise_if_over()
        data = self._encode(message)
        if (problem := oversize(data)) is not None:
            await self.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, problem)
        self._exchange.send_initial_metadata(())
        if not await self._exchange.responses.put(data):
            self._raise_if_over()

    async def abort(self, code: grpc.StatusCode, details: str = "", trailing_metadata: Any = ()) -> Never:  # noqa: ANN401
        """End the call with a status, at once, and raise `grpc.aio.AbortError`."""
        if self.abortion is not None:
            raise grpc.aio.UsageError("Abort already called!")
        self.abortion = grpc.aio.AbortError("Locally aborted.")
        self._code = code
        self._details = details or self._details
        self._trailing = tuple(trailing_metadata) or self._trailing
        self._exchange.finish(code, self._details, self._trailing)
        raise self.abortion

    async def abort_with_status(self, status: grpc.Status) -> Never:
        """End the call with a status."""
        await self.abort(status.code, status.details or "", status.trailing_metadata or ())

    async def send_initial_metadata(self, initial_metadata: Any) -> None:  # noqa: ANN401
        """Send metadata before the first response."""
        self._raise_if_over()
        if self._exchange.initial_metadata is not None:
            raise grpc.aio.UsageError("Send initial metadata failed: already sent")
        self._exchange.send_initial_metadata(tuple(initial_metadata))

    def set_trailing_metadata(self, trailing_metadata: Any) -> None:  # noqa: ANN401
        """Set the metadata that goes with the status."""
        self._trailing = tuple(trailing_metadata)

    def trailing_metadata(self) -> Any:  # noqa: ANN401
        """Return what was set."""
        return self._trailing

    def invocation_metadata(self) -> Any:  # noqa: ANN401
        """Return the client's metadata as pairs."""
        return self._exchange.metadata

    def set_code(self, code: grpc.StatusCode) -> None:
        """Set the status that the call ends with when its handler returns."""
        self._code = code

    def code(self) -> Any:  # noqa: ANN401
        """Return the status that was set, or `None`."""
        return self._code

    def set_details(self, details: str) -> None:
        """Set the text that goes with the status."""
        self._details = details

    def details(self) -> str:
        """Return the text that was set."""
        return self._details

    def peer(self) -> str:
        """Name the client."""
        return PEER

    def time_remaining(self) -> Any:  # noqa: ANN401
        """Seconds until the client's deadline; `None` without one."""
        return self._exchange.time_remaining()

    def cancelled(self) -> bool:
        """Say whether the client gave up."""
        return self._exchange.code is grpc.StatusCode.CANCELLED

    def done(self) -> bool:
        """Say whether the call has ended."""
        return self._exchange.code is not None

    def add_done_callback(self, callback: Any) -> None:  # noqa: ANN401
        """Call ``callback(context)`` when the server is done with the call."""
        self.callbacks.append(partial(callback, self))

    def set_compression(self, compression: grpc.Compression) -> None:
        """Do nothing: there is no wire."""

    def disable_next_message_compression(self) -> None:
        """Do nothing: there is no wire."""

    def peer_identities(self) -> Iterable[bytes] | None:
        """Return `None`: there is no certificate."""
        return None

    def peer_identity_key(self) -> str | None:
        """Return `None`: there is no certificate."""
        return None

    def auth_context(self) -> Mapping[str, Iterable[bytes]]:
        """Return nothing: there is no certificate."""
        return {}

    def _raise_if_over(self) -> None:
        if self.abortion is not None:
            raise self.abortion
        if self._exchange.code is not None:
            raise grpc.aio.UsageError("RPC already finished.")


def _same(value: Any) -> Any:  # noqa: ANN401
    return cast("object", value)
