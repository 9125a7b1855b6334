"""What the settings of the allocator change in a recall."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from requirements import requirement
from satchel.allocator.main import build
from satchel.allocator.settings import AllocatorSettings
from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceStub
from satchel.runtime.inprocess import InProcessChannel, InProcessServer

from .peers import World, memory, memory_id, register

if TYPE_CHECKING:
    from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceAsyncStub


@asynccontextmanager
async def opened(world: World, settings: AllocatorSettings) -> AsyncIterator["AllocatorServiceAsyncStub"]:
    server = InProcessServer()
    register(world, server)
    channel = InProcessChannel(server)
    async with build(
        settings, embedder_channel=channel, index_channel=channel, store_channel=channel
    ) as built:
        built.register(server)
        yield AllocatorServiceStub(channel)


@requirement("config:effective")
async def test_words_need_not_be_searched(world: World) -> None:
    world.memories += [memory(0, "We chose PostgreSQL for billing.")]
    async with opened(world, AllocatorSettings(lexical=False)) as allocator:
        recalled = await allocator.Recall(pb.RecallRequest(query="billing"))
        found = await allocator.SearchMemories(pb.SearchMemoriesRequest(query="billing"))

    assert "store.SearchText" not in world.calls
    assert [one.id for one in recalled.memories] == [one.id for one in found.results] == [memory_id(0)]
    assert list(recalled.receipt.degraded) == []


@requirement("config:effective", "recall:degraded")
async def test_words_are_searched_all_the_same_where_the_embedder_does_not_answer(world: World) -> None:
    world.memories += [memory(0, "We chose PostgreSQL for billing.")]
    world.break_down("embedder")
    async with opened(world, AllocatorSettings(lexical=False)) as allocator:
        recalled = await allocator.Recall(pb.RecallRequest(query="billing"))

    assert [one.id for one in recalled.memories] == [memory_id(0)]
    assert list(recalled.receipt.degraded) == [pb.PART_EMBEDDER]


@requirement("config:effective")
@pytest.mark.parametrize("budget", [100, 4000, 100_000])
async def test_the_candidates_of_a_recall_can_be_bounded_whatever_the_budget(
    world: World, budget: int
) -> None:
    """The four settings are those that MIRA's key ``allocator.max_candidates`` sets."""
    world.memories += [memory(number, f"Ship {number} carries grain.") for number in range(40)]
    settings = AllocatorSettings(
        lexical=False,
        neighbor_count=0,
        max_candidates=5,
        most_candidates=5,
        dense_depth=5,
        tokens_per_candidate=100_000,
    )
    async with opened(world, settings) as allocator:
        recalled = await allocator.Recall(pb.RecallRequest(query="grain", budget=budget, explain=True))

    assert world.requests["index.SearchVectors"].top_k == 5
    assert len(recalled.explanations) <= 5
