"""Provides finished spans as plain data, and their compact form in gRPC metadata.

The form is a zlib-compressed JSON array: how many spans were left out, and then one array a span,
``[name, span id, parent id, service, start, duration, failure, attributes, kind]``, times in microseconds.
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeAlias

AttributeValue: TypeAlias = str | bool | int | float

# Well under what our channels accept as metadata; a trace that is larger loses its shortest spans.
MAX_ENCODED_BYTES = 6144
_MAX_DECODED_BYTES = 1 << 20


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


def encode_spans(spans: Sequence[SpanRecord], max_bytes: int = MAX_ENCODED_BYTES) -> bytes:
    """Encode spans into at most ``max_bytes``; what does not fit is dropped, shortest spans first.

    The number of those is told, with what the given `Spans` lack already.
    """
    lacking = spans.dropped if isinstance(spans, Spans) else 0
    kept = sorted(spans, key=lambda span: -span.duration_ns)
    encoded = _compress(kept, lacking)
    while kept and len(encoded) > max_bytes:
        # The size is close to linear in the number of spans: aim just below the limit.
        kept = kept[: min(len(kept) - 1, len(kept) * max_bytes // len(encoded))]
        encoded = _compress(kept, lacking + len(spans) - len(kept))
    return encoded


def decode_spans(data: bytes) -> Spans:
    """Decode what `encode_spans` made; anything else gives no spans, as a trace is never worth an error."""
    try:
        dropped, *rows = json.loads(zlib.decompressobj().decompress(data, _MAX_DECODED_BYTES))
        return Spans((_from_row(row) for row in rows), int(dropped))
    except (zlib.error, ValueError, TypeError, KeyError):
        return Spans()


def _compress(spans: Sequence[SpanRecord], dropped: int) -> bytes:
    rows = [dropped, *(_to_row(span) for span in spans)]
    return zlib.compress(json.dumps(rows, separators=(",", ":"), ensure_ascii=False).encode(), 6)


def _to_row(span: SpanRecord) -> list[object]:
    return [
        span.name,
        span.span_id,
        span.parent_id,
        span.service,
        span.start_ns // 1000,
        span.duration_ns // 1000,
        span.failure,
        dict(span.attributes),
        span.kind,
    ]


def _from_row(row: Sequence[object]) -> SpanRecord:
    name, span_id, parent_id, service, start_us, duration_us, failure, attributes, kind = row
    if not isinstance(start_us, int) or not isinstance(duration_us, int) or not isinstance(attributes, dict):
        raise TypeError
    return SpanRecord(
        name=str(name),
        span_id=str(span_id),
        parent_id=str(parent_id),
        service=str(service),
        start_ns=start_us * 1000,
        duration_ns=duration_us * 1000,
        failure=str(failure),
        attributes=attributes,
        kind=str(kind),
    )
