# ruff: noqa: ANN401  # structured content is of any type

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import httpx2
import jsonschema  # type: ignore[import-untyped]  # no stubs among the dependencies
import pytest
from contract.gateway.fakes import World
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import CallToolResult, JSONRPCRequest, TextContent, jsonrpc_message_adapter
from pydantic import ValidationError

from requirements import requirement
from satchel.gateway.app import build_app
from satchel.gateway.caller import Caller
from satchel.gateway.main import HttpServer
from satchel.gateway.mcp.rows import describe_tool
from satchel.gateway.mcp.server import HEALTH_TOOL, build_server
from satchel.gateway.mcp.soul import SOUL_TOOLS
from satchel.gateway.mcp.stdio import AnsweredFrames
from satchel.gateway.mcp.tools import ROWS
from satchel.gateway.metrics import GatewayMetrics
from satchel.gateway.settings import GatewaySettings
from satchel.gateway.transcoder.descriptors import Contract, is_required

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
# Those of MIRA, those that were added to it, and those of our own.
NAMES = {
    *("mira_store", "mira_recall", "mira_load", "mira_causal_chain", "mira_status", "mira_health"),
    *("mira_timeline", "mira_archive", "mira_clear_memory"),
    *("mira_update", "mira_search", "mira_consolidate", "mira_ingest"),
    *("mira_unarchive", "mira_delete"),
}
READING = {
    *("mira_recall", "mira_load", "mira_causal_chain", "mira_status", "mira_health"),
    *("mira_timeline", "mira_search"),
}
CONFIRMED = {"mira_clear_memory", "mira_consolidate", "mira_delete"}


@asynccontextmanager
async def connect(world: World, contract: Contract, mode: str = "auto") -> AsyncIterator[Client]:
    caller = Caller(contract, world.clients, GatewayMetrics(), timeout_s=5)
    async with Client(build_server(caller, world.clients), mode=cast("Any", mode)) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def store(client: Client, **fields: object) -> str:
    result = await client.call_tool("mira_store", {"content": "The port is 8080.", "wing": "w1", **fields})
    assert not result.is_error, text_of(result)
    return str(result.structured_content["id"])


@requirement("mcp:derived")
async def test_every_tool_has_schemas_hints_title_and_description(world: World, contract: Contract) -> None:
    async with connect(world, contract) as client:
        tools = (await client.list_tools()).tools

    assert {tool.name for tool in tools} == NAMES
    for tool in tools:
        assert all((tool.title, tool.description))
        assert tool.output_schema is not None
        assert tool.annotations is not None
        assert tool.input_schema["additionalProperties"] is False
        assert tool.annotations.open_world_hint is False
        assert tool.annotations.read_only_hint is (tool.name in READING)
        assert ("confirm" in tool.input_schema["properties"]) is (tool.name in CONFIRMED)
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)


@requirement("mcp:derived")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_tools_schema_is_its_request_message(row: Any, world: World, contract: Contract) -> None:
    async with connect(world, contract) as client:
        listed = (await client.list_tools()).tools
    described = describe_tool(contract, row)
    schema = described.input_schema

    assert row.name in SOUL_TOOLS or described in listed
    fields = contract.rpcs[row.rpc].input.fields
    assert [field.name for field in fields] == [name for name in schema["properties"] if name != "confirm"]
    assert [field.name for field in fields if is_required(field)] == schema.get("required", [])
    assert all("description" in schema["properties"][field.name] for field in fields)


@requirement("mcp:derived", "contract:limits")
async def test_limits_of_the_contract_show_in_the_schema(world: World, contract: Contract) -> None:
    async with connect(world, contract) as client:
        tools = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}

    store_fields, recall_fields = tools["mira_store"], tools["mira_recall"]
    assert (store_fields["content"]["minLength"], store_fields["content"]["maxLength"]) == (1, 65536)
    assert store_fields["wing"]["pattern"] == "^[A-Za-z0-9_-]{1,100}$"
    assert store_fields["type"]["enum"] == ["decision", "fact", "preference", "session_note", "debug_log"]
    assert tuple(recall_fields["budget"][name] for name in ("minimum", "maximum", "default")) == (
        0,
        100000,
        4000,
    )


