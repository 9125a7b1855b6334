"""Identities of agents at the doors, over a store that keeps them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from urllib.parse import quote

import grpc
import httpx2
import pytest
from contract.store.identity.asking import SOBER, TALK
from mcp import Client
from mcp_types import CallToolResult, TextContent
from unit.store.fakes import FakeEmbedder

from requirements import requirement
from satchel.api.store.v1 import identity_service_pb2 as pb
from satchel.api.store.v1 import identity_service_pb2_grpc as rpc
from satchel.gateway.app import build_app
from satchel.gateway.caller import Caller
from satchel.gateway.clients import Clients
from satchel.gateway.mcp.calls import ToolBox
from satchel.gateway.mcp.server import build_server
from satchel.gateway.mcp.soul import SOUL_TOOLS
from satchel.gateway.metrics import GatewayMetrics
from satchel.gateway.settings import GatewaySettings
from satchel.gateway.transcoder.descriptors import load_contract
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import default_chain
from satchel.runtime.interceptors.auth import authenticator_of
from satchel.runtime.keys import Key, KeyRing, KeySettings
from satchel.runtime.settings import Secret
from satchel.runtime.status import from_rpc_error
from satchel.runtime.tokens import count_tokens
from satchel.store.main import build
from satchel.store.settings import SoulSettings, StoreSettings

URL = "http://127.0.0.1:8080"
PATH = "/api/v1/identities/clara"


@asynccontextmanager
async def doors(
    *, enabled: bool = True
) -> AsyncIterator[tuple[httpx2.AsyncClient, Client, InProcessChannel]]:
    """Open REST, MCP and gRPC over one store."""
    store = build(StoreSettings(url="memory:"), soul=SoulSettings(enabled=enabled), embedder=FakeEmbedder())
    async with store as built, InProcessServer(default_chain()) as server:
        built.register(server)
        channel = InProcessChannel(server)
        clients = Clients.over(channel)
        caller = Caller(load_contract(), clients, GatewayMetrics(), timeout_s=10)
        transport = httpx2.ASGITransport(build_app(clients, GatewaySettings()))
        async with (
            httpx2.AsyncClient(transport=transport, base_url=URL) as http,
            Client(build_server(caller, clients)) as mcp,
        ):
            yield http, mcp, channel


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def call(mcp: Client, tool: str, **arguments: object) -> CallToolResult:
    result = await mcp.call_tool(tool, {"agent_id": "clara", **arguments})
    assert not result.is_error, text_of(result)
    return result


@requirement("soul:opt-in")
async def test_the_tools_are_listed_just_where_identities_are_kept() -> None:
    listed = {}
    for enabled in (True, False):
        async with doors(enabled=enabled) as (_, mcp, _):
            listed[enabled] = {tool.name for tool in (await mcp.list_tools()).tools}

    assert len(SOUL_TOOLS) == 8
    assert listed[True] - listed[False] == SOUL_TOOLS
    assert "mira_recall" in listed[False]


@requirement("soul:opt-in", "keys:rights")
@pytest.mark.parametrize("enabled", [True, False])
async def test_a_key_of_several_projects_is_shown_the_tools_just_where_identities_are_kept(
    enabled: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    keys = KeySettings(keys=(Key("two", Secret("sk_two"), "write", projects=("a", "b")),))
    caller_of = partial(Caller, load_contract(), metrics=GatewayMetrics(), timeout_s=10)
    store = build(StoreSettings(url="memory:"), soul=SoulSettings(enabled=enabled), embedder=FakeEmbedder())
    chain = default_chain(authenticator=authenticator_of(KeyRing(keys)))
    async with store as built, InProcessServer(chain) as guarded, InProcessServer(default_chain()) as own:
        built.register(guarded)
        built.register(own)
        clients = Clients.over(InProcessChannel(guarded))
        box = ToolBox(caller_of(clients=clients), clients, inside=Clients.over(InProcessChannel(own)))
        tools = {tool.name for tool in await box.listed({"authorization": "Bearer sk_two"})}
        nobodys = {tool.name for tool in await box.listed({})}

    assert SOUL_TOOLS & tools == (SOUL_TOOLS if enabled else set())
    assert not SOUL_TOOLS & nobodys


@requirement("soul:opt-in")
async def test_while_identities_are_off_every_door_says_how_to_switch_them_on() -> None:
    async with doors(enabled=False) as (http, mcp, _):
        answer = await http.get(f"{PATH}/status")
        result = await mcp.call_tool("soul_status", {"agent_id": "clara"})

    assert answer.status_code == 409
    assert answer.json()["reason"] == "ERROR_REASON_IDENTITIES_DISABLED"
    assert "--with-soul" in answer.json()["remedy"]
    assert result.is_error
    assert text_of(result) == answer.json()["error"]


@requirement("soul:tools")
async def test_an_agent_lives_through_the_eight_tools_with_the_arguments_of_miras_clients() -> None:
    async with doors() as (_, mcp, _):
        captured = await call(
            mcp,
            "soul_capture",
            conversation=TALK,
            model_id="model-a",
            session_id="s",
            behavioral_metrics='{"a": 1}',
        )
        recalled = await call(mcp, "soul_recall", context="", budget="120")
        patched = await call(mcp, "soul_patch", humor_level=0.9, uses_emojis=False, reason="asked to")
        updated = await call(mcp, "soul_update", directive="sois plus formel", reason="asked to")
        swapped = await call(mcp, "soul_swap", from_model="model-a", to_model="model-b")
        again = await call(mcp, "soul_capture", conversation=SOBER)
        drifted = await call(mcp, "soul_drift", window="10")
        status = await call(mcp, "soul_status")
        history = await call(mcp, "soul_history", limit=3)

    texts = [text_of(one) for one in (captured, patched, updated, swapped, again, drifted, status, history)]
    assert texts[0].startswith("Agent: clara\nVersion: 1\nModel: model-a\nConfidence: ")
    assert "Traits: 3" in texts[0]
    assert count_tokens(text_of(recalled)) <= 120
    assert text_of(recalled) == recalled.structured_content["prompt"]
    assert texts[1].startswith("Version 2 of clara:\n")
    assert "voice.uses_emojis: yes -> no" in texts[1]
    assert "voice.formality: " in texts[2]
    assert texts[3].startswith(
        "Version 4: model-a -> model-b\n\nYou are clara. Until now you ran on model-a;"
    )
    assert "Drift: " in texts[4]
    assert "Versions: 1 to 5" in texts[5]
    assert "model-a -> model-b" in texts[6]
    assert "5 [capture]" in texts[7]
    assert "page_token" in texts[7]


@requirement("soul:tools", "doors:same-errors")
@pytest.mark.parametrize(
    ("tool", "path", "arguments", "reason"),
    [
        ("soul_capture", "capture", {"conversation": "nobody speaks"}, "FIELD_PATTERN_MISMATCH"),
        ("soul_capture", "capture", {}, "FIELD_REQUIRED"),
        ("soul_recall", "recall", {"budget": -1}, "FIELD_OUT_OF_RANGE"),
        ("soul_recall", "recall", {"language": "de"}, "FIELD_UNKNOWN_ENUM_VALUE"),
        ("soul_recall", "recall", {}, "IDENTITY_NOT_FOUND"),
        ("soul_swap", "swap", {"from_model": "a", "to_model": "b"}, "IDENTITY_NOT_FOUND"),
        ("soul_swap", "swap", {"from_model": "a", "to_model": "a"}, "FIELDS_CONFLICT"),
        ("soul_update", "update", {"directive": "be better"}, "DIRECTIVE_NOT_UNDERSTOOD"),
        ("soul_patch", "", {}, "NOTHING_TO_CHANGE"),
        ("soul_patch", "", {"response_length": "endless"}, "FIELD_UNKNOWN_ENUM_VALUE"),
        ("soul_patch", "", {"loudness": 1}, "FIELD_UNKNOWN"),
    ],
)
async def test_a_bad_call_has_the_same_sentence_and_reason_at_every_door(
    tool: str, path: str, arguments: dict[str, object], reason: str
) -> None:
    async with doors() as (http, mcp, _):
        verb = "PATCH" if tool == "soul_patch" else "POST"
        answer = await http.request(verb, f"{PATH}/{path}".rstrip("/"), json=arguments)
        result = await mcp.call_tool(tool, {"agent_id": "clara", **arguments})
        listed = (await http.get("/api/v1/identities")).json()

    assert result.is_error
    assert answer.json()["reason"] == f"ERROR_REASON_{reason}" == result.structured_content["reason"]
    assert answer.json()["error"] == text_of(result)
    assert listed["identities"] == []


@requirement("soul:tools", "doors:same-bytes")
async def test_every_door_gives_the_same_identity() -> None:
    async with doors() as (http, mcp, channel):
        created = await http.post(f"{PATH}/capture", json={"conversation": TALK})
        rest = (await http.post(f"{PATH}/recall", json={"budget": 200})).json()
        tool = await call(mcp, "soul_recall", budget=200)
        request = pb.RecallIdentityRequest(agent_id="clara", budget=200)
        grpc_answer = await rpc.IdentityServiceStub(channel).RecallIdentity(request)

    assert created.status_code == 201
    assert rest == tool.structured_content
    assert rest["prompt"] == text_of(tool) == grpc_answer.prompt


@requirement("soul:tools")
async def test_the_routes_read_change_and_delete_an_identity() -> None:
    async with doors() as (http, _, _):
        patched = await http.patch(PATH, json={"humor_level": 1.7, "traits": [{"name": "curious"}]})
        await http.post(f"{PATH}/update", json={"directive": "be formal"})
        whole = (await http.get(PATH)).json()
        first = (await http.get(PATH, params={"version": 1})).json()
        history = (await http.get(f"{PATH}/history", params={"limit": 1})).json()
        older = (
            await http.get(f"{PATH}/history", params={"limit": 1, "page_token": history["next_page_token"]})
        ).json()
        drift = (await http.get(f"{PATH}/drift", params={"window": 2})).json()
        deleted = await http.delete(PATH)
        gone = await http.get(PATH)

    assert patched.json()["notes"] == ["The field 'humor_level' was 1.7 and was taken as 1."]
    assert (whole["version"], first["version"]) == (2, 1)
    assert (whole["voice"]["humor"], whole["cause"], whole["traits"][0]["category"]) == (
        1.0,
        "update",
        "epistemic",
    )
    assert [page["snapshots"][0]["version"] for page in (history, older)] == [2, 1]
    assert drift["drift"]["dimensions"][0]["dimension"] == "voice"
    assert (deleted.status_code, gone.status_code) == (204, 404)
    assert "patch its identity first" in gone.json()["error"]


@requirement("soul:agents")
@pytest.mark.parametrize("name", ["a/b", "../b", "%2f", "a%2Fb", "..a", "ünï ?#%", "日本"])
async def test_any_name_of_an_agent_works_in_an_address(name: str) -> None:
    path = f"/api/v1/identities/{quote(name, safe='')}"
    async with doors() as (http, _, _):
        await http.patch(path, json={"humor_level": 0.5})
        listed = (await http.get("/api/v1/identities")).json()
        status = (await http.get(f"{path}/status")).json()

    assert [one["agent_id"] for one in listed["identities"]] == [name]
    assert status["agent_id"] == name


@requirement("soul:agents")
@pytest.mark.parametrize("name", [".", "..", "...", ". ."])
async def test_a_name_that_no_address_can_hold_is_refused_by_every_door(name: str) -> None:
    async with doors() as (http, mcp, channel):
        over_rest = await http.patch(
            f"/api/v1/identities/{quote(name).replace('.', '%2E')}", json={"reason": "x"}
        )
        over_mcp = await mcp.call_tool("soul_patch", {"agent_id": name, "humor_level": 0.5})
        with pytest.raises(grpc.aio.AioRpcError) as over_grpc:
            await rpc.IdentityServiceStub(channel).PatchIdentity(pb.PatchIdentityRequest(agent_id=name))
        listed = (await http.get("/api/v1/identities")).json()

    refused = from_rpc_error(over_grpc.value)
    assert (refused.reason, refused.metadata["field"]) == ("ERROR_REASON_FIELD_PATTERN_MISMATCH", "agent_id")
    assert over_mcp.structured_content["reason"] == refused.reason
    assert "more than dots and blanks" in text_of(over_mcp)
    assert over_rest.status_code in {404, 422}  # some clients take the dots for a place of their own
    assert listed["identities"] == []


@requirement("soul:reads-the-agent")
async def test_messages_are_taken_as_json_and_as_a_text_of_json() -> None:
    messages = [{"role": "user", "content": "haha"}, {"role": "assistant", "content": "I wonder."}]
    async with doors() as (http, mcp, _):
        typed = await http.post(f"{PATH}/capture", json={"messages": messages})
        text = await call(mcp, "soul_capture", conversation=json.dumps(messages))

    assert typed.json()["observed_traits"] == ["curious"] == text.structured_content["observed_traits"]
