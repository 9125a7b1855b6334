"""Small work is done at once, large work on a thread, so that it stalls no other call."""

import threading
from dataclasses import replace

import pytest

from requirements import requirement
from satchel.allocator.main import build
from satchel.allocator.settings import AllocatorSettings
from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceStub
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.tokens import count_tokens

from .peers import World, memory, register

FEW = 4
LONG = "word " * 5000


async def counting_threads(
    settings: AllocatorSettings, text: str, request: pb.RecallRequest | pb.AllocateRequest
) -> set[str]:
    """Return the kinds of threads on which a call over a few memories counted tokens."""
    used: set[str] = set()

    def count(piece: str) -> int:
        used.add(threading.current_thread().name.split("_")[0])
        return count_tokens(piece)

    world, server = World([memory(number, text) for number in range(FEW)]), InProcessServer()
    register(world, server)
    channel = InProcessChannel(server)
    async with build(
        settings, embedder_channel=channel, index_channel=channel, store_channel=channel, count=count
    ) as built:
        built.register(server)
        stub = AllocatorServiceStub(channel)
        await (stub.Recall(request) if isinstance(request, pb.RecallRequest) else stub.Allocate(request))
    return used


RECALL = pb.RecallRequest(query="billing", budget=100_000)


@requirement("recall:calls-not-held-up")
async def test_a_small_recall_uses_no_thread() -> None:
    assert await counting_threads(AllocatorSettings(), "Billing is up.", RECALL) == {"MainThread"}


@requirement("recall:calls-not-held-up")
@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (AllocatorSettings(), f"Billing\n{LONG}"),
        (AllocatorSettings(), LONG),
        (replace(AllocatorSettings(), inline_candidates=FEW - 1), "Billing is up."),
    ],
)
async def test_a_recall_of_long_texts_or_of_many_memories_works_on_a_thread(
    settings: AllocatorSettings, text: str
) -> None:
    assert await counting_threads(settings, text, RECALL) == {"allocator"}


@requirement("recall:calls-not-held-up")
@pytest.mark.parametrize(("size", "thread"), [(100, "MainThread"), (20_001, "allocator")])
async def test_candidates_of_a_caller_are_collapsed_and_packed_on_a_thread_from_a_small_size_on(
    size: int, thread: str
) -> None:
    request = pb.AllocateRequest(candidates=[pb.Candidate(id="a", content="x" * size, relevance=0.5)])
    assert await counting_threads(AllocatorSettings(), "x", request) == {thread}
