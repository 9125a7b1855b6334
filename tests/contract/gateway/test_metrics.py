"""What the HTTP door counts, and how little a stranger can add to it."""

import grpc
import httpx2
import pytest
from contract.gateway.fakes import BASE_URL, World, client_of
from exposition import Figures

from requirements import requirement
from satchel.gateway.app import Gateway, build_app
from satchel.gateway.clients import Clients
from satchel.gateway.settings import GatewaySettings
from satchel.runtime.channels import open_channel
from satchel.runtime.metrics.settings import MetricsSettings

MEMORIES = "/api/v1/memories"


def transport_over(channel: grpc.aio.Channel) -> httpx2.ASGITransport:
    return httpx2.ASGITransport(build_app(Clients.over(channel), GatewaySettings()))


async def figures(http: httpx2.AsyncClient) -> Figures:
    return Figures.read((await http.get("/metrics")).text)


@requirement("rest:metrics")
async def test_requests_are_counted_by_route_and_status_and_their_rpcs_by_code(
    http: httpx2.AsyncClient,
) -> None:
    before = await figures(http)

    await http.post(f"{MEMORIES}/recall", json={"query": "q"})
    await http.post(f"{MEMORIES}/recall", json={})
    await http.get(f"{MEMORIES}/0190a6b2-8f1e-7c3d-9a4b-5e6f70818293")

    after = await figures(http)

    def grown(name: str, **labels: str) -> float:
        return after.value(name, **labels) - before.value(name, **labels)

    recall = {"method": "POST", "route": f"{MEMORIES}/recall"}
    rpc = "satchel.api.allocator.v1.AllocatorService/Recall"
    assert grown("satchel_http_requests_total", **recall, status="200") == 1
    assert grown("satchel_http_requests_total", **recall, status="422") == 1
    assert grown("satchel_http_requests_total", route=f"{MEMORIES}/{{id}}", status="404") == 1
    assert grown("satchel_http_request_duration_seconds_count", **recall) == 2
    assert grown("satchel_gateway_calls_total", rpc=rpc, code="OK") == 1
    assert grown("satchel_gateway_calls_total", rpc=rpc, code="INVALID_ARGUMENT") == 1
    assert grown("mira_errors_total") == 2


@requirement("metrics:bounded")
async def test_paths_verbs_and_words_of_a_stranger_add_no_series(http: httpx2.AsyncClient) -> None:
    async def ask(word: str) -> None:
        await http.get(f"/{word}")
        await http.request(word.upper(), f"{MEMORIES}/recall")
        await http.get(f"{MEMORIES}/{word}")
        await http.get("/health", headers={"host": word})

    await ask("first")
    before = (await figures(http)).count()
    for number in range(20):
        await ask(f"word{number}")

    assert (await figures(http)).count() == before


@requirement("rest:metrics")
async def test_what_a_guard_refuses_is_counted_by_its_reason(http: httpx2.AsyncClient) -> None:
    before = await figures(http)

    await http.get("/health", headers={"host": "elsewhere.example"})

    after = await figures(http)
    name, labels = "satchel_http_refusals_total", {"reason": "PERMISSION_DENIED"}
    assert after.value(name, **labels) - before.value(name, **labels) == 1


@requirement("rest:metrics")
async def test_requests_beyond_the_limit_are_rejections_of_a_queue(world: World) -> None:
    async with client_of(world, GatewaySettings(max_requests=1)) as http:
        shown = await figures(http)

    assert shown.value("satchel_queue_limit", queue="gateway.requests") >= 1
    assert "satchel_queue_rejections_total" in shown.samples


@requirement("rest:metrics")
@pytest.mark.parametrize("accept", ["", "application/openmetrics-text;version=1.0.0"])
async def test_metrics_come_in_the_form_that_is_asked_for(http: httpx2.AsyncClient, accept: str) -> None:
    answer = await http.get("/metrics", headers={"accept": accept})

    expected = accept.partition(";")[0] or "text/plain"
    assert answer.headers["content-type"].startswith(expected)


@requirement("rest:metrics")
async def test_metrics_that_are_switched_off_are_not_there(world: World) -> None:
    app = Gateway(world.clients, metrics=MetricsSettings(enabled=False)).app()

    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE_URL) as http:
        assert (await http.get("/metrics")).status_code == 404
        assert (await http.get("/health")).status_code == 200


@requirement("metrics:miras-names")
async def test_a_call_that_no_service_takes_is_a_failed_call_too() -> None:
    async with (
        open_channel("127.0.0.1:1") as channel,
        httpx2.AsyncClient(transport=transport_over(channel), base_url=BASE_URL) as http,
    ):
        before = await figures(http)
        answer = await http.post(f"{MEMORIES}/recall", json={"query": "q"})
        after = await figures(http)

    assert answer.status_code == 503
    assert after.value("mira_errors_total") - before.value("mira_errors_total") == 1
