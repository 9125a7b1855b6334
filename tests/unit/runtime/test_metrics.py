"""Metrics: declared, measured, read and reported."""

import asyncio
import gc
import logging
import math
import threading

import pytest
from exposition import Figures, scrape
from prometheus_client import CollectorRegistry, generate_latest

from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.methods import parse_method
from satchel.runtime.metrics.calls import count_error
from satchel.runtime.metrics.families import Families
from satchel.runtime.metrics.measuring import exemplar, measured
from satchel.runtime.metrics.queues import watch_queue
from satchel.runtime.metrics.reporting import EVENT, report_totals
from satchel.runtime.metrics.scraping import exposition, read_at_scrape
from satchel.runtime.telemetry import collect_trace, setup_telemetry, span


def families() -> tuple[Families, CollectorRegistry]:
    registry = CollectorRegistry()
    return Families("Tests", registry), registry


def read(registry: CollectorRegistry) -> Figures:
    return Figures.read(generate_latest(registry).decode())


def test_what_is_declared_is_listed_as_queries_name_it() -> None:
    declared, registry = families()
    declared.counter("satchel_things_total", "Things.", ["kind"]).labels("a").inc()
    declared.histogram("satchel_thing_seconds", "Seconds.", buckets=(1.0,)).observe(0.5)

    assert [(one.name, one.kind, one.labels) for one in declared.declared] == [
        ("satchel_things_total", "counter", ("kind",)),
        ("satchel_thing_seconds", "histogram", ()),
    ]
    assert {"satchel_things_total", "satchel_thing_seconds_bucket"} <= read(registry).samples.keys()


def test_a_counter_that_does_not_say_that_it_is_a_total_is_refused() -> None:
    declared, _ = families()

    with pytest.raises(ValueError, match="must end with _total"):
        declared.counter("satchel_things", "Things.")


def test_a_gauge_is_unknown_until_it_is_read() -> None:
    declared, registry = families()
    gauge = declared.gauge("satchel_level", "Level.")

    before = read(registry).value("satchel_level")
    gauge.set(3)

    assert math.isnan(before)
    assert read(registry).value("satchel_level") == 3


def test_work_that_fails_is_counted_and_timed_too() -> None:
    declared, registry = families()
    total, seconds = declared.counter("works_total", "Works."), declared.histogram("work_seconds", "Seconds.")

    with pytest.raises(KeyError), measured(total, seconds, count=3):
        raise KeyError

    figures = read(registry)
    assert (figures.value("works_total"), figures.value("work_seconds_count")) == (3, 1)


def test_an_exemplar_is_the_trace_that_is_exported_and_no_other() -> None:
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: PLC0415

    assert exemplar() is None
    with collect_trace(), span("kept by nobody"):
        assert exemplar() is None
    shutdown = setup_telemetry("test", exporter=InMemorySpanExporter())
    try:
        with span("work") as current:
            assert exemplar() == {"trace_id": current.trace_id}  # type: ignore[union-attr]  # tracing is on
    finally:
        shutdown()


async def test_openmetrics_is_answered_to_who_asks_for_it_and_text_to_all_others() -> None:
    text, plain = await exposition()
    openmetrics, asked = await exposition("application/openmetrics-text;version=1.0.0")

    assert plain.startswith("text/plain")
    assert asked.startswith("application/openmetrics-text")
    assert openmetrics.endswith(b"# EOF\n")
    assert b"# EOF" not in text


async def test_a_queue_shows_how_full_it_is_for_as_long_as_it_lives() -> None:
    class Queue:
        waiting = 3

    queues = [Queue(), Queue()]
    for queue in queues:
        watch_queue(queue, "tests.queue", limit=10, depth=lambda one: one.waiting)

    full = await scrape()
    del queue
    queues.clear()
    gc.collect()
    gone = await scrape()

    labels = {"queue": "tests.queue"}
    assert full.value("satchel_queue_depth", **labels) == 6
    assert full.value("satchel_queue_limit", **labels) == 20
    assert labels not in [has for has, _ in gone.samples.get("satchel_queue_depth", ())]


