"""Provides the channel to an `InProcessServer`, for generated stubs.

It leans on what generated code asks of a channel (``unary_unary(path, serializer, deserializer)`` and its
three siblings); a contract test pins that, and grpcio's version with it.
"""

from collections.abc import AsyncIterable, Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Self, cast

import grpc

from satchel.runtime.inprocess.calls import (
    InProcessCall,
    StreamRequest,
    StreamStreamCall,
    StreamUnaryCall,
    UnaryStreamCall,
    UnaryUnaryCall,
)
from satchel.runtime.inprocess.exchange import Exchange
from satchel.runtime.inprocess.server import InProcessServer
from satchel.runtime.outgoing import CallPolicy, OutgoingChannel
from satchel.runtime.propagation import Metadatum


class InProcessChannel(OutgoingChannel):
    """A channel to a server in this process, whose calls carry what `open_channel`'s calls carry."""

    def __init__(self, server: InProcessServer, policy: CallPolicy | None = None) -> None:
        super().__init__(InProcessTransport(server), policy)


class InProcessTransport(grpc.aio.Channel):
    """The bare transport: it adds nothing to a call."""

    def __init__(self, server: InProcessServer) -> None:
        self._server = server

    def unary_unary(
        self,
        method: str,
        request_serializer: Any = None,  # noqa: ANN401
        response_deserializer: Any = None,  # noqa: ANN401
        _registered_method: bool = False,  # noqa: FBT001, FBT002  # generated code passes it
    ) -> Any:  # noqa: ANN401
        """See `grpc.aio.Channel`."""
        return _Callable(self._server, method, request_serializer, response_deserializer, UnaryUnaryCall)

    def unary_stream(
        self,
        method: str,
        request_serializer: Any = None,  # noqa: ANN401
        response_deserializer: Any = None,  # noqa: ANN401
        _registered_method: bool = False,  # noqa: FBT001, FBT002
    ) -> Any:  # noqa: ANN401
        """See `grpc.aio.Channel`."""
        return _Callable(self._server, method, request_serializer, response_deserializer, UnaryStreamCall)

    def stream_unary(
        self,
        method: str,
        request_serializer: Any = None,  # noqa: ANN401
        response_deserializer: Any = None,  # noqa: ANN401
        _registered_method: bool = False,  # noqa: FBT001, FBT002
    ) -> Any:  # noqa: ANN401
        """See `grpc.aio.Channel`."""
        return _Callable(self._server, method, request_serializer, response_deserializer, StreamUnaryCall)

    def stream_stream(
        self,
        method: str,
        request_serializer: Any = None,  # noqa: ANN401
        response_deserializer: Any = None,  # noqa: ANN401
        _registered_method: bool = False,  # noqa: FBT001, FBT002
    ) -> Any:  # noqa: ANN401
        """See `grpc.aio.Channel`."""
        return _Callable(self._server, method, request_serializer, response_deserializer, StreamStreamCall)

    async def close(self, grace: float | None = None) -> None:
        """Do nothing: the server is stopped by its owner."""

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: ARG002, FBT001, FBT002
        """Return READY, always."""
        return grpc.ChannelConnectivity.READY

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Return: there is nothing to wait for."""

    async def channel_ready(self) -> None:
        """Return: the server is here."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None


class _Callable:
    """Begins the calls of one method."""

    __slots__ = ("_decode", "_encode", "_make", "_method", "_server")

    def __init__(
        self,
        server: InProcessServer,
        method: str,
        encode: Callable[[Any], bytes] | None,
        decode: Callable[[bytes], Any] | None,
        make: type[InProcessCall],
    ) -> None:
        self._server = server
        self._method = method
        self._encode = encode or _same
        self._decode = decode or _same
        self._make = make

    def __call__(
        self,
        request: Any = None,  # noqa: ANN401
        *,
        timeout: float | None = None,
        metadata: Sequence[Metadatum] | grpc.aio.Metadata | None = None,
        credentials: grpc.CallCredentials | None = None,
        wait_for_ready: bool | None = None,
        compression: grpc.Compression | None = None,
    ) -> Any:  # noqa: ANN401
        """Begin a call; what only makes sense on a wire is ignored."""
        del credentials, wait_for_ready, compression
        exchange = Exchange(self._method, tuple(metadata or ()), timeout)
        call = self._make(exchange, self._encode, self._decode)
        if not isinstance(call, StreamRequest):
            data = call.encoded(request)
            if data is None:
                return call
            exchange.requests.put_now(data)
        elif request is not None:
            call.consume(cast("AsyncIterable[Any] | Iterable[Any]", request))
        exchange.start(self._server.serve)
        return call


def _same(value: Any) -> Any:  # noqa: ANN401
    return value
