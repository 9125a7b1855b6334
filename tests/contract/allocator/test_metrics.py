"""What the allocator counts of recalls and searches."""

from typing import TYPE_CHECKING

import grpc
import pytest
from exposition import Growth, scrape

from requirements import requirement
from satchel.api.allocator.v1 import allocator_service_pb2 as pb

from .peers import World, memory

if TYPE_CHECKING:
    from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceAsyncStub


def fill(world: World) -> None:
    world.memories += [memory(number, f"Fact {number} about billing.", day=number) for number in range(3)]


@requirement("metrics:parts")
async def test_a_recall_tells_its_stages_its_candidates_and_its_budget(
    world: World, allocator: "AllocatorServiceAsyncStub"
) -> None:
    fill(world)
    before = await scrape()

    reply = await allocator.Recall(pb.RecallRequest(query="billing", budget=100))

    grown = Growth(before, await scrape())
    for stage in ("embed", "dense", "lexical", "fetch", "rank", "allocate"):
        assert (stage, grown.of("satchel_allocator_stage_seconds_count", stage=stage)) == (stage, 1)
    assert grown.of("satchel_allocator_candidates_sum") == reply.receipt.candidate_count
    assert grown.of("satchel_allocator_budget_used_ratio_sum") == pytest.approx(reply.total_tokens / 100)
    assert grown.of("mira_recall_selected_total") == len(reply.memories)
    assert grown.of("satchel_allocator_degraded_total") == 0


@requirement("metrics:parts")
async def test_what_lacks_a_part_finds_nothing_or_falls_back_is_told(
    world: World, allocator: "AllocatorServiceAsyncStub"
) -> None:
    before = await scrape()
    world.break_down("embedder")

    await allocator.Recall(pb.RecallRequest(query="anything"))
    await allocator.SearchMemories(pb.SearchMemoriesRequest(query="anything"))

    grown = Growth(before, await scrape())
    assert grown.of("satchel_allocator_degraded_total", part="embedder") == 2
    assert grown.of("satchel_allocator_empty_recalls_total") == 1


@requirement("metrics:miras-names")
async def test_a_recall_that_fails_counts_as_a_recall_and_as_a_failed_call(
    world: World, allocator: "AllocatorServiceAsyncStub"
) -> None:
    world.break_down("store")
    before = await scrape()

    with pytest.raises(grpc.aio.AioRpcError):
        await allocator.Recall(pb.RecallRequest(query="billing"))

    grown = Growth(before, await scrape())
    assert grown.of("mira_recall_total") == 1
    assert grown.of("mira_recall_duration_seconds_count") == 1
    assert grown.of("mira_errors_total") == 1
