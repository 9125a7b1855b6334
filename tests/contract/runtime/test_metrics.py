"""What a server counts of its calls, on every transport, and where that can be read."""

import asyncio
import socket

import grpc
import httpx2
import pytest
from contract.runtime.echo import SERVICE
from contract.runtime.transports import Opener, Reach
from exposition import Figures, scrape
from google.protobuf.wrappers_pb2 import StringValue
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from requirements import requirement
from satchel.runtime.keys import KeyRing, KeySettings
from satchel.runtime.metrics.scraping import exposition
from satchel.runtime.metrics.serving import showing_metrics
from satchel.runtime.metrics.settings import MetricsSettings
from satchel.runtime.settings import Secret, SettingsError
from satchel.runtime.telemetry import setup_telemetry

CALL = {"grpc_service": SERVICE, "grpc_method": "Unary"}
LIMIT_S = 10.0


async def growth(before: Figures, name: str, least: float = 1, /, **labels: str) -> float:
    """Return by how much a sample grew: over a socket a call is counted shortly after its client's answer."""
    async with asyncio.timeout(LIMIT_S):
        while (await scrape()).value(name, **labels) - before.value(name, **labels) < least:
            continue
    return (await scrape()).value(name, **labels) - before.value(name, **labels)


@requirement("metrics:calls")
async def test_every_call_is_counted_once_by_its_code_and_timed(reach: Reach) -> None:
    before = await scrape()

    for value in ("fine", "teapot", "bug", "fine"):
        try:
            await reach.stub.Unary(StringValue(value=value), timeout=5)
        except grpc.aio.AioRpcError:
            continue

    handled = "grpc_server_handled_total"
    assert await growth(before, "grpc_server_handling_seconds_count", 4, **CALL) == 4
    assert await growth(before, handled, 2, **CALL, grpc_code="OK") == 2
    assert await growth(before, handled, **CALL, grpc_code="FAILED_PRECONDITION") == 1
    assert await growth(before, handled, **CALL, grpc_code="INTERNAL") == 1
    assert await growth(before, "satchel_errors_total", grpc_service=SERVICE, reason="INTERNAL") == 1


@requirement("metrics:calls")
async def test_a_call_under_way_is_seen(reach: Reach) -> None:
    waiting = reach.stub.Unary(StringValue(value="wait"), timeout=LIMIT_S)
    async with asyncio.timeout(LIMIT_S):
        await reach.echo.waiting.wait()

    during = await scrape()
    reach.echo.release.set()
    await waiting

    assert during.value("grpc_server_active", **CALL) == 1
    assert during.value("satchel_queue_depth", queue="calls") >= 1


@requirement("metrics:queues")
async def test_a_call_beyond_the_limit_is_counted_as_a_rejection(opener: Opener) -> None:
    before = await scrape()

    async with opener(max_calls=1) as reach:
        waiting = reach.stub.Unary(StringValue(value="wait"), timeout=LIMIT_S)
        async with asyncio.timeout(LIMIT_S):
            await reach.echo.waiting.wait()
        with pytest.raises(grpc.aio.AioRpcError):
            await reach.stub.Unary(StringValue(value="one too many"), timeout=5)
        reach.echo.release.set()
        await waiting

    assert await growth(before, "satchel_queue_rejections_total", queue="calls") == 1
    assert await growth(before, "satchel_errors_total", grpc_service=SERVICE, reason="OVERLOADED") == 1


@requirement("metrics:exemplars")
async def test_a_bucket_leads_to_a_trace_while_traces_are_exported(reach: Reach) -> None:
    exporter = InMemorySpanExporter()
    shutdown = setup_telemetry("test", exporter=exporter)
    before = await scrape()
    try:
        await reach.stub.Unary(StringValue(value="fine"), timeout=5)
        assert await growth(before, "grpc_server_handled_total", **CALL, grpc_code="OK") == 1
    finally:
        shutdown()

    text, _ = await exposition("application/openmetrics-text;version=1.0.0")
    traces = {f"{one.context.trace_id:032x}" for one in exporter.get_finished_spans()}
    buckets = [
        line for line in text.decode().splitlines() if SERVICE in line and "handling_seconds_b" in line
    ]
    assert any(f'trace_id="{trace}"' in line for trace in traces for line in buckets)


@requirement("metrics:served")
async def test_a_process_without_an_http_door_serves_its_metrics_and_nothing_else() -> None:
    settings = MetricsSettings(prometheus_addr="127.0.0.1:0")

    async with showing_metrics(settings) as port, httpx2.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{port}/metrics")
        elsewhere = await client.get(f"http://127.0.0.1:{port}/")
        written = await client.post(f"http://127.0.0.1:{port}/metrics")

    assert (answer.status_code, elsewhere.status_code, written.status_code) == (200, 404, 405)
    assert "satchel_build_info" in Figures.read(answer.text).samples


@requirement("metrics:served")
@pytest.mark.parametrize(
    "settings", [MetricsSettings(), MetricsSettings(enabled=False, prometheus_addr="127.0.0.1:1")]
)
async def test_metrics_are_served_nowhere_unless_an_address_is_named(settings: MetricsSettings) -> None:
    async with showing_metrics(settings) as port:
        assert port is None


@requirement("metrics:served")
async def test_where_callers_need_a_key_who_reads_metrics_needs_one_too() -> None:
    settings = MetricsSettings(prometheus_addr="127.0.0.1:0")
    ring = KeyRing(KeySettings(auth_token=Secret("sesame")))

    async with showing_metrics(settings, ring) as port, httpx2.AsyncClient() as client:
        url = f"http://127.0.0.1:{port}/metrics"
        answers = [
            await client.get(url, headers={"authorization": f"Bearer {token}"})
            for token in ("wrong", "sesame")
        ]
        nameless = await client.get(url)

    assert nameless.status_code == 401
    assert [answer.status_code for answer in answers] == [401, 200]


@requirement("metrics:served")
async def test_an_address_that_is_taken_is_named_with_its_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = MetricsSettings(prometheus_addr=f"127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(SettingsError, match="SATCHEL_METRICS_PROMETHEUS_ADDR"):
            async with showing_metrics(settings):
                pass


@requirement("metrics:served")
@pytest.mark.parametrize("address", ["127.0.0.1", ":9090", "host:", "host:x", "host:65536"])
def test_an_address_without_a_host_or_a_port_is_refused(address: str) -> None:
    with pytest.raises(SettingsError, match="host:port"):
        MetricsSettings(prometheus_addr=address)
