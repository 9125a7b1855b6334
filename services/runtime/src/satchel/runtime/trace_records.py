"""Provides finished spans as plain data, and their form in gRPC metadata: a `TraceSpans` message."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self, TypeAlias

from google.protobuf.message import DecodeError

from satchel.api.types.v1 import trace_pb2

AttributeValue: TypeAlias = str | bool | int | float

# In base64, as metadata carries it, three quarters of the 8 KiB that clients accept by default.
MAX_ENCODED_BYTES: Final = 4608

_SPAN_ID_BYTES = 8
_MAX_COUNT = 2**31 - 1
_MAX_DURATION_NS = 2**63 - 1
# What they say of a call is in the name, the kind and the failure of its span.
_IMPLIED = frozenset({"rpc.system", "rpc.service", "rpc.method", "rpc.grpc.status_code"})
_KINDS = {
    "": trace_pb2.SPAN_KIND_INTERNAL,
    "client": trace_pb2.SPAN_KIND_CLIENT,
    "server": trace_pb2.SPAN_KIND_SERVER,
}
_KIND_NAMES = {value: name for name, value in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """A finished span.

    Ids are lower-case hexadecimal (16 digits); ``parent_id`` is empty for a root. ``start_ns`` is Unix time.
    ``failure`` is empty after success, else a status code or a type name. ``kind`` is "client" or
    "server" for the two ends of a call, else empty.
    """

    name: str
    span_id: str
    parent_id: str
    service: str
    start_ns: int
    duration_ns: int
    failure: str = ""
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    kind: str = ""


class Spans(tuple[SpanRecord, ...]):  # noqa: SLOT001  # a tuple has no slots beside its items
    """Spans of one trace, in any order; ``dropped`` more were there and did not fit."""

    dropped: int

    def __new__(cls, spans: Iterable[SpanRecord] = (), dropped: int = 0) -> Self:
        """Take the spans, and the number of those that are missing."""
        made = super().__new__(cls, spans)
        made.dropped = dropped
        return made


def encode_spans(spans: Sequence[SpanRecord], trace_id: str, max_bytes: int = MAX_ENCODED_BYTES) -> bytes:
    """Encode the spans of a trace into ``max_bytes``; what does not fit is dropped, shortest spans first.

    The number of those is told, with what the given `Spans` lack already; the id of the trace (32 digits)
    and that number are there at any size. Attributes that only repeat what a call's span says are left out.
    """
    all_of_them = len(spans) + (spans.dropped if isinstance(spans, Spans) else 0)
    message = trace_pb2.TraceSpans(
        trace_id=bytes.fromhex(trace_id), dropped_count=min(all_of_them, _MAX_COUNT)
    )
    for span in sorted(spans, key=lambda span: -span.duration_ns):
        message.spans.append(_to_message(span))
        if message.ByteSize() > max_bytes:
            del message.spans[-1]
            break
    message.dropped_count = min(all_of_them - len(message.spans), _MAX_COUNT)
    return message.SerializeToString()


def decode_spans(data: bytes) -> Spans:
    """Decode what `encode_spans` made; anything else gives no spans, as a trace is never worth an error."""
    try:
        message = trace_pb2.TraceSpans.FromString(data)
        return Spans(map(_from_message, message.spans), max(0, message.dropped_count))
    except (DecodeError, ValueError, KeyError):
        return Spans()


def _to_message(span: SpanRecord) -> trace_pb2.TraceSpan:
    message = trace_pb2.TraceSpan(
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_id),
        name=span.name,
        service=span.service,
        kind=_KINDS[span.kind],
        failure=span.failure,
    )
    message.started_at.FromNanoseconds(span.start_ns)
    message.duration.FromNanoseconds(span.duration_ns)
    for name, value in span.attributes.items():
        if name not in _IMPLIED:
            _set_value(message.attributes[name], value)
    return message


def _set_value(message: trace_pb2.AttributeValue, value: AttributeValue) -> None:
    match value:
        case bool():
            message.bool_value = value
        case int():
            message.int_value = value
        case float():
            message.double_value = value
        case str():
            message.string_value = value


def _from_message(span: trace_pb2.TraceSpan) -> SpanRecord:
    if len(span.span_id) != _SPAN_ID_BYTES or len(span.parent_span_id) not in (0, _SPAN_ID_BYTES):
        raise ValueError
    duration_ns = span.duration.ToNanoseconds()
    if not 0 <= duration_ns <= _MAX_DURATION_NS:
        raise ValueError
    return SpanRecord(
        name=span.name,
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        service=span.service,
        start_ns=span.started_at.ToNanoseconds(),
        duration_ns=duration_ns,
        failure=span.failure,
        attributes={name: _value(value) for name, value in span.attributes.items()},
        kind=_KIND_NAMES[span.kind],
    )


def _value(message: trace_pb2.AttributeValue) -> AttributeValue:
    kind = message.WhichOneof("kind")
    if kind is None:
        raise ValueError
    value: AttributeValue = getattr(message, kind)
    return value
