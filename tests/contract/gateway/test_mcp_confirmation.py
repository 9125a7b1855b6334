# ruff: noqa: ANN401  # structured content is of any type

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal, cast

import pytest
from contract.gateway.mcp_world import McpWorld, open_mcp_world
from mcp import Client
from mcp_types import CallToolResult, ElicitResult

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.gateway.caller import Caller
from satchel.gateway.mcp.server import build_server
from satchel.gateway.metrics import GatewayMetrics
from satchel.gateway.transcoder.descriptors import Contract

CLEAR = {"mode": "wing", "wing": "w1"}
# Of 2025-11-25, where the server asks, and of 2026-07-28, where the client calls again.
REVISIONS = ("legacy", "auto")
Action = Literal["accept", "decline", "cancel"]


@pytest.fixture
async def world() -> AsyncIterator[McpWorld]:
    async with open_mcp_world() as opened:
        for number in range(3):
            opened.store.keep(memory(f"Memory {number}."))
        yield opened


def memory(content: str) -> Any:
    return store_pb.StoreMemoryRequest(content=content, wing="w1")


class User:
    """Who is asked: remembers the questions, and answers; ``before`` runs before the answer."""

    def __init__(self, action: Action, before: Any = lambda: None, content: Any = None) -> None:
        self.questions: list[str] = []
        self._action = action
        self._before = before
        self._content = {"confirm": True} if content is None else content

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        del context
        self.questions.append(params.message)
        self._before()
        return ElicitResult(action=self._action, content=self._content if self._action == "accept" else None)


@asynccontextmanager
async def connect(
    world: McpWorld, contract: Contract, user: User | None = None, mode: str = "auto"
) -> AsyncIterator[Client]:
    caller = Caller(contract, world.clients, GatewayMetrics(), timeout_s=5)
    server = build_server(caller, world.clients)
    async with Client(server, mode=cast("Any", mode), elicitation_callback=user) as client:
        yield client


def text_of(result: CallToolResult) -> str:
    return str(getattr(result.content[0], "text", ""))


@requirement("mcp:confirmed")
async def test_without_consent_nothing_goes_and_the_error_says_how_many_would(
    world: McpWorld, contract: Contract
) -> None:
    async with connect(world, contract) as client:
        result = await client.call_tool("mira_clear_memory", CLEAR)

    assert (result.is_error, len(world.store.memories)) == (True, 3)
    assert result.structured_content["reason"] == "ERROR_REASON_CONFIRMATION_REQUIRED"
    assert text_of(result) == (
        "3 memories would be deleted for good. Ask your user, then call it again with confirm=true and "
        "expected_count=3."
    )


@requirement("mcp:confirmed")
async def test_with_the_argument_it_is_done(world: McpWorld, contract: Contract) -> None:
    async with connect(world, contract) as client:
        result = await client.call_tool("mira_clear_memory", {**CLEAR, "confirm": True, "expected_count": 3})

    assert text_of(result) == "Deleted: 3 memories (wing)"
    assert world.store.memories == {}


@requirement("mcp:confirmed")
async def test_a_dry_run_needs_no_consent(world: McpWorld, contract: Contract) -> None:
    user = User("decline")
    async with connect(world, contract, user) as client:
        result = await client.call_tool("mira_clear_memory", {**CLEAR, "dry_run": True})

    assert (user.questions, len(world.store.memories)) == ([], 3)
    assert text_of(result).endswith("Nothing was changed: this was a dry run.")


@requirement("mcp:confirmed")
async def test_where_nothing_would_go_nobody_is_asked(world: McpWorld, contract: Contract) -> None:
    world.store.memories.clear()
    user = User("decline")
    async with connect(world, contract, user) as client:
        result = await client.call_tool("mira_clear_memory", CLEAR)

    assert (user.questions, text_of(result)) == ([], "Deleted: 0 memories (wing)")


@requirement("mcp:confirmed")
@pytest.mark.parametrize("mode", REVISIONS)
async def test_a_user_who_agrees_is_told_how_many_and_no_others_go(
    world: McpWorld, contract: Contract, mode: str
) -> None:
    user = User("accept")
    async with connect(world, contract, user, mode) as client:
        result = await client.call_tool("mira_clear_memory", CLEAR)

    assert not result.is_error, text_of(result)
    assert user.questions == ["3 memories would be deleted for good."]
    assert (world.lifecycle.requests[-1].expected_count, world.store.memories) == (3, {})


@requirement("mcp:confirmed")
@pytest.mark.parametrize("mode", REVISIONS)
@pytest.mark.parametrize(
    ("action", "content"), [("decline", None), ("cancel", None), ("accept", {"confirm": False})]
)
async def test_a_user_who_does_not_agree_keeps_everything_whatever_the_model_says(
    world: McpWorld, contract: Contract, mode: str, action: Action, content: Any
) -> None:
    user = User(action, content=content)
    async with connect(world, contract, user, mode) as client:
        result = await client.call_tool("mira_clear_memory", {**CLEAR, "confirm": True})

    assert text_of(result).endswith("The user was asked and did not agree.")
    assert (len(user.questions), len(world.store.memories)) == (1, 3)


@requirement("mcp:confirmed")
@pytest.mark.parametrize("mode", REVISIONS)
async def test_what_is_stored_between_question_and_answer_is_not_deleted_unseen(
    world: McpWorld, contract: Contract, mode: str
) -> None:
    user = User("accept", before=lambda: world.store.keep(memory("Another.")))
    async with connect(world, contract, user, mode) as client:
        result = await client.call_tool("mira_clear_memory", CLEAR)

    assert result.structured_content["reason"] == "ERROR_REASON_COUNT_MISMATCH"
    assert len(world.store.memories) == 4


@requirement("mcp:confirmed")
@pytest.mark.parametrize("mode", REVISIONS)
async def test_one_memory_is_shown_before_it_is_deleted(
    world: McpWorld, contract: Contract, mode: str
) -> None:
    user, (first, *others) = User("accept"), list(world.store.memories)
    async with connect(world, contract, user, mode) as client:
        result = await client.call_tool("mira_delete", {"id": f"T0:{first}"})

    assert text_of(result) == f"Deleted: {first}"
    assert user.questions == [f'1 memory would be deleted for good: T0:{first} in w1/facts, "Memory 0.".']
    assert (list(world.store.memories), world.store.requests[-1].expected_version) == (others, 1)


@requirement("mcp:confirmed", "mcp:errors")
@pytest.mark.parametrize(
    ("wrong", "field", "reason"),
    [
        ({"confirm": "yes"}, "confirm", "ERROR_REASON_FIELD_WRONG_TYPE"),
        ({"conform": True}, "conform", "ERROR_REASON_FIELD_UNKNOWN"),
        ({"mode": "galaxy"}, "mode", "ERROR_REASON_FIELD_UNKNOWN_ENUM_VALUE"),
    ],
)
async def test_a_wrong_argument_is_told_before_anybody_is_asked(
    world: McpWorld, contract: Contract, wrong: dict[str, Any], field: str, reason: str
) -> None:
    user = User("accept")
    async with connect(world, contract, user) as client:
        result = await client.call_tool("mira_clear_memory", {**CLEAR, **wrong})

    assert [result.structured_content[name] for name in ("field", "reason")] == [field, reason]
    assert (user.questions, len(world.store.memories)) == ([], 3)
