"""Who may ask over HTTP, how often, and from which pages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from contract.gateway.fakes import BASE_URL, World

from requirements import requirement
from satchel.gateway.app import Doors, Gateway
from satchel.gateway.clients import Clients
from satchel.gateway.settings import GatewaySettings, McpSettings
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import default_chain
from satchel.runtime.interceptors.auth import authenticator_of
from satchel.runtime.keys import Key, KeyRing, KeySettings
from satchel.runtime.metrics.settings import MetricsSettings
from satchel.runtime.settings import Secret, SettingsError

MEMORIES = "/api/v1/memories"
PAGE = "https://app.example"
KEYS = KeySettings(
    Secret("sk_owner"),
    (
        Key("reader", Secret("sk_read")),
        Key("keeper", Secret("sk_keep"), "write", may_delete=False),
        Key("two", Secret("sk_two"), "write", projects=("a", "b")),
    ),
)
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@asynccontextmanager
async def opened(
    world: World,
    settings: GatewaySettings | None = None,
    keys: KeySettings | None = None,
    *,
    doors: Doors | None = None,
    metrics: MetricsSettings | None = None,
    base_url: str = BASE_URL,
) -> AsyncIterator[httpx2.AsyncClient]:
    """Reach a gateway whose services ask for the keys too."""
    ring = KeyRing(keys)
    async with InProcessServer(default_chain(authenticator=authenticator_of(ring))) as guarded:
        world.register(guarded)
        clients = Clients.over(InProcessChannel(guarded))
        gateway = Gateway(
            clients,
            settings,
            ring=ring,
            inside=world.clients,
            mcp=McpSettings(name="mira", version="0.4.7"),
            metrics=metrics,
        )
        app = gateway.app(doors)
        transport = httpx2.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url=base_url) as client,
        ):
            yield client


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@requirement("keys:asked-for")
@pytest.mark.parametrize(
    "path", [MEMORIES, f"{MEMORIES}/recall", "/mcp", "/docs", "/metrics", "/nowhere", "/"]
)
@pytest.mark.parametrize(
    "headers", [{}, bearer("sk_wrong"), {"Authorization": "sk_owner"}, {"Authorization": "Basic sk_owner"}]
)
async def test_every_path_asks_for_a_known_key(world: World, path: str, headers: dict[str, str]) -> None:
    async with opened(world, keys=KEYS) as http:
        answers = [await http.get(path, headers=headers), await http.post(path, json={}, headers=headers)]

    for answer in answers:
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.json()["reason"] == "ERROR_REASON_UNAUTHENTICATED"
        assert answer.headers["satchel-trace-id"] == answer.json()["trace_id"]
    assert world.allocator.requests == world.store.requests == []


@requirement("keys:asked-for")
@pytest.mark.parametrize("path", ["/health", "/health/live", "/health/ready", "/openapi.json"])
async def test_health_and_the_openapi_document_need_no_key(world: World, path: str) -> None:
    async with opened(world, keys=KEYS) as http:
        answer = await http.get(path)

    assert answer.status_code == 200
    assert "unhealthy" not in answer.text[:100]


@requirement("keys:asked-for", "rest:health")
async def test_health_tells_how_much_there_is_to_those_alone_who_may_read_it(world: World) -> None:
    async with opened(world, keys=KEYS) as http:
        anonymous, wrong, one_of_two, reader = [
            (await http.get("/health", headers=headers)).json()
            for headers in ({}, bearer("sk_wrong"), bearer("sk_two"), bearer("sk_read"))
        ]
    async with opened(world) as http:
        without_keys = (await http.get("/health")).json()

    state = {"status", "checks", "ready", "db_connected", "vector_index_ready"}
    assert anonymous.keys() == wrong.keys() == state
    assert one_of_two.keys() == {*state, "version", "details"}
    assert reader.keys() == without_keys.keys() == {*state, "version", "details", "memory_count"}


@requirement("keys:rights", "mcp:guarded")
async def test_a_key_of_several_projects_learns_over_mcp_how_satchel_is(world: World) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "mira_health", "arguments": {}},
    }
    async with opened(world, keys=KEYS) as http:
        headers = {**MCP_HEADERS, **bearer("sk_two")}
        unnamed = result(await http.post("/mcp", json=call, headers=headers))["structuredContent"]
        headers["X-Satchel-Project"] = "a"
        named = result(await http.post("/mcp", json=call, headers=headers))["structuredContent"]

    assert (unnamed["status"], named["status"]) == ("healthy", "healthy")
    assert ("memory_count" in unnamed, named["memory_count"]) == (False, 0)
    assert world.allocator.requests[-1].project == "a"


@requirement("keys:rights")
async def test_the_services_say_what_a_key_may_do(world: World) -> None:
    memory = {"wing": "w", "content": "x"}
    async with opened(world, keys=KEYS) as http:
        refused = await http.post(MEMORIES, json=memory, headers=bearer("sk_read"))
        stored = await http.post(MEMORIES, json=memory, headers=bearer("sk_keep"))
        path = f"{MEMORIES}/{stored.json()['id']}"
        read = await http.get(path, headers=bearer("sk_read"))
        kept = await http.delete(path, headers=bearer("sk_keep"))
        gone = await http.delete(path, headers=bearer("sk_owner"))

    assert [one.status_code for one in (refused, stored, read, kept, gone)] == [403, 201, 200, 403, 204]
    assert [one.json()["metadata"]["needed"] for one in (refused, kept)] == ["write", "delete"]
    assert refused.json()["reason"] == "ERROR_REASON_PERMISSION_DENIED"


@requirement("keys:asked-for", "keys:rights")
async def test_mcp_over_http_asks_for_a_key_and_holds_to_its_right(world: World) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "mira_store", "arguments": {"wing": "w", "content": "x"}},
    }
    async with opened(world, keys=KEYS) as http:
        begun = await http.post("/mcp", json=INITIALIZE, headers={**MCP_HEADERS, **bearer("sk_read")})
        refused = await http.post("/mcp", json=call, headers={**MCP_HEADERS, **bearer("sk_read")})
        stored = await http.post("/mcp", json=call, headers={**MCP_HEADERS, **bearer("sk_keep")})

    named = result(begun)["serverInfo"]
    assert (named["name"], named["version"]) == ("mira", "0.4.7")
    failure = result(refused)
    assert (failure["isError"], failure["structuredContent"]["reason"]) == (
        True,
        "ERROR_REASON_PERMISSION_DENIED",
    )
    assert not result(stored).get("isError")


def result(answer: httpx2.Response) -> Any:  # noqa: ANN401  # JSON
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


@requirement("keys:network")
async def test_with_keys_a_request_may_be_for_any_host_but_come_from_no_foreign_page(world: World) -> None:
    async with opened(world, keys=KEYS, base_url="http://10.0.0.7:8080") as http:
        known = await http.get(MEMORIES, headers=bearer("sk_read"))
        own = await http.get(MEMORIES, headers={**bearer("sk_read"), "Origin": "http://10.0.0.7:8080"})
        page = await http.get(MEMORIES, headers={**bearer("sk_read"), "Origin": "https://evil.example"})

    assert [known.status_code, own.status_code, page.status_code] == [200, 200, 403]


@requirement("rest:rates")
async def test_who_asks_too_often_is_told_when_to_come_back_and_others_are_not(world: World) -> None:
    settings = GatewaySettings(requests_per_minute=2)
    async with opened(world, settings, KEYS) as http:
        answers = [await http.get(MEMORIES, headers=bearer("sk_read")) for _ in range(3)]
        other = await http.get(MEMORIES, headers=bearer("sk_owner"))
        alive = [await http.get("/health/ready") for _ in range(3)]

    assert [one.status_code for one in answers] == [200, 200, 429]
    refused = answers[-1]
    assert refused.json()["reason"] == "ERROR_REASON_RATE_LIMITED"
    assert refused.json()["metadata"] == {"limit": "2"}
    assert 1 <= int(refused.headers["retry-after"]) <= 30
    assert other.status_code == 200
    assert [one.status_code for one in alive] == [200, 200, 200]


@requirement("rest:rates")
async def test_wrong_keys_count_for_their_address_whatever_it_claims_to_be(world: World) -> None:
    settings = GatewaySettings(requests_per_minute=3)
    async with opened(world, settings, KEYS) as http:
        tried = [
            await http.get(MEMORIES, headers={**bearer(f"sk_{guess}"), "X-Forwarded-For": f"192.0.2.{guess}"})
            for guess in range(5)
        ]
        known = await http.get(MEMORIES, headers=bearer("sk_owner"))

    assert [one.status_code for one in tried] == [401, 401, 401, 429, 429]
    assert known.status_code == 200


@requirement("rest:rates")
async def test_on_loopback_without_keys_there_is_no_rate(world: World) -> None:
    async with opened(world) as http:
        answers = [await http.get("/openapi.json") for _ in range(700)]

    assert {one.status_code for one in answers} == {200}


@requirement("rest:origins")
async def test_a_named_origin_may_ask_and_read_and_no_other(world: World) -> None:
    settings = GatewaySettings(allowed_origins=(PAGE,))
    asks = {"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    async with opened(world, settings, KEYS) as http:
        preflight = await http.options(f"{MEMORIES}/recall", headers=asks)
        answer = await http.get(MEMORIES, headers={**bearer("sk_read"), "Origin": PAGE})
        refused = await http.get(MEMORIES, headers={"Origin": PAGE})
        foreign = await http.options(MEMORIES, headers={**asks, "Origin": "https://evil.example"})
        plain = await http.get(MEMORIES, headers=bearer("sk_read"))

    assert (preflight.status_code, preflight.content) == (204, b"")
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    assert "DELETE" in preflight.headers["access-control-allow-methods"]
    for shared in (preflight, answer, refused):
        assert (shared.headers["access-control-allow-origin"], shared.headers["vary"]) == (PAGE, "Origin")
        assert "access-control-allow-credentials" not in shared.headers
    assert "satchel-trace-id" in answer.headers["access-control-expose-headers"]
    assert (answer.status_code, refused.status_code, foreign.status_code) == (200, 401, 403)
    assert [one for one in (foreign, plain) if "access-control-allow-origin" in one.headers] == []


@requirement("rest:origins")
@pytest.mark.parametrize("origin", [PAGE, "http://localhost:3000"])
async def test_without_named_origins_no_page_may_read(world: World, origin: str) -> None:
    headers = {"Origin": origin, "Access-Control-Request-Method": "GET"}
    async with opened(world) as http:
        answers = [await http.options(MEMORIES, headers=headers), await http.get(MEMORIES, headers=headers)]

    assert [one for one in answers if "access-control-allow-origin" in one.headers] == []


@requirement("rest:origins")
async def test_all_origins_need_keys_and_never_get_credentials(world: World) -> None:
    settings = GatewaySettings(allowed_origins=("*",))
    with pytest.raises(SettingsError, match="SATCHEL_AUTH_TOKEN"):
        Gateway(world.clients, settings)

    async with opened(world, settings, KEYS) as http:
        answer = await http.get(MEMORIES, headers={**bearer("sk_read"), "Origin": "https://any.example"})

    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
    assert "access-control-allow-credentials" not in answer.headers


@requirement("config:effective")
@pytest.mark.parametrize(
    ("doors", "metrics", "served"),
    [
        (Doors(rest=False), MetricsSettings(), {"/metrics"}),
        (Doors(mcp=False), MetricsSettings(enabled=False), {MEMORIES, "/openapi.json", "/docs"}),
        (Doors(rest=False, mcp=False), MetricsSettings(), {"/metrics"}),
        (None, MetricsSettings(), {MEMORIES, "/openapi.json", "/docs", "/metrics"}),
    ],
)
async def test_an_address_serves_what_is_switched_on_and_health(
    world: World, doors: Doors | None, metrics: MetricsSettings, served: set[str]
) -> None:
    paths = (MEMORIES, "/openapi.json", "/docs", "/metrics")
    async with opened(world, doors=doors, metrics=metrics) as http:
        found = {path for path in paths if (await http.get(path)).status_code == 200}
        mcp = await http.post("/mcp", json=INITIALIZE, headers=MCP_HEADERS)
        missing = await http.get("/nowhere")
        alive = await http.get("/health/live")

    assert found == served
    assert mcp.status_code == (404 if doors and not doors.mcp else 200)
    assert (missing.status_code, missing.json()["reason"]) == (404, "ERROR_REASON_ROUTE_NOT_FOUND")
    assert alive.status_code == 200


@requirement("config:effective")
async def test_rest_can_be_switched_off_by_a_setting(world: World) -> None:
    async with opened(world, GatewaySettings(rest=False)) as http:
        answer = await http.get(MEMORIES)

    assert answer.status_code == 404