async def test_an_executor_that_refuses_counts_it() -> None:
    release = threading.Event()
    before = (await scrape()).value("satchel_queue_rejections_total", queue="tests.executor")

    async with BoundedExecutor(1, 0, "tests.executor") as executor:
        first = asyncio.create_task(executor.run(release.wait, 10))
        await asyncio.sleep(0)  # lets it begin
        with pytest.raises(Exception, match=r"tests\.executor"):
            await executor.run(int)
        busy = await scrape()
        release.set()
        await first

    assert busy.value("satchel_queue_depth", queue="tests.executor") == 1
    assert busy.value("satchel_queue_rejections_total", queue="tests.executor") == before + 1


async def test_gauges_are_read_when_somebody_asks_and_unknown_when_nobody_can_tell() -> None:
    declared = Families("Tests of readings")
    level = declared.gauge("tests_level", "Level.")
    state = declared.gauge("tests_state", "State.", ["state"])

    async def tell() -> None:
        level.set(7)
        state.labels("good").set(1)

    with read_at_scrape("tests", (level, state), tell):
        inside = await scrape()
    outside = await scrape()

    assert (inside.value("tests_level"), inside.value("tests_state", state="good")) == (7, 1)
    assert math.isnan(outside.value("tests_level"))
    assert "tests_state" not in outside.samples


async def test_a_reading_that_fails_or_hangs_hides_nothing_else_and_is_counted() -> None:
    declared = Families("Tests of failures")
    broken, slow = declared.gauge("tests_broken", "Broken."), declared.gauge("tests_slow", "Slow.")

    async def fail() -> None:
        broken.set(1)
        raise OSError

    async def hang() -> None:
        slow.set(1)
        await asyncio.Event().wait()

    with read_at_scrape("fails", [broken], fail), read_at_scrape("hangs", [slow], hang):
        text, _ = await exposition(timeout_s=0.01)

    figures = Figures.read(text.decode())
    assert math.isnan(figures.value("tests_broken"))
    assert math.isnan(figures.value("tests_slow"))
    for part in ("fails", "hangs"):
        assert figures.value("satchel_metrics_failed_readings_total", part=part) == 1
    assert figures.value("satchel_build_info") == 1


async def test_a_reason_that_a_stranger_sent_makes_no_series_of_its_own() -> None:
    method = parse_method("/tests.Reasons/Call")

    count_error(method, "ERROR_REASON_MEMORY_NOT_FOUND")
    for number in range(5):
        count_error(method, f"REASON_{number}")

    figures = await scrape()
    assert figures.value("satchel_errors_total", grpc_service=method.service, reason="MEMORY_NOT_FOUND") == 1
    assert figures.value("satchel_errors_total", grpc_service=method.service, reason="OTHER") == 5


async def test_the_log_reports_what_grew_and_nothing_while_nothing_does() -> None:
    declared, registry = families()
    things = declared.counter("satchel_things_total", "Things.", ["kind"])
    declared.counter("satchel_idle_total", "Never.")
    reported: asyncio.Future[logging.LogRecord] = asyncio.get_running_loop().create_future()

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            reported.set_result(record)

    logger, told = logging.getLogger("satchel.metrics"), Told()
    logger.addHandler(told)
    logger.setLevel(logging.INFO)
    report = asyncio.create_task(report_totals(0.001, registry))
    try:
        await asyncio.sleep(0)  # what it compares with is read first
        things.labels("a").inc(2)
        things.labels("b").inc()
        async with asyncio.timeout(5):
            record = await reported
    finally:
        report.cancel()
        logger.removeHandler(told)
        logger.setLevel(logging.NOTSET)

    assert record.getMessage() == EVENT
    assert record.__dict__["satchel_things_total"] == 3
    assert "satchel_idle_total" not in record.__dict__
