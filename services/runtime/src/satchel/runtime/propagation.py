"""Provides what travels in gRPC metadata beside a request: trace context and forwarded headers.

Trace context follows W3C Trace Context (https://www.w3.org/TR/trace-context/). A malformed carrier
means "no context", so that a bad header never costs a request.
"""

import re
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import TypeAlias

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, TraceState

Metadatum: TypeAlias = tuple[str, str | bytes]

TRACEPARENT = "traceparent"
TRACESTATE = "tracestate"
TRACE_DEMAND = "satchel-trace"
SPANS = "satchel-spans-bin"
AUTHORIZATION = "authorization"
# The project of requests that name none: printable ASCII, or any name in UTF-8.
PROJECT_NAME = "satchel-project"
PROJECT_IN_UTF8 = "satchel-project-bin"

_FORWARDED_PREFIX = "satchel-"
_NOT_FORWARDED = frozenset({TRACE_DEMAND, SPANS})
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")

_forwarded: ContextVar[tuple[Metadatum, ...]] = ContextVar("satchel_forwarded", default=())


def extract_context(metadata: Iterable[Metadatum]) -> Context | None:
    """Return an OpenTelemetry context whose current span is the remote caller's, or `None`."""
    parent = state = ""
    for key, value in metadata:
        if key == TRACEPARENT:
            parent = str(value)
        elif key == TRACESTATE:
            state = str(value)
    found = _TRACEPARENT.fullmatch(parent) if parent else None
    if found is None or found[1] == "ff" or (found[1] == "00" and found[5]):
        return None
    span = SpanContext(
        trace_id=int(found[2], 16),
        span_id=int(found[3], 16),
        is_remote=True,
        trace_flags=TraceFlags(int(found[4], 16) & TraceFlags.SAMPLED),
        trace_state=TraceState.from_header([state]) if state else None,
    )
    return trace.set_span_in_context(NonRecordingSpan(span)) if span.is_valid else None


def trace_headers(span: SpanContext) -> list[Metadatum]:
    """Return the metadata that names ``span`` as the parent of what the peer does; empty if invalid."""
    if not span.is_valid:
        return []
    headers: list[Metadatum] = [
        (TRACEPARENT, f"00-{span.trace_id:032x}-{span.span_id:016x}-{int(span.trace_flags):02x}")
    ]
    if span.trace_state:
        headers.append((TRACESTATE, span.trace_state.to_header()))
    return headers


def checked_metadata(metadata: Iterable[Metadatum]) -> list[Metadatum]:
    """Return the metadata as a list.

    Raises:
        ValueError: a key has capitals, or bytes under a key that does not end in ``-bin`` (or text under
            one that does). The network would refuse it with an obscure error, and nothing else would.
    """
    pairs = list(metadata)
    for key, value in pairs:
        if key != key.lower() or isinstance(value, bytes) != key.endswith("-bin"):
            raise ValueError(f"The metadata '{key}' is invalid: lower-case keys, bytes only under '*-bin'.")
    return pairs


def is_trace_demanded(metadata: Iterable[Metadatum]) -> bool:
    """Say whether the caller wants the spans of this call back."""
    return any(key == TRACE_DEMAND and value == "1" for key, value in metadata)


def forward_from(metadata: Iterable[Metadatum]) -> None:
    """Remember what outgoing calls of this task pass on: the caller's credentials and ``satchel-*``."""
    _forwarded.set(tuple(pair for pair in metadata if _is_forwarded(pair[0])))


def forwarded_headers(already: Sequence[Metadatum] = ()) -> list[Metadatum]:
    """Return what the current task passes on, less the keys in ``already``."""
    held = _forwarded.get()
    if not held or not already:
        return list(held)
    present = {key for key, _ in already}
    return [pair for pair in held if pair[0] not in present]


def _is_forwarded(key: str) -> bool:
    return key == AUTHORIZATION or (key.startswith(_FORWARDED_PREFIX) and key not in _NOT_FORWARDED)
