"""Provides spans: cheap when nobody looks, exported when OTEL_* variables ask, returned on demand.

`span` costs well under a microsecond while tracing is off. It is on for the whole process after
`setup_telemetry` found an exporter, and for one request while that request's trace is collected
(`collect_trace`, or the metadata ``satchel-trace: 1`` of an incoming call), exporter or not.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Self

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from satchel.runtime.trace_records import AttributeValue, SpanRecord, Spans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

# Attribute names. Upstream conventions win; those of our own begin with "satchel.".
RPC_SYSTEM = "rpc.system"
RPC_SERVICE = "rpc.service"
RPC_METHOD = "rpc.method"
RPC_GRPC_STATUS_CODE = "rpc.grpc.status_code"
ERROR_TYPE = "error.type"
PREFIX = "satchel."

_MAX_COLLECTED = 2000
_KINDS = {SpanKind.CLIENT: "client", SpanKind.SERVER: "server"}


class SpanCollector:
    """Finished spans of one request, in the order they ended; a span is kept once.

    Bounded: beyond 2,000 spans new ones are dropped, and counted.
    """

    __slots__ = ("_dropped", "_records")

    def __init__(self) -> None:
        self._records: dict[str, SpanRecord] = {}
        self._dropped = 0

    def add(self, record: SpanRecord) -> None:
        """Keep a span unless it is there already or the collector is full."""
        if len(self._records) < _MAX_COLLECTED:
            self._records.setdefault(record.span_id, record)
        elif record.span_id not in self._records:
            self._dropped += 1

    def take_in(self, spans: Spans) -> None:
        """Keep the spans that a peer returned, and count those that it had to leave out."""
        for record in spans:
            self.add(record)
        self._dropped += spans.dropped

    @property
    def spans(self) -> Spans:
        """All spans so far, and how many are missing."""
        return Spans(self._records.values(), self._dropped)


class _Tracing:
    """What this process does with spans; replaced as a whole by `setup_telemetry`."""

    tracer: trace.Tracer | None = None
    service: str = "satchel"


_tracing = _Tracing()
_collector: ContextVar[SpanCollector | None] = ContextVar("satchel_span_collector", default=None)


def is_active() -> bool:
    """Say whether a span opened now would be seen by anybody."""
    return _tracing.tracer is not None or _collector.get() is not None


def is_collecting() -> bool:
    """Say whether the trace of the current request is collected on demand."""
    return _collector.get() is not None


def current_collector() -> SpanCollector | None:
    """Return the collector of the current request, if its trace is collected."""
    return _collector.get()


@contextmanager
def collect_trace() -> Iterator[SpanCollector]:
    """Collect every span of what runs inside, local ones and those that peers return.

    Outgoing calls made inside ask their servers for spans (``satchel-trace: 1``).
    """
    collector = SpanCollector()
    token = _collector.set(collector)
    try:
        yield collector
    finally:
        _collector.reset(token)


class OpenSpan:
    """A span that has begun and is not the current one; `end` finishes it, once."""

    __slots__ = (
        "_attributes",
        "_began_ns",
        "_collector",
        "_kind",
        "_name",
        "_otel",
        "_parent_id",
        "_start_ns",
    )

    def __init__(self, name: str, kind: SpanKind, attributes: dict[str, AttributeValue]) -> None:
        parent = trace.get_current_span().get_span_context()
        self._name = name
        self._kind = _KINDS.get(kind, "")
        self._attributes = attributes
        self._collector = _collector.get()
        self._parent_id = f"{parent.span_id:016x}" if parent.is_valid else ""
        self._start_ns = time.time_ns()
        self._began_ns: int | None = time.perf_counter_ns()
        self._otel = _start_otel_span(name, kind, attributes, parent, self._start_ns)

    @property
    def otel(self) -> trace.Span:
        """The span as OpenTelemetry knows it."""
        return self._otel

    @property
    def trace_id(self) -> str:
        """Id of the trace that the span belongs to, as 32 hexadecimal digits."""
        return f"{self._otel.get_span_context().trace_id:032x}"

    def set(self, **attributes: AttributeValue) -> None:
        """Add attributes; a name without a dot gets the prefix ``satchel.``."""
        for name, value in _prefixed(attributes).items():
            self._attributes[name] = value
            self._otel.set_attribute(name, value)

    def end(self, failure: str = "") -> None:
        """Finish the span; ``failure`` is a short code or type name, never a text of the user."""
        if self._began_ns is None:
            return
        duration_ns = time.perf_counter_ns() - self._began_ns
        self._began_ns = None
        if failure:
            self._otel.set_status(Status(StatusCode.ERROR, failure))
        self._otel.end(self._start_ns + duration_ns)
        if self._collector is not None:
            self._collector.add(self._record(duration_ns, failure))

    def _record(self, duration_ns: int, failure: str) -> SpanRecord:
        return SpanRecord(
            name=self._name,
            span_id=f"{self._otel.get_span_context().span_id:016x}",
            parent_id=self._parent_id,
            service=_tracing.service,
            start_ns=self._start_ns,
            duration_ns=duration_ns,
            failure=failure,
            attributes=dict(self._attributes),
            kind=self._kind,
        )


class _CurrentSpan:
    """Makes a span the current one for the length of a ``with`` block."""

    __slots__ = ("_attributes", "_kind", "_name", "_span", "_token")

    def __init__(self, name: str, kind: SpanKind, attributes: dict[str, AttributeValue]) -> None:
        self._name = name
        self._kind = kind
        self._attributes = attributes

    def __enter__(self) -> OpenSpan:
        self._span = OpenSpan(self._name, self._kind, self._attributes)
        self._token = otel_context.attach(trace.set_span_in_context(self._span.otel))
        return self._span

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        otel_context.detach(self._token)
        if kind is not None:
            self._span.set(**{ERROR_TYPE: kind.__name__})
        self._span.end("" if kind is None else kind.__name__)


class _NoSpan:
    """Stands in for a span while nobody looks."""

    __slots__ = ()

    def set(self, **attributes: AttributeValue) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        return None


_NO_SPAN = _NoSpan()


def span(name: str, **attributes: AttributeValue) -> _CurrentSpan | _NoSpan:
    """Open a span around a ``with`` block; a name without a dot in ``attributes`` gets ``satchel.``.

    The block gets an object with `set(**attributes)`. An exception that leaves the block marks the span
    as failed with the exception's type; its text is not recorded.
    """
    if _tracing.tracer is None and _collector.get() is None:
        return _NO_SPAN
    return _CurrentSpan(name, SpanKind.INTERNAL, _prefixed(attributes))


def server_span(name: str, attributes: dict[str, AttributeValue]) -> _CurrentSpan:
    """Open the span of an incoming call; ask `is_active` first."""
    return _CurrentSpan(name, SpanKind.SERVER, attributes)


def client_span(name: str, attributes: dict[str, AttributeValue]) -> OpenSpan:
    """Begin the span of an outgoing call, which ends when the call does; ask `is_active` first."""
    return OpenSpan(name, SpanKind.CLIENT, attributes)


def start_collecting() -> SpanCollector:
    """Collect the spans of the current task from here on (for the server side of a call)."""
    collector = SpanCollector()
    _collector.set(collector)
    return collector


def current_trace_id() -> str:
    """Return the id of the current trace as 32 hexadecimal digits, or an empty text."""
    found = trace.get_current_span().get_span_context()
    return f"{found.trace_id:032x}" if found.is_valid else ""


def current_span_id() -> str:
    """Return the id of the current span as 16 hexadecimal digits, or an empty text."""
    found = trace.get_current_span().get_span_context()
    return f"{found.span_id:016x}" if found.is_valid else ""


def setup_telemetry(service_name: str, *, exporter: "SpanExporter | None" = None) -> Callable[[], None]:
    """Name this process in traces and export spans if OTEL_* variables ask for it.

    Exports when ``OTEL_TRACES_EXPORTER`` names an exporter (``otlp`` or ``console``) or
    ``OTEL_EXPORTER_OTLP_ENDPOINT`` is set; OpenTelemetry's other variables keep their meaning.
    Otherwise nothing is exported and spans cost next to nothing. A given ``exporter`` gets every span
    as it ends (for tests). Returns a function that flushes and switches tracing off.
    """
    previous = (_tracing.tracer, _tracing.service)
    _tracing.service = service_name
    provider = None
    if exporter is not None or _is_export_wanted(os.environ):
        # The SDK is slow to import and rarely wanted.
        from satchel.runtime.exporters import make_provider  # noqa: PLC0415

        provider = make_provider(service_name, exporter, os.environ)
        _tracing.tracer = provider.get_tracer("satchel")

    def shutdown() -> None:
        _tracing.tracer, _tracing.service = previous
        if provider is not None:
            provider.shutdown()

    return shutdown


def _is_export_wanted(environ: Mapping[str, str]) -> bool:
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    named = environ.get("OTEL_TRACES_EXPORTER", "")
    endpoint = environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    return named != "none" and bool(named or endpoint)


def _start_otel_span(
    name: str, kind: SpanKind, attributes: dict[str, AttributeValue], parent: SpanContext, start_ns: int
) -> trace.Span:
    if _tracing.tracer is not None:
        return _tracing.tracer.start_span(name, kind=kind, attributes=attributes, start_time=start_ns)
    # Nobody exports: an id that children and peers can name as their parent is all that is needed.
    return trace.NonRecordingSpan(
        SpanContext(
            trace_id=parent.trace_id if parent.is_valid else secrets.randbits(128) or 1,
            span_id=secrets.randbits(64) or 1,
            is_remote=False,
            trace_flags=TraceFlags(TraceFlags.SAMPLED),
            trace_state=parent.trace_state,
        )
    )


def _prefixed(attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
    return {name if "." in name else PREFIX + name: value for name, value in attributes.items()}
