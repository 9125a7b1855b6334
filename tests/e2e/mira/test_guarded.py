"""Keys, health and the document of the API, as a client of MIRA meets them."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from e2e.door import Door, until
from e2e.running import embedded, free_ports, process
from requirements import requirement

TOKEN = "sk_a-token-that-only-the-tests-know"  # noqa: S105  # no secret
OPEN = {"/openapi.json", "/health", "/health/live", "/health/ready"}
ADDRESS = {"{id}": "0190a6b2-8f1e-7c3d-9a4b-5e6f70818293", "{version}": "1", "{agent_id}": "clara"}
OF_MIRA = {
    "POST /api/v1/memories",
    "GET /api/v1/memories/{id}",
    "PUT /api/v1/memories/{id}",
    "DELETE /api/v1/memories/{id}",
    "POST /api/v1/memories/recall",
    "POST /api/v1/memories/search",
    "POST /api/v1/memories/consolidate",
    "DELETE /api/v1/memories",
    "GET /api/v1/timeline",
    "POST /api/v1/archive",
    "GET /api/v1/causal/{id}",
    "GET /api/v1/status",
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A Satchel that asks for a token, and this client has it."""
    with embedded(tmp_path_factory.mktemp("guarded") / "data", {"SATCHEL_AUTH_TOKEN": TOKEN}) as running:
        yield Door(running.http, {"authorization": f"Bearer {TOKEN}"})


def routes(door: Door) -> list[tuple[str, str]]:
    paths = httpx2.get(f"{door.http}/openapi.json").json()["paths"]
    return [(verb.upper(), path) for path, verbs in paths.items() for verb in verbs]


@requirement("keys:asked-for", "rest:derived", "doors:miras-clients")
def test_the_document_is_public_and_lists_every_route_of_mira(guarded: Door) -> None:
    answer = httpx2.get(f"{guarded.http}/openapi.json")

    assert answer.status_code == 200
    assert answer.json()["openapi"].startswith("3.1.")
    assert {" ".join(route) for route in routes(guarded)} >= OF_MIRA


@requirement("keys:asked-for", "doors:miras-clients")
@pytest.mark.parametrize("credentials", ["", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer"])
def test_without_the_token_as_a_bearer_every_route_answers_401(guarded: Door, credentials: str) -> None:
    headers = {"authorization": credentials} if credentials else {}
    more = [("GET", "/metrics"), ("GET", "/docs"), ("POST", "/mcp"), ("GET", "/sse")]
    codes = {}
    with httpx2.Client(base_url=guarded.http, headers=headers) as client:
        for verb, path in [*routes(guarded), *more]:
            place = path
            for name, value in ADDRESS.items():
                place = place.replace(name, value)
            codes[f"{verb} {path}"] = client.request(verb, place).status_code

    assert {code for route, code in codes.items() if route.partition(" ")[2] not in OPEN} == {401}
    assert {codes[f"GET {path}"] for path in OPEN if f"GET {path}" in codes} == {200}


@requirement("keys:asked-for", "doors:miras-clients")
def test_with_the_token_everything_works(guarded: Door) -> None:
    kept = guarded.store("w", "The token was right.")

    assert guarded.recalled("Was the token right?", wing="w") == [kept]


def answers(client: httpx2.Client) -> bool:
    try:
        return client.get("/health/live").is_success
    except httpx2.TransportError:
        return False


@requirement("rest:health", "doors:miras-clients")
def test_without_its_services_a_gateway_is_alive_and_not_ready(tmp_path: Path) -> None:
    ports = free_ports(5)
    names = ("gateway", "embedder", "store", "index", "allocator")
    at = {name: f"127.0.0.1:{port}" for name, port in zip(names, ports, strict=True)}
    peers = [word for name in names[1:] for word in (f"--{name}", at[name])]
    arguments = ["serve", "gateway", "--listen", at["gateway"], *peers]
    with (
        process(arguments, tmp_path / "data"),
        httpx2.Client(base_url=f"http://{at['gateway']}", timeout=30) as client,
    ):
        until(lambda: answers(client))
        live, ready, health = (client.get(path) for path in ("/health/live", "/health/ready", "/health"))

    assert (live.status_code, ready.status_code, health.status_code) == (200, 503, 503)
    assert (ready.json()["ready"], ready.json()["db_connected"]) == (False, False)


@requirement("rest:health", "doors:miras-clients")
async def test_with_its_services_health_says_so_at_every_door(door: Door) -> None:
    codes = [
        httpx2.get(f"{door.http}{path}").status_code for path in ("/health", "/health/live", "/health/ready")
    ]
    health = await door.tool("mira_health")

    assert codes == [200, 200, 200]
    assert health.structured_content["status"] == "healthy"
    assert health.structured_content["db_connected"] is True
    assert health.structured_content["vector_index_ready"] is True
    assert health.structured_content["memory_count"] >= 0
