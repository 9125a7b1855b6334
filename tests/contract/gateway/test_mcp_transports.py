"""Server-sent events and the sessions of streamable HTTP, over real sockets."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from contract.gateway.mcp_world import McpWorld, open_mcp_world
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.gateway.app import Gateway
from satchel.gateway.main import HttpServer
from satchel.gateway.settings import GatewaySettings, McpSettings
from satchel.runtime.keys import Key, KeyRing, KeySettings
from satchel.runtime.settings import Secret

LIMIT_S = 10
CLEAR = {"mode": "wing", "wing": "w1"}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
KEYS = KeyRing(
    KeySettings(keys=(Key("one", Secret("sk_one"), "write"), Key("two", Secret("sk_two"), "write")))
)
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


@pytest.fixture
async def world() -> AsyncIterator[McpWorld]:
    async with open_mcp_world() as opened:
        opened.store.keep(store_pb.StoreMemoryRequest(content="The port is 8080.", wing="w1"))
        yield opened


@asynccontextmanager
async def serving(
    world: McpWorld, *, ring: KeyRing | None = None, sessions: bool = True, **limits: int
) -> AsyncIterator[str]:
    """Serve the doors on a free port; yield the URL."""
    settings = GatewaySettings(http_address="127.0.0.1:0", rest=False, **limits)  # type: ignore[arg-type]  # numbers
    gateway = Gateway(world.clients, settings, ring=ring, mcp=McpSettings(sessions=sessions))
    async with HttpServer(gateway.app(), settings) as server:
        yield f"http://127.0.0.1:{server.port}"


async def agree(context: object, params: object) -> ElicitResult:
    del context, params
    return ElicitResult(action="accept", content={"confirm": True})


def initialize(**capabilities: Any) -> dict[str, Any]:  # noqa: ANN401  # as the protocol has them
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


class EventStream:
    """A stream of server-sent events, read as it comes."""

    def __init__(self, answer: httpx2.Response) -> None:
        self._lines = answer.aiter_lines()

    async def next_data(self) -> str:
        """Return the data of the next event."""
        async with asyncio.timeout(LIMIT_S):
            async for line in self._lines:
                if line.startswith("data:"):
                    return line.removeprefix("data:").strip()
        raise EOFError

    async def has_ended(self) -> bool:
        async with asyncio.timeout(LIMIT_S):
            return [line async for line in self._lines if line.startswith("data:")] == []


@requirement("mcp:sessions")
async def test_a_session_of_server_sent_events_calls_tools_and_asks_its_user(world: McpWorld) -> None:
    async with (
        serving(world) as url,
        Client(sse_client(f"{url}/sse"), elicitation_callback=agree) as client,
    ):
        recalled = await client.call_tool("mira_recall", {"query": "q"})
        cleared = await client.call_tool("mira_clear_memory", CLEAR)

    assert recalled.structured_content["context"] == "The port is 8080."
    assert (cleared.structured_content["deleted_count"], world.store.memories) == (1, {})


@requirement("mcp:guarded", "rest:same-site")
@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
@pytest.mark.parametrize(("verb", "path"), [("GET", "/sse"), ("POST", "/messages/"), ("GET", "/mcp")])
async def test_foreign_hosts_and_pages_reach_no_transport(
    world: McpWorld, verb: str, path: str, header: dict[str, str]
) -> None:
    async with serving(world) as url, httpx2.AsyncClient(base_url=url) as http:
        refused = await http.request(verb, path, headers=header)

    assert (refused.status_code, refused.json()["reason"]) == (403, "ERROR_REASON_PERMISSION_DENIED")


@requirement("mcp:streams")
async def test_open_streams_keep_no_place_from_requests_and_have_a_limit_of_their_own(
    world: McpWorld,
) -> None:
    async with (
        serving(world, max_requests=1, max_streams=1) as url,
        httpx2.AsyncClient(base_url=url) as http,
        http.stream("GET", "/sse") as opened,
    ):
        stream = EventStream(opened)
        endpoint = await stream.next_data()
        taken = await http.post(endpoint, json=PING)
        plain = await http.post("/mcp", json=PING, headers=ACCEPT)
        refused = await http.get("/sse")

    assert [one.status_code for one in (opened, taken, plain, refused)] == [200, 202, 200, 503]
    assert refused.json()["reason"] == "ERROR_REASON_OVERLOADED"
    assert refused.json()["metadata"] == {"queue": "streams", "limit": "1"}


@requirement("mcp:guarded")
async def test_without_a_key_no_stream_is_opened(world: McpWorld) -> None:
    async with serving(world, ring=KEYS) as url, httpx2.AsyncClient(base_url=url) as http:
        statuses = [(await http.get("/sse")).status_code, (await http.post("/messages/")).status_code]

    assert statuses == [401, 401]


@requirement("mcp:guarded")
async def test_a_session_of_server_sent_events_belongs_to_the_key_that_began_it(world: McpWorld) -> None:
    one, two = ({"Authorization": f"Bearer sk_{name}"} for name in ("one", "two"))
    async with (
        serving(world, ring=KEYS) as url,
        httpx2.AsyncClient(base_url=url, timeout=LIMIT_S) as http,
        http.stream("GET", "/sse", headers=one) as answer,
    ):
        stream = EventStream(answer)
        place = await stream.next_data()
        other = await http.post(place, json=PING, headers=two)
        own = await http.post(place, json=initialize(), headers=one)
        begun = json.loads(await stream.next_data())

    assert (other.status_code, own.status_code) == (404, 202)
    assert begun["result"]["serverInfo"]["name"] == "satchel"


@requirement("mcp:guarded", "rest:same-site")
async def test_a_frame_without_a_type_or_of_another_verb_is_refused(world: McpWorld) -> None:
    async with serving(world) as url, httpx2.AsyncClient(base_url=url) as http:
        untyped = await http.post("/messages/?session_id=1", content=b"{}")
        verbs = [await http.get("/messages/"), await http.post("/sse", json={})]

    assert untyped.status_code == 415
    assert [(answer.status_code, answer.headers["allow"]) for answer in verbs] == [
        (405, "POST"),
        (405, "GET"),
    ]


@requirement("mcp:protocol")
async def test_what_is_no_frame_is_answered_in_the_stream(world: McpWorld) -> None:
    async with (
        serving(world) as url,
        httpx2.AsyncClient(base_url=url, timeout=LIMIT_S) as http,
        http.stream("GET", "/sse") as answer,
    ):
        stream = EventStream(answer)
        place = await stream.next_data()
        status = (await http.post(place, json={"a": 1})).status_code
        told = json.loads(await stream.next_data())

    assert (status, told["error"]["code"]) == (400, -32600)


@requirement("mcp:sessions")
async def test_the_end_of_the_server_ends_its_streams_at_once(world: McpWorld) -> None:
    async with httpx2.AsyncClient(timeout=LIMIT_S) as http, asyncio.timeout(LIMIT_S):
        async with serving(world) as url:
            answer = await http.send(http.build_request("GET", f"{url}/sse"), stream=True)
            stream = EventStream(answer)
            await stream.next_data()
        ended = await stream.has_ended()
        await answer.aclose()

    assert ended


@requirement("mcp:confirmed", "mcp:sessions")
async def test_a_client_of_streamable_http_that_can_ask_gets_a_session_and_is_asked(world: McpWorld) -> None:
    async with (
        serving(world) as url,
        Client(f"{url}/mcp", mode="legacy", elicitation_callback=agree) as client,
    ):
        cleared = await client.call_tool("mira_clear_memory", CLEAR)

    assert (cleared.structured_content["deleted_count"], world.store.memories) == (1, {})


@requirement("mcp:sessions")
@pytest.mark.parametrize(
    ("sessions", "capabilities", "has_session"),
    [(True, {"elicitation": {}}, True), (True, {}, False), (False, {"elicitation": {}}, False)],
)
async def test_only_clients_that_can_ask_get_a_session_where_sessions_are_on(
    world: McpWorld,
    *,
    sessions: bool,
    capabilities: dict[str, Any],
    has_session: bool,
) -> None:
    async with (
        serving(world, sessions=sessions) as url,
        httpx2.AsyncClient(base_url=url, headers=ACCEPT) as http,
    ):
        begun = await http.post("/mcp", json=initialize(**capabilities))

    assert (begun.status_code, "mcp-session-id" in begun.headers) == (200, has_session)


@requirement("mcp:guarded")
async def test_a_session_of_streamable_http_belongs_to_the_key_that_began_it_until_it_ends(
    world: McpWorld,
) -> None:
    one, two = ({**ACCEPT, "Authorization": f"Bearer sk_{name}"} for name in ("one", "two"))
    async with (
        serving(world, ring=KEYS) as url,
        httpx2.AsyncClient(base_url=url, timeout=LIMIT_S) as http,
    ):
        begun = await http.post("/mcp", json=initialize(elicitation={}), headers=one)
        session = {"mcp-session-id": begun.headers["mcp-session-id"]}
        statuses = [
            (await http.post("/mcp", json=PING, headers={**key, **session})).status_code for key in (two, one)
        ]
        ended = await http.delete("/mcp", headers={**one, **session})
        after = await http.post("/mcp", json=PING, headers={**one, **session})

    assert (statuses, ended.status_code, after.status_code) == ([404, 200], 200, 404)


@requirement("doors:project")
async def test_each_frame_of_a_session_carries_its_own_credentials_and_project(world: McpWorld) -> None:
    headers = {"X-Satchel-Project": "alpha", "Authorization": "Bearer sk_one"}
    async with (
        serving(world, ring=KEYS) as url,
        httpx2.AsyncClient(headers=headers, timeout=LIMIT_S) as http,
        Client(
            streamable_http_client(f"{url}/mcp", http_client=http), mode="legacy", elicitation_callback=agree
        ) as client,
    ):
        await client.call_tool("mira_store", {"content": "x", "wing": "w1"})

    assert world.store.requests[-1].project == "alpha"
    assert world.store.metadata[-1]["authorization"] == "Bearer sk_one"
