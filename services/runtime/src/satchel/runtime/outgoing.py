"""Provides what every outgoing call carries, over any channel: deadline, trace context, credentials.

A channel in front of another one, not a set of grpc.aio interceptors: those cost several tasks a call
and need one class for each kind of RPC. A call that fails raises `satchel.runtime.status.CallFailed`.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import grpc
from opentelemetry import trace

from satchel.runtime import telemetry
from satchel.runtime.deadlines import outgoing_timeout
from satchel.runtime.methods import Method, parse_method
from satchel.runtime.propagation import (
    AUTHORIZATION,
    SPANS,
    TRACE_DEMAND,
    Metadatum,
    checked_metadata,
    forwarded_headers,
    trace_headers,
)
from satchel.runtime.settings import Secret
from satchel.runtime.status import CallFailed
from satchel.runtime.trace_records import decode_spans

T = TypeVar("T")

DEFAULT_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """What a channel adds to its calls.

    ``timeout_s`` is for unary calls without a timeout of their own; streams have none. ``api_key`` is sent
    when the call for which this one is made brought no credentials.
    """

    timeout_s: float = DEFAULT_TIMEOUT_S
    api_key: Secret | None = None


class OutgoingChannel(grpc.aio.Channel):
    """A channel whose calls keep the caller's deadline, trace and credentials."""

    def __init__(self, inner: grpc.aio.Channel, policy: CallPolicy | None = None) -> None:
        self._inner = inner
        self._policy = policy or CallPolicy()

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """See `grpc.aio.Channel`."""
        inner = self._inner.unary_unary(method, *args, **kwargs)
        return _Outgoing(inner, parse_method(method), self._policy, self._policy.timeout_s)

    def unary_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """See `grpc.aio.Channel`."""
        return _Outgoing(
            self._inner.unary_stream(method, *args, **kwargs), parse_method(method), self._policy, None
        )

    def stream_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """See `grpc.aio.Channel`."""
        return _Outgoing(
            self._inner.stream_unary(method, *args, **kwargs), parse_method(method), self._policy, None
        )

    def stream_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """See `grpc.aio.Channel`."""
        return _Outgoing(
            self._inner.stream_stream(method, *args, **kwargs), parse_method(method), self._policy, None
        )

    async def close(self, grace: float | None = None) -> None:
        """Close the channel; calls under way get ``grace`` seconds to end."""
        await self._inner.close(grace)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: FBT001, FBT002
        """See `grpc.aio.Channel`."""
        return self._inner.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """See `grpc.aio.Channel`."""
        await self._inner.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait until the peer can be reached."""
        await self._inner.channel_ready()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()


class _Outgoing:
    """Makes the calls of one method."""

    __slots__ = ("_default_s", "_inner", "_method", "_policy")

    def __init__(
        self, inner: Callable[..., Any], method: Method, policy: CallPolicy, default_s: float | None
    ) -> None:
        self._inner = inner
        self._method = method
        self._policy = policy
        self._default_s = default_s

    def __call__(
        self,
        request: Any = None,  # noqa: ANN401
        *,
        timeout: float | None = None,
        metadata: Sequence[Metadatum] | grpc.aio.Metadata | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Begin a call; the arguments and the result are those of the grpc.aio multi-callable."""
        headers = checked_metadata(metadata or ())
        headers += forwarded_headers(headers)
        self._add_credentials(headers)
        span = self._open_span()
        current = (span.otel if span else trace.get_current_span()).get_span_context()
        headers += trace_headers(current)
        if telemetry.is_collecting():
            headers.append((TRACE_DEMAND, "1"))
        call = self._inner(
            request, timeout=outgoing_timeout(timeout, self._default_s), metadata=tuple(headers), **kwargs
        )
        if span is not None:
            call.add_done_callback(_Finisher(span, telemetry.current_collector()))
        return _NamedCall(call, self._method)

    def _add_credentials(self, headers: list[Metadatum]) -> None:
        key = self._policy.api_key
        if key and all(name != AUTHORIZATION for name, _ in headers):
            headers.append((AUTHORIZATION, f"Bearer {key.reveal()}"))

    def _open_span(self) -> telemetry.OpenSpan | None:
        if not telemetry.is_active() or not self._method.is_observed:
            return None
        attributes = {
            telemetry.RPC_SYSTEM: "grpc",
            telemetry.RPC_SERVICE: self._method.service,
            telemetry.RPC_METHOD: self._method.name,
        }
        return telemetry.client_span(self._method.label, dict(attributes))


class _NamedCall:
    """A call of grpc.aio whose failure says which RPC it was, so that the error can name the peer."""

    __slots__ = ("_call", "_messages", "_method")

    def __init__(self, call: Any, method: Method) -> None:  # noqa: ANN401
        self._call = call
        self._method = method
        self._messages: AsyncIterator[Any] | None = None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._call, name)

    def __await__(self) -> Generator[Any, None, Any]:
        try:
            return (yield from self._call.__await__())
        except grpc.aio.AioRpcError as error:
            raise CallFailed(error, self._method) from None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:  # noqa: ANN401
        if self._messages is None:
            self._messages = aiter(self._call)
        return await self._named(anext(self._messages))

    async def read(self) -> Any:  # noqa: ANN401
        """See `grpc.aio.StreamStreamCall`."""
        return await self._named(self._call.read())

    async def write(self, request: Any) -> None:  # noqa: ANN401
        """See `grpc.aio.StreamStreamCall`."""
        await self._named(self._call.write(request))

    async def _named(self, step: Awaitable[Any]) -> Any:  # noqa: ANN401
        try:
            return await step
        except grpc.aio.AioRpcError as error:
            raise CallFailed(error, self._method) from None


class _Finisher:
    """Ends a client span when its call is done, and takes in the spans that the server returned."""

    __slots__ = ("_collector", "_span")

    def __init__(self, span: telemetry.OpenSpan, collector: telemetry.SpanCollector | None) -> None:
        self._span = span
        self._collector = collector

    def __call__(self, call: grpc.aio.Call) -> None:
        code = _result_of(call.code()) or grpc.StatusCode.UNKNOWN
        self._span.set(**{telemetry.RPC_GRPC_STATUS_CODE: int(code.value[0])})
        self._span.end("" if code is grpc.StatusCode.OK else code.name)
        if self._collector is None:
            return
        for key, value in _result_of(call.trailing_metadata()) or ():
            if key == SPANS and isinstance(value, bytes):
                self._collector.take_in(decode_spans(value))


def _result_of(coroutine: Coroutine[Any, Any, T]) -> T | None:
    """Return the result of a coroutine that has nothing to wait for: that of a call which is done."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return cast("T", stop.value)
    coroutine.close()
    return None
