import contextvars
import os
import subprocess
import sys
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from opentelemetry import trace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from satchel.api.types.v1 import trace_pb2
from satchel.runtime import telemetry
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.propagation import extract_context, trace_headers
from satchel.runtime.telemetry import collect_trace, setup_telemetry, span
from satchel.runtime.trace_records import AttributeValue, SpanRecord, Spans, decode_spans, encode_spans
from satchel.runtime.trace_tree import format_tree

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
CALL: dict[str, AttributeValue] = {
    "rpc.system": "grpc",
    "rpc.service": "s",
    "rpc.method": "m",
    "rpc.grpc.status_code": 0,
}


def record(name: str, span_id: str, parent_id: str = "", start: int = 0, ms: float = 1.0) -> SpanRecord:
    return SpanRecord(name, span_id, parent_id, "store", start, round(ms * 1e6))


def numbered(number: int, ms: float = 1.0) -> SpanRecord:
    return record(f"step {number}", f"{number:016x}", ms=ms)


def test_span_is_the_same_nothing_while_nobody_looks() -> None:
    with span("a") as first, span("b", size=1) as second:
        first.set(size=2)

    assert first is second
    assert not telemetry.is_active()


def test_collected_spans_nest_and_keep_their_attributes() -> None:
    with collect_trace() as collected, span("outer", **{"db.system": "sqlite"}) as outer:
        outer.set(rows=2)
        with span("inner", size=1):
            pass

    inner, outer_record = collected.spans
    assert ("inner", outer_record.span_id) == (inner.name, inner.parent_id)
    assert (
        outer_record.parent_id,
        outer_record.attributes,
    ) == ("", {"db.system": "sqlite", "satchel.rows": 2})
    assert 0 <= inner.duration_ns <= outer_record.duration_ns


def test_failed_block_marks_its_span_with_the_type_and_not_the_text() -> None:
    with pytest.raises(LookupError), collect_trace() as collected, span("work"):
        raise LookupError("secret")

    assert collected.spans[0].failure == "LookupError"
    assert "secret" not in repr(collected.spans)


async def test_span_in_a_worker_thread_is_a_child_of_the_request() -> None:
    def work() -> None:
        with span("work"):
            pass

    async with BoundedExecutor(1, 1, "test") as pool:
        with collect_trace() as collected, span("request"):
            await pool.run(work)

    assert collected.spans[0].parent_id == collected.spans[1].span_id


def test_collector_belongs_to_one_context() -> None:
    with collect_trace() as collected:
        contextvars.Context().run(lambda: span("elsewhere").__enter__())

    assert collected.spans == ()


def test_exporter_gets_spans_until_telemetry_is_shut_down() -> None:
    exporter = InMemorySpanExporter()
    shutdown = setup_telemetry("store", exporter=exporter)
    with span("seen"):
        pass
    shutdown()
    with span("unseen"):
        pass

    assert [one.name for one in exporter.get_finished_spans()] == ["seen"]
    assert exporter.get_finished_spans()[0].resource.attributes["service.name"] == "store"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "False"),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, "False"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "True"),
        ({"OTEL_TRACES_EXPORTER": "console", "OTEL_SDK_DISABLED": "true"}, "False"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, "True"),
    ],
)
def test_environment_decides_about_export(variables: dict[str, str], expected: str) -> None:
    code = (
        "from satchel.runtime import telemetry as t; t.setup_telemetry('x');"
        "import sys; print(t.is_active(), 'opentelemetry.sdk' in sys.modules)"
    )
    clean = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}

    done = subprocess.run(  # our own code
        [sys.executable, "-c", code], env=clean | variables, capture_output=True, text=True, check=True
    )

    assert f"{expected} {expected}" == done.stdout.strip()


def test_trace_context_survives_metadata() -> None:
    with collect_trace(), span("work"):
        sent = trace.get_current_span().get_span_context()
        headers = trace_headers(sent)

    context = extract_context(headers)
    assert context is not None
    received = trace.get_current_span(context).get_span_context()
    assert (sent.trace_id, sent.span_id, True) == (received.trace_id, received.span_id, received.is_remote)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "junk",
        f"00-{'0' * 32}-{'1' * 16}-01",
        f"00-{'1' * 32}-{'0' * 16}-01",
        f"ff-{'1' * 32}-{'1' * 16}-01",
        f"00-{'A' * 32}-{'1' * 16}-01",
        f"00-{'1' * 32}-{'1' * 16}-01-more",
    ],
)
def test_malformed_trace_header_is_no_context(header: str) -> None:
    assert extract_context([("traceparent", header)]) is None


def test_spans_survive_their_message() -> None:
    values: dict[str, AttributeValue] = {
        "x": 1,
        "y": "é",
        "z": -2.5,
        "yes": True,
        "no": False,
        "none": 0,
        "empty": "",
    }
    spans = [
        SpanRecord(
            "a", "1" * 16, "", "store", 1_790_000_000_123_456_789, 7_000_000_007, "", values, "client"
        ),
        SpanRecord("b", "2" * 16, "1" * 16, "index", 5_000, 3_001, "INTERNAL", {}, "server"),
        SpanRecord("c", "3" * 16, "2" * 16, "index", 5_000, 0, "LookupError"),
    ]

    decoded = decode_spans(encode_spans(spans, TRACE_ID))

    assert (tuple(spans), 0) == (decoded, decoded.dropped)
    assert [type(value) for value in decoded[0].attributes.values()] == [
        type(values[name]) for name in decoded[0].attributes
    ]


