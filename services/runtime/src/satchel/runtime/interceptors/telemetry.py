"""Provides the server span of each call, and the spans that a caller asked to have back.

Outermost in the chain, so that it sees the status which the errors interceptor sends.
"""

from collections.abc import Sequence
from typing import Any, cast

import grpc
from opentelemetry import context as otel_context

from satchel.runtime import telemetry
from satchel.runtime.interceptors.middleware import Behaviour, Context, Middleware, outcome
from satchel.runtime.methods import Method
from satchel.runtime.propagation import SPANS, Metadatum, extract_context, is_trace_demanded
from satchel.runtime.trace_records import AttributeValue, encode_spans


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
        context.set_trailing_metadata(returning.trailing(()))
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
        await self._context.abort(code, details, self.trailing(trailing_metadata))

    def trailing(self, added: Sequence[Metadatum]) -> tuple[Metadatum, ...]:
        """Return ``added`` (or else what is set already) with the spans."""
        base = tuple(added) or tuple(self._context.trailing_metadata() or ())
        return (*base, (SPANS, encode_spans(self._collector.spans)))


def _attributes(method: Method) -> dict[str, AttributeValue]:
    return {
        telemetry.RPC_SYSTEM: "grpc",
        telemetry.RPC_SERVICE: method.service,
        telemetry.RPC_METHOD: method.name,
    }


def _finish(span: telemetry.OpenSpan, code: grpc.StatusCode) -> None:
    span.set(**{telemetry.RPC_GRPC_STATUS_CODE: int(code.value[0])})
    span.end("" if code is grpc.StatusCode.OK else code.name)
