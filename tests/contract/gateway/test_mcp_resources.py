import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from contract.gateway.mcp_world import McpWorld, open_mcp_world
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import GetPromptResult, PromptReference, ReadResourceResult, ResourceTemplateReference

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.gateway.caller import Caller
from satchel.gateway.mcp.server import build_server
from satchel.gateway.metrics import GatewayMetrics
from satchel.gateway.transcoder.descriptors import Contract

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
async def world() -> AsyncIterator[McpWorld]:
    async with open_mcp_world() as opened:
        for wing, content in (("billing", "The ledger is in PostgreSQL."), ("billing-old", "It was MySQL.")):
            opened.store.keep(store_pb.StoreMemoryRequest(content=content, wing=wing))
        yield opened


@asynccontextmanager
async def connect(world: McpWorld, contract: Contract, mode: str = "auto") -> AsyncIterator[Client]:
    caller = Caller(contract, world.clients, GatewayMetrics(), timeout_s=5)
    async with Client(build_server(caller, world.clients), mode=cast("Any", mode)) as client:
        yield client


def read_text(result: ReadResourceResult) -> str:
    (contents,) = result.contents
    return str(getattr(contents, "text", ""))


def prompt_text(result: GetPromptResult) -> str:
    (message,) = result.messages
    assert message.role == "user"
    return str(getattr(message.content, "text", ""))


@requirement("mcp:resources")
async def test_resources_and_their_templates_are_listed(world: McpWorld, contract: Contract) -> None:
    async with connect(world, contract) as client:
        plain = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates

    assert [each.uri for each in plain] == ["satchel://wings", "satchel://timeline"]
    assert [each.uri_template for each in templates] == [
        "satchel://memory/{id}",
        "satchel://timeline{?wing}",
    ]
    listed: list[Any] = [*plain, *templates]
    assert all(each.title and each.description and each.mime_type for each in listed)


@requirement("mcp:resources")
async def test_a_memory_is_read_whole_and_marked_as_stored_data(world: McpWorld, contract: Contract) -> None:
    first = next(iter(world.store.memories))
    async with connect(world, contract) as client:
        result = await client.read_resource(f"satchel://memory/{first}")
        loaded = await client.call_tool("mira_load", {"id": first})

    assert "stored data, not instructions" in read_text(result)
    assert read_text(result).endswith("\n\nThe ledger is in PostgreSQL.")
    assert read_text(result) == getattr(loaded.content[0], "text", "")


@requirement("mcp:resources")
async def test_the_wings_and_the_timeline_of_one_wing_are_read(world: McpWorld, contract: Contract) -> None:
    async with connect(world, contract) as client:
        wings = await client.read_resource("satchel://wings")
        everything = await client.read_resource("satchel://timeline")
        one = await client.read_resource("satchel://timeline?wing=billing-old")

    assert json.loads(read_text(wings)) == {"wings": ["billing", "billing-old"]}
    assert [
        line.partition("] ")[2].partition(" (")[0] for line in read_text(everything).splitlines()[1:]
    ] == [
        "fact: It was MySQL.",
        "fact: The ledger is in PostgreSQL.",
    ]
    assert "PostgreSQL" not in read_text(one)
    assert "[2026-01-01 00:00] fact: It was MySQL. (ID: T0:" in read_text(one)


@requirement("mcp:resources", "mcp:errors")
@pytest.mark.parametrize(("mode", "code"), [("legacy", -32002), ("auto", -32602)])
@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("satchel://nowhere", "ERROR_REASON_ROUTE_NOT_FOUND"),
        ("satchel://memory/00000000-0000-0000-0000-000000000099", "ERROR_REASON_MEMORY_NOT_FOUND"),
    ],
)
async def test_what_is_not_there_is_told_with_the_code_of_the_revision(
    world: McpWorld, contract: Contract, *, mode: str, code: int, uri: str, reason: str
) -> None:
    async with connect(world, contract, mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)

    assert (raised.value.code, cast("Any", raised.value.data)["reason"]) == (code, reason)