def test_message_of_spans_is_what_the_contract_says() -> None:
    span = SpanRecord(
        "a", "01" * 8, "02" * 8, "store", 1_500_000_000, 2_000_000, "INTERNAL", {"x": 1}, "server"
    )

    message = trace_pb2.TraceSpans.FromString(encode_spans([span], TRACE_ID))

    assert message.trace_id.hex() == TRACE_ID
    (one,) = message.spans
    assert (one.span_id, one.parent_span_id) == (b"\x01" * 8, b"\x02" * 8)
    assert (one.name, one.service, one.failure) == ("a", "store", "INTERNAL")
    assert (one.started_at.ToNanoseconds(), one.duration.ToNanoseconds()) == (1_500_000_000, 2_000_000)
    assert (one.kind, one.attributes["x"].int_value) == (trace_pb2.SPAN_KIND_SERVER, 1)


def test_attributes_that_repeat_what_a_call_says_do_not_travel() -> None:
    span = SpanRecord("s/m", "1" * 16, "", "store", 0, 1, "", {**CALL, "satchel.n": 1}, "client")

    assert decode_spans(encode_spans([span], TRACE_ID))[0].attributes == {"satchel.n": 1}


def test_shortest_spans_are_dropped_when_room_is_short() -> None:
    spans = [numbered(n, ms=n) for n in range(1, 500)]

    encoded = encode_spans(spans, TRACE_ID, max_bytes=2000)
    kept = decode_spans(encoded)

    assert len(encoded) <= 2000
    assert len(kept) > 20
    assert {f"step {n}" for n in range(500 - len(kept), 500)} == {one.name for one in kept}
    assert kept.dropped == 499 - len(kept)


def test_spans_that_a_peer_dropped_are_still_told_further_on() -> None:
    with collect_trace() as collected:
        pass
    collected.take_in(Spans([numbered(1), numbered(2, ms=2)], dropped=3))

    whole = encode_spans(collected.spans, TRACE_ID)
    less = encode_spans(collected.spans, TRACE_ID, max_bytes=len(whole) - 1)
    none = encode_spans(collected.spans, TRACE_ID, max_bytes=0)

    assert [decode_spans(data).dropped for data in (whole, less, none)] == [3, 4, 5]
    assert len(none) < 30


def test_any_number_of_missing_spans_can_be_told() -> None:
    assert decode_spans(encode_spans(Spans([], dropped=2**40), TRACE_ID)).dropped == 2**31 - 1


def test_spans_beyond_what_a_request_may_collect_are_counted() -> None:
    with collect_trace() as collected:
        pass
    for number in range(2003):
        collected.add(record("a", f"{number:x}"))
    collected.add(record("a", "1"))

    assert (len(collected.spans), collected.spans.dropped) == (2000, 3)


def malformed(**fields: Any) -> bytes:  # noqa: ANN401  # fields of a message
    """Return a message with a good span and another one."""
    good = trace_pb2.TraceSpan(span_id=b"1" * 8, kind=trace_pb2.SPAN_KIND_CLIENT)
    values: dict[str, Any] = {"span_id": b"2" * 8, "kind": trace_pb2.SPAN_KIND_CLIENT, **fields}
    return trace_pb2.TraceSpans(
        spans=[good, trace_pb2.TraceSpan(**values)], dropped_count=1
    ).SerializeToString()


JUNK = {
    "nothing": b"",
    "text": b"junk",
    "cut off": encode_spans([record("a", "1" * 16)], TRACE_ID)[:-3],
    "compressed": b"x\x9c\x03\x00\x00\x00\x00\x01",
    "no id": malformed(span_id=b""),
    "long id": malformed(span_id=b"1" * 9),
    "short parent": malformed(parent_span_id=b"1"),
    "no kind": malformed(kind=0),
    "unknown kind": malformed(kind=77),
    "no time": malformed(started_at=Timestamp(seconds=2**60)),
    "negative duration": malformed(duration=Duration(seconds=-1)),
    "endless duration": malformed(duration=Duration(seconds=2**62)),
    "attribute without a value": malformed(attributes={"a": trace_pb2.AttributeValue()}),
}


@pytest.mark.parametrize("data", JUNK.values(), ids=JUNK)
def test_junk_gives_no_spans(data: bytes) -> None:
    spans = decode_spans(data)

    assert (spans, spans.dropped) == ((), 0)


def test_only_what_is_wrong_makes_it_junk() -> None:
    assert len(decode_spans(malformed())) == 2


def test_tree_indents_children_in_order_of_their_start() -> None:
    spans = [
        record("late", "c", "a", start=9),
        record("early", "b", "a", start=1),
        record("root", "a", ms=12.3456),
        record("leaf", "d", "b", start=2),
    ]

    lines = format_tree(spans).splitlines()

    assert [line[:40].rstrip() for line in lines] == ["root", "  early", "    leaf", "  late"]
    assert lines[0].endswith("12.35 ms  store")


@pytest.mark.parametrize(("dropped", "said"), [(1, "1 shorter span left"), (12, "12 shorter spans left")])
def test_tree_says_how_many_spans_are_missing(dropped: int, said: str) -> None:
    lines = format_tree(Spans([record("root", "a")], dropped)).splitlines()

    assert len(lines) == 2
    assert lines[1] == f"... {said} out for want of room"


def test_tree_shows_orphans_failures_and_attributes() -> None:
    orphan = SpanRecord(
        "x", "a", "gone", "s", 0, 0, "INTERNAL", {"rpc.method": "m", "satchel.n": 1}, "client"
    )

    line = format_tree([orphan])

    assert line.startswith("-> x ")
    assert line.endswith("s  ! INTERNAL  n=1")
    assert format_tree([]) == ""
