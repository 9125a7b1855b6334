"""Provides the server span of each call, and the spans that a caller asked to have back.

Outermost in the chain, so that it sees the status which the errors interceptor sends.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast
from urllib.parse import quote

import grpc
from opentelemetry import context as otel_context

from satchel.runtime import telemetry
from satchel.runtime.interceptors.middleware import Behaviour, Context, Middleware, outcome
from satchel.runtime.methods import Method
from satchel.runtime.propagation import SPANS, Metadatum, extract_context, is_trace_demanded
from satchel.runtime.trace_records import MAX_ENCODED_BYTES, AttributeValue, encode_spans

# What clients take by default (Java, C++), as HTTP/2 counts it (RFC 9113, section 6.5.2): 32 bytes an entry
# beside its name and value. Held back: the status itself, and what a proxy may add.
_MAX_METADATA_BYTES: Final = 8192
_ENTRY_BYTES: Final = 32
_HELD_BACK_BYTES: Final = 512


class TelemetryInterceptor(Middleware):
    """Continues the caller's trace; returns its spans in ``satchel-spans-bin`` when asked to."""

    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401
        """Run the call as a span, child of the caller's."""
        metadata = cast("Sequence[Metadatum]", context.invocation_metadata() or ())
        parent = extract_context(metadata)
        token = otel_context.attach(parent) if parent is not None else None
        try:
            if is_trace_demanded(metadata):
                collector = telemetry.start_collecting()
                return await _handle_demanded(inner, method, request, context, collector)
            if telemetry.is_active():
                return await _handle_traced(inner, method, request, context)
            return await inner(request, context)
        finally:
            if token is not None:
                otel_context.detach(token)


async def _handle_traced(inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401
    with telemetry.server_span(method.label, _attributes(method)) as span:
        try:
            response = await inner(request, context)
        except BaseException as error:
            _finish(span, outcome(error, context))
            raise
        _finish(span, outcome(None, context))
        return response


async def _handle_demanded(
    inner: Behaviour,
    method: Method,
    request: Any,  # noqa: ANN401
    context: Context,
    collector: telemetry.SpanCollector,
) -> Any:  # noqa: ANN401
    with telemetry.server_span(method.label, _attributes(method)) as span:
        returning = _SpanReturningContext(context, span, collector)
        try:
            response = await inner(request, cast("Context", returning))
        except BaseException as error:
            _finish(span, outcome(error, context))
            raise
        _finish(span, outcome(None, context))
        context.set_trailing_metadata(returning.trailing((), context.details() or ""))
        return response


class _SpanReturningContext:
    """A servicer context whose `abort` also sends the spans: nothing can be sent after it."""

    def __init__(
        self, context: Context, span: telemetry.OpenSpan, collector: telemetry.SpanCollector
    ) -> None:
        self._context = context
        self._span = span
        self._collector = collector

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._context, name)

    async def abort(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: Sequence[Metadatum] = ()
    ) -> None:
        """End the call with a status; see `grpc.aio.ServicerContext.abort`."""
        _finish(self._span, code)
        await self._context.abort(code, details, self.trailing(trailing_metadata, details))

    def trailing(self, added: Sequence[Metadatum], details: str) -> tuple[Metadatum, ...]:
        """Return ``added`` (or else what is set already) with the spans, as many as fit beside it."""
        base = tuple(added) or tuple(self._context.trailing_metadata() or ())
        room = _room_for_spans(base, details)
        return (*base, (SPANS, encode_spans(self._collector.spans, self._span.trace_id, room)))


def _room_for_spans(others: Iterable[Metadatum], details: str) -> int:
    """Return how many bytes the spans may have beside the other trailing metadata and the status' text."""
    used = _HELD_BACK_BYTES + len(quote(details, safe=" "))
    used += sum(_ENTRY_BYTES + len(key) + _length_on_wire(value) for key, value in others)
    # Bytes travel in base64: four characters for three of them.
    return min(MAX_ENCODED_BYTES, (_MAX_METADATA_BYTES - used) // 4 * 3)


def _length_on_wire(value: str | bytes) -> int:
    return -(-len(value) // 3) * 4 if isinstance(value, bytes) else len(value)


def _attributes(method: Method) -> dict[str, AttributeValue]:
    return {
        telemetry.RPC_SYSTEM: "grpc",
        telemetry.RPC_SERVICE: method.service,
        telemetry.RPC_METHOD: method.name,
    }


def _finish(span: telemetry.OpenSpan, code: grpc.StatusCode) -> None:
    span.set(**{telemetry.RPC_GRPC_STATUS_CODE: int(code.value[0])})
    span.end("" if code is grpc.StatusCode.OK else code.name)
