"""What `Allocate` promises in its contract: pure, exact, and clear about bad input."""

from typing import TYPE_CHECKING

import grpc
import numpy as np
import pytest

from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.runtime.errors import Code
from satchel.runtime.status import from_rpc_error
from satchel.runtime.tokens import count_tokens

from .peers import World

if TYPE_CHECKING:
    from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceAsyncStub


def packed(*values: float) -> bytes:
    return np.array(values, dtype="<f4").tobytes()


async def test_the_callers_candidates_are_packed_without_any_other_service(
    world: World, allocator: "AllocatorServiceAsyncStub"
) -> None:
    request = pb.AllocateRequest(
        candidates=[
            pb.Candidate(id="a", content="We use Go.", relevance=0.9),
            pb.Candidate(id="b", content="Ports start at 9000.", relevance=0.8),
        ],
        budget=50,
    )
    reply = await allocator.Allocate(request)
    assert [one.id for one in reply.memories] == ["a", "b"]
    assert count_tokens(reply.context) == reply.total_tokens <= 50
    assert world.calls == []
    assert reply == await allocator.Allocate(request)


async def test_no_candidates_give_an_empty_context(allocator: "AllocatorServiceAsyncStub") -> None:
    reply = await allocator.Allocate(pb.AllocateRequest())
    assert (reply.context, reply.receipt.budget) == ("", 4000)


async def test_near_duplicates_collapse_where_there_are_vectors(
    allocator: "AllocatorServiceAsyncStub",
) -> None:
    request = pb.AllocateRequest(
        candidates=[
            pb.Candidate(id="worse", content="We use Go!", relevance=0.7, vector=packed(3, 0.1)),
            pb.Candidate(id="better", content="We use Go.", relevance=0.9, vector=packed(1, 0)),
        ],
        explain=True,
    )
    reply = await allocator.Allocate(request)
    assert [one.id for one in reply.memories] == ["better"]
    request.options.duplicate_similarity = 1
    assert len((await allocator.Allocate(request)).memories) == 2


async def test_ages_count_from_the_latest_candidate(allocator: "AllocatorServiceAsyncStub") -> None:
    old, new = (
        pb.Candidate(id="old", content="x", relevance=0.5),
        pb.Candidate(id="new", content="y", relevance=0.5),
    )
    old.occurred_at.FromSeconds(0)
    new.occurred_at.FromSeconds(864_000)
    reply = await allocator.Allocate(
        pb.AllocateRequest(candidates=[old, new], strategy=pb.STRATEGY_CBA, explain=True)
    )
    ages = {one.id: one.age for one in reply.explanations}
    assert ages["new"] == 1.0
    assert ages["old"] == pytest.approx(np.exp(-1))


async def test_large_candidates_are_packed_on_a_thread(allocator: "AllocatorServiceAsyncStub") -> None:
    texts = [f"{number} " + "word " * 13_000 for number in range(5)]
    reply = await allocator.Allocate(
        pb.AllocateRequest(
            candidates=[
                pb.Candidate(id=str(number), content=text[:65_536], relevance=0.5)
                for number, text in enumerate(texts)
            ],
            budget=30_000,
        )
    )
    assert len(reply.memories) >= 2
    assert count_tokens(reply.context) == reply.total_tokens <= 30_000


@pytest.mark.parametrize(
    ("candidates", "reason", "field"),
    [
        (
            [pb.Candidate(id="a", content="x", vector=b"123")],
            "ERROR_REASON_VECTOR_MALFORMED",
            "candidates[0].vector",
        ),
        (
            [pb.Candidate(id="a", content="x", vector=packed(float("nan")))],
            "ERROR_REASON_VECTOR_MALFORMED",
            "candidates[0].vector",
        ),
        (
            [
                pb.Candidate(id="a", content="x", vector=packed(1, 0)),
                pb.Candidate(id="b", content="x", vector=packed(1)),
            ],
            "ERROR_REASON_DIMENSION_MISMATCH",
            "candidates[1].vector",
        ),
        (
            [pb.Candidate(id="a", content="x"), pb.Candidate(id="a", content="y")],
            "ERROR_REASON_FIELDS_CONFLICT",
            "candidates[1].id",
        ),
    ],
)
async def test_bad_candidates_are_refused_by_field(
    allocator: "AllocatorServiceAsyncStub", candidates: list[pb.Candidate], reason: str, field: str
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await allocator.Allocate(pb.AllocateRequest(candidates=candidates))
    error = from_rpc_error(failure.value)
    assert (error.code, error.reason, error.metadata["field"]) == (Code.INVALID_ARGUMENT, reason, field)
