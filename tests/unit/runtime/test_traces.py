import contextvars
import os
import subprocess
import sys

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from satchel.runtime import telemetry
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.propagation import extract_context, trace_headers
from satchel.runtime.telemetry import collect_trace, setup_telemetry, span
from satchel.runtime.trace_records import SpanRecord, Spans, decode_spans, encode_spans
from satchel.runtime.trace_tree import format_tree


def record(name: str, span_id: str, parent_id: str = "", start: int = 0, ms: float = 1.0) -> SpanRecord:
    return SpanRecord(name, span_id, parent_id, "store", start, round(ms * 1e6))


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


def test_spans_survive_their_compact_form() -> None:
    spans = [
        SpanRecord("a", "1" * 16, "", "store", 5_000, 7_000, "", {"x": 1, "y": "é"}, "client"),
        SpanRecord("b", "2" * 16, "1" * 16, "index", 5_000, 3_000, "INTERNAL"),
    ]

    assert tuple(spans) == decode_spans(encode_spans(spans))


def test_shortest_spans_are_dropped_when_room_is_short() -> None:
    spans = [record(f"step {n}", f"{n * 7919:016x}"[::-1], ms=n) for n in range(1, 500)]

    encoded = encode_spans(spans, max_bytes=2000)
    kept = decode_spans(encoded)

    assert len(encoded) <= 2000
    assert len(kept) > 20
    assert {f"step {n}" for n in range(500 - len(kept), 500)} == {one.name for one in kept}
    assert kept.dropped == 499 - len(kept)


def test_spans_that_a_peer_dropped_are_still_told_further_on() -> None:
    with collect_trace() as collected:
        pass
    collected.take_in(Spans([record("a", "1"), record("b", "2", ms=2)], dropped=3))

    whole = encode_spans(collected.spans)
    less = encode_spans(collected.spans, max_bytes=len(whole) - 1)

    assert (decode_spans(whole).dropped, decode_spans(less).dropped) == (3, 4)


def test_spans_beyond_what_a_request_may_collect_are_counted() -> None:
    with collect_trace() as collected:
        pass
    for number in range(2003):
        collected.add(record("a", f"{number:x}"))
    collected.add(record("a", "1"))

    assert (len(collected.spans), collected.spans.dropped) == (2000, 3)


@pytest.mark.parametrize("data", [b"", b"junk", encode_spans([])[:-3], b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_junk_gives_no_spans(data: bytes) -> None:
    assert decode_spans(data) == ()


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