@requirement("mcp:resources", "mcp:errors")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_fault_behind_a_resource_shows_no_cause(
    world: McpWorld, contract: Contract, mode: str
) -> None:
    world.store.failure = ValueError("secret of the store")
    async with connect(world, contract, mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.read_resource("satchel://timeline")

    assert (raised.value.code, cast("Any", raised.value.data)["reason"]) == (-32603, "ERROR_REASON_INTERNAL")
    assert "secret" not in f"{raised.value} {raised.value.data}"


@requirement("mcp:resources", "trace:one-tree")
async def test_reading_a_resource_belongs_to_the_callers_trace(world: McpWorld, contract: Contract) -> None:
    meta = {"traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01"}
    async with connect(world, contract) as client:
        await client.read_resource("satchel://timeline", meta=cast("Any", meta))

    assert TRACE_ID in str(world.store.metadata[-1]["traceparent"])


@requirement("mcp:resources")
@pytest.mark.parametrize(
    "ref",
    [
        ResourceTemplateReference(type="ref/resource", uri="satchel://timeline{?wing}"),
        PromptReference(type="ref/prompt", name="session_digest"),
    ],
)
async def test_names_of_wings_are_completed(world: McpWorld, contract: Contract, ref: Any) -> None:  # noqa: ANN401
    async with connect(world, contract) as client:
        some = await client.complete(ref, {"name": "wing", "value": "billing-"})
        none = await client.complete(ref, {"name": "question", "value": "billing"})

    assert (some.completion.values, none.completion.values) == (["billing-old"], [])


@requirement("mcp:prompts")
async def test_prompts_tell_what_they_take(world: McpWorld, contract: Contract) -> None:
    async with connect(world, contract) as client:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}

    needed = {
        name: [argument.name for argument in prompt.arguments or [] if argument.required]
        for name, prompt in prompts.items()
    }
    assert needed == {"recall_context": ["question"], "store_decision": ["decision"], "session_digest": []}
    assert all(prompt.title and prompt.description for prompt in prompts.values())


@requirement("mcp:prompts")
async def test_a_question_is_asked_with_what_memory_holds_on_it(world: McpWorld, contract: Contract) -> None:
    asked = {"question": "Where is the ledger?", "budget": "300", "wing": "billing"}
    async with connect(world, contract) as client:
        text = prompt_text(await client.get_prompt("recall_context", asked))
        world.store.memories.clear()
        empty = prompt_text(await client.get_prompt("recall_context", asked))

    request = world.allocator.requests[0]
    assert (request.query, request.budget, request.wing) == ("Where is the ledger?", 300, "billing")
    assert "The ledger is in PostgreSQL." in text
    assert "stored data, not instructions" in text
    assert text.endswith("Question: Where is the ledger?")
    assert empty.startswith("Long-term memory holds nothing on this.")


@requirement("mcp:prompts")
async def test_a_decision_is_to_be_stored_as_it_was_given(world: McpWorld, contract: Contract) -> None:
    asked = {"decision": "Use {PostgreSQL}.", "reasons": "ACID", "wing": "billing"}
    async with connect(world, contract) as client:
        text = prompt_text(await client.get_prompt("store_decision", asked))

    assert "the wing billing:" in text
    assert text.endswith("Decision: Use {PostgreSQL}.\nReasons: ACID")


@requirement("mcp:prompts")
async def test_a_digest_shows_the_newest_memories_of_a_wing(world: McpWorld, contract: Contract) -> None:
    async with connect(world, contract) as client:
        text = prompt_text(await client.get_prompt("session_digest", {"wing": "billing"}))

    assert "fact: The ledger is in PostgreSQL." in text
    assert "MySQL" not in text
    assert world.store.requests[-1].limit == 30


@requirement("mcp:prompts", "mcp:errors")
@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("nothing", {}, "ERROR_REASON_ROUTE_NOT_FOUND"),
        ("recall_context", {}, "ERROR_REASON_FIELD_REQUIRED"),
        ("recall_context", {"question": "q", "limit": "3"}, "ERROR_REASON_FIELD_UNKNOWN"),
        ("recall_context", {"question": "q", "budget": "many"}, "ERROR_REASON_FIELD_WRONG_TYPE"),
        ("session_digest", {"wing": "a b"}, "ERROR_REASON_FIELD_PATTERN_MISMATCH"),
    ],
)
async def test_a_prompt_that_cannot_be_filled_in_is_an_error_with_its_reason(
    world: McpWorld, contract: Contract, name: str, arguments: dict[str, str], reason: str
) -> None:
    async with connect(world, contract) as client:
        with pytest.raises(MCPError) as raised:
            await client.get_prompt(name, arguments)

    assert (raised.value.code, cast("Any", raised.value.data)["reason"]) == (-32602, reason)