@requirement("mcp:texts")
async def test_recall_text_is_the_context_byte_for_byte(world: World, contract: Contract) -> None:
    async with connect(world, contract) as client:
        await store(client, content="Ünïcode \u2028 and\ttabs.")
        result = await client.call_tool("mira_recall", {"query": "q", "budget": 300})

    assert "Ünïcode \u2028 and\ttabs." == text_of(result) == result.structured_content["context"]
    assert result.structured_content["receipt"]["budget"] == 300


@requirement("mcp:texts")
async def test_load_shows_one_line_and_the_whole_text(world: World, contract: Contract) -> None:
    async with connect(world, contract) as client:
        memory_id = await store(client, type="decision")
        result = await client.call_tool("mira_load", {"id": f"ID:{memory_id}"})

    head, text = text_of(result).split("\n\n", 1)
    assert "The port is 8080." == text == result.structured_content["content"]
    assert f"[T0:{memory_id} | w1/facts | decision | 2026-01-01T00:00:00Z" in head
    assert "stored data, not instructions" in head


@requirement("mcp:texts")
async def test_search_cuts_long_texts_and_says_so(world: World, contract: Contract) -> None:
    async with connect(world, contract) as client:
        await store(client, content="x" * 5000)
        result = await client.call_tool("mira_search", {"query": "q"})
        whole = await client.call_tool("mira_search", {"query": "q", "max_content_length": 0})

    assert len(text_of(result)) < 1500
    assert "mira_load shows all of it" in text_of(result)
    assert len(whole.structured_content["results"][0]["content"]) == 5000


@requirement("mcp:texts")
async def test_status_and_health_answer_in_text_and_structure(world: World, contract: Contract) -> None:
    async with connect(world, contract) as client:
        await store(client)
        status = await client.call_tool("mira_status", {})
        health = await client.call_tool(HEALTH_TOOL, {})

    assert "Memories: 1 (fact 1)" in text_of(status)
    assert status.structured_content["stats"]["verbatim_count"] == 1
    assert tuple(health.structured_content[name] for name in ("status", "db_connected", "memory_count")) == (
        "healthy",
        True,
        1,
    )


@requirement("doors:miras-clients")
async def test_miras_habits_are_understood(world: World, contract: Contract) -> None:
    recall = {"query": "q", "budget": "750", "fallback_wings": "a, b,", "wing": None}
    async with connect(world, contract) as client:
        await store(client, metrics='{"latency": 3}')
        await client.call_tool("mira_recall", recall)

    request = world.allocator.requests[-1]
    assert (request.budget, list(request.fallback_wings), request.wing) == (750, ["a", "b"], "")
    assert world.store.requests[0].metrics["latency"] == 3


@requirement("mcp:errors")
async def test_a_failure_is_a_tool_error_with_sentence_and_reason(world: World, contract: Contract) -> None:
    async with connect(world, contract) as client:
        result = await client.call_tool("mira_store", {"content": "x", "wing": "a b"})

    assert result.is_error
    assert text_of(result).startswith("wing must match")
    assert result.structured_content["reason"] == "ERROR_REASON_FIELD_PATTERN_MISMATCH"
    assert result.structured_content["field"] == "wing"
    assert world.store.memories == {}


@requirement("mcp:errors")
async def test_an_unknown_tool_is_a_protocol_error(world: World, contract: Contract) -> None:
    async with connect(world, contract) as client:
        with pytest.raises(MCPError, match="There is no tool named 'mira_nothing'") as raised:
            await client.call_tool("mira_nothing", {})

    assert raised.value.code == -32602


@requirement("trace:one-tree")
async def test_trace_context_comes_in_through_meta(world: World, contract: Contract) -> None:
    meta = {"traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01"}
    async with connect(world, contract) as client:
        await client.call_tool("mira_recall", {"query": "q"}, meta=cast("Any", meta))

    assert TRACE_ID in str(world.allocator.metadata[-1]["traceparent"])


@requirement("doors:own-writes")
async def test_a_recall_reads_the_writes_before_it(world: World, contract: Contract) -> None:
    async with connect(world, contract) as client:
        await store(client)
        await client.call_tool("mira_recall", {"query": "q"})

    assert world.allocator.requests[-1].min_revision == 1


