"""What comes beside a request, whatever its door: the trace it belongs to, credentials, project.

An exchange always has a trace id, so that an error can be found in the logs: that of the caller's
``traceparent``, else a new one. With ``satchel-trace: 1`` the spans of the exchange are collected and
returned to the caller.
"""

import asyncio
import base64
import secrets
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from satchel.runtime import telemetry
from satchel.runtime.propagation import (
    AUTHORIZATION,
    PROJECT_IN_UTF8,
    PROJECT_NAME,
    TRACE_DEMAND,
    Metadatum,
    extract_context,
    forward_from,
    is_trace_demanded,
)
from satchel.runtime.trace_records import AttributeValue, encode_spans

T = TypeVar("T")

PROJECT_HEADER: Final = "x-satchel-project"
TRACE_ID_HEADER: Final = "satchel-trace-id"
# The `TraceSpans` message of the exchange, in base64.
SPANS_HEADER: Final = "satchel-spans"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer."""

    trace_id: str
    span: telemetry.OpenSpan | None
    collector: telemetry.SpanCollector | None

    def finish(self, *, failure: str = "", **attributes: AttributeValue) -> None:
        """End the span of the exchange with its outcome, before the spans are returned."""
        if self.span is not None:
            self.span.set(**attributes)
            self.span.end(failure)

    def spans(self) -> str:
        """Return the collected spans as text; empty when nobody asked for them."""
        if self.collector is None:
            return ""
        return base64.b64encode(encode_spans(self.collector.spans, self.trace_id)).decode("ascii")


@contextmanager
def open_exchange(
    name: str, carrier: Mapping[str, str], attributes: dict[str, AttributeValue]
) -> Iterator[Exchange]:
    """Run a request under its trace and credentials; ``carrier`` has lower-case names."""
    metadata = [(key, carrier[key]) for key in _CARRIED if _is_metadata(carrier.get(key, ""))]
    credentials = [pair for pair in metadata if pair[0] == AUTHORIZATION]
    forward_from([*credentials, *_named_project(carrier.get(PROJECT_HEADER, ""))])
    with ExitStack() as stack:
        collector = stack.enter_context(telemetry.collect_trace()) if is_trace_demanded(metadata) else None
        token = otel_context.attach(extract_context(metadata) or _ambient() or _new_trace())
        stack.callback(otel_context.detach, token)
        span = stack.enter_context(telemetry.server_span(name, attributes)) if telemetry.is_active() else None
        yield Exchange(
            trace_id=telemetry.current_trace_id(),
            span=span,
            collector=collector,
        )


async def on_own_behalf(work: Coroutine[Any, Any, T]) -> T:
    """Make calls in an exchange that carry neither the credentials nor the project of its caller."""

    async def run() -> T:
        forward_from(())
        return await work

    return await asyncio.create_task(run())


_CARRIED = ("traceparent", "tracestate", AUTHORIZATION, TRACE_DEMAND)


def _is_metadata(text: str) -> bool:
    """Say whether gRPC can carry a value: printable ASCII."""
    return bool(text) and text.isascii() and text.isprintable()


def _named_project(text: str) -> list[Metadatum]:
    """Return what tells the services which project is meant where a request names none."""
    if _is_metadata(text):
        return [(PROJECT_NAME, text)]
    return [(PROJECT_IN_UTF8, _utf8(text).encode(errors="replace"))] if text else []


def _utf8(text: str) -> str:
    """Return what a header says whose bytes are UTF-8; HTTP servers read them as Latin-1."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _ambient() -> Context | None:
    return otel_context.get_current() if trace.get_current_span().get_span_context().is_valid else None


def _new_trace() -> Context:
    """Return a context without a parent: empty for the span that follows, else with ids of its own."""
    if telemetry.is_active():
        return Context()
    made = SpanContext(
        trace_id=secrets.randbits(128) or 1,
        span_id=secrets.randbits(64) or 1,
        is_remote=False,
        trace_flags=TraceFlags(TraceFlags.DEFAULT),
    )
    return trace.set_span_in_context(NonRecordingSpan(made))