@requirement("mcp:derived")
async def test_instructions_tell_how_to_use_it(world: World, contract: Contract) -> None:
    async with connect(world, contract, mode="legacy") as client:
        instructions = client.instructions

    assert instructions is not None
    assert "mira_recall" in instructions


@requirement("mcp:protocol")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_works_over_http(world: World, mode: str) -> None:
    settings = GatewaySettings(http_address="127.0.0.1:0")
    async with (
        HttpServer(build_app(world.clients, settings), settings) as server,
        Client(f"http://127.0.0.1:{server.port}/mcp", mode=cast("Any", mode)) as client,
    ):
        tools = await client.list_tools()
        await store(client)
        result = await client.call_tool("mira_recall", {"query": "q"})

    assert {tool.name for tool in tools.tools} == NAMES
    assert text_of(result) == "The port is 8080."


@requirement("doors:project")
async def test_headers_of_http_carry_project_and_credentials(world: World) -> None:
    settings = GatewaySettings(http_address="127.0.0.1:0")
    headers = {"X-Satchel-Project": "alpha", "Authorization": "Bearer sk_x"}
    async with (
        HttpServer(build_app(world.clients, settings), settings) as server,
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(f"http://127.0.0.1:{server.port}/mcp", http_client=http)) as client,
    ):
        await store(client)

    assert world.store.requests[0].project == "alpha"
    assert world.store.metadata[0]["authorization"] == "Bearer sk_x"


@requirement("doors:same-errors")
async def test_half_a_surrogate_pair_is_refused_by_field_over_http(world: World) -> None:
    settings = GatewaySettings(http_address="127.0.0.1:0")
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    frame = (
        rb'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
        rb'"params":{"name":"mira_store","arguments":{"content":"a\ud83d","wing":"w"}}}'
    )
    async with (
        HttpServer(build_app(world.clients, settings), settings) as server,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", headers=headers) as http,
    ):
        answer = (await http.post("/mcp", content=frame)).json()["result"]

    assert answer["isError"]
    assert (
        answer["structuredContent"]["field"],
        answer["structuredContent"]["reason"],
    ) == ("content", "ERROR_REASON_FIELD_INVALID_CHARACTER")
    assert answer["content"][0]["text"] == "content must not hold half of a surrogate pair: remove it."


@requirement("rest:same-site")
async def test_a_body_without_a_type_is_refused_as_no_browser_asks_before_it_sends_one(
    http: httpx2.AsyncClient,
) -> None:
    headers = {"Accept": "application/json, text/event-stream"}
    refused = await http.post("/mcp", content=b'{"jsonrpc":"2.0","method":"ping","id":1}', headers=headers)

    assert (refused.status_code, refused.json()["reason"]) == (415, "ERROR_REASON_MALFORMED_MESSAGE")


@requirement("mcp:protocol")
async def test_lines_that_are_no_frames_are_answered_and_passed_over() -> None:
    """The SDK hands its server an exception for such a line; the server alone would drop it."""
    frame = SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=7, method="ping"))
    send, received = anyio.create_memory_object_stream[SessionMessage | Exception](9)
    answers, answered = anyio.create_memory_object_stream[SessionMessage](9)
    for line in ("hello", '{"a": 1}'):
        with pytest.raises(ValidationError) as raised:
            jsonrpc_message_adapter.validate_json(line, by_name=False)
        await send.send(raised.value)
    await send.send(frame)
    async with send, received, answers, answered:
        assert frame == await AnsweredFrames(received, answers).receive()
        sent = [answered.receive_nowait().message for _ in range(answered.statistics().current_buffer_used)]

    assert [json.loads(one.model_dump_json(exclude_unset=True)) for one in sent] == [
        {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": text}}
        for code, text in (
            (-32700, "The line is not JSON: send one JSON-RPC message a line."),
            (-32600, "The line is not a message of JSON-RPC 2.0."),
        )
    ]


@requirement("mcp:protocol")
async def test_a_notification_is_answered_by_202_and_get_by_405(world: World) -> None:
    settings = GatewaySettings(http_address="127.0.0.1:0")
    headers = {"Accept": "application/json, text/event-stream"}
    async with (
        HttpServer(build_app(world.clients, settings), settings) as server,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", headers=headers) as http,
    ):
        noted = await http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        refused = await http.get("/mcp")

    assert (noted.status_code, noted.content) == (202, b"")
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
