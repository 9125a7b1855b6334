"""What `Allocate` promises in its contract: pure, exact, and clear about bad input."""

from typing import TYPE_CHECKING

import grpc
import numpy as np
import pytest

from requirements import requirement
from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.runtime.errors import Code
from satchel.runtime.status import from_rpc_error
from satchel.runtime.tokens import count_tokens

from .peers import World

if TYPE_CHECKING:
    from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceAsyncStub


def packed(*values: float) -> bytes:
    return np.array(values, dtype="<f4").tobytes()


@requirement("allocate:pure")
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


@requirement("recall:empty")
async def test_no_candidates_give_an_empty_context(allocator: "AllocatorServiceAsyncStub") -> None:
    reply = await allocator.Allocate(pb.AllocateRequest())
    assert (reply.context, reply.receipt.budget) == ("", 4000)


def duplicates(
    budget: int = 0, strategy: "pb.Strategy.ValueType" = pb.STRATEGY_UNSPECIFIED
) -> pb.AllocateRequest:
    """Two texts that say the same."""
    return pb.AllocateRequest(
        candidates=[
            pb.Candidate(id="worse", content="We use Go!", relevance=0.7, vector=packed(3, 0.1)),
            pb.Candidate(id="better", content="We use Go.", relevance=0.9, vector=packed(1, 0)),
        ],
        explain=True,
        budget=budget,
        strategy=strategy,
    )


@requirement("recall:duplicates")
async def test_near_duplicates_collapse_where_there_are_vectors(
    allocator: "AllocatorServiceAsyncStub",
) -> None:
    reply = await allocator.Allocate(duplicates(budget=20))
    assert [one.id for one in reply.memories] == ["better"]
    assert list(reply.receipt.notes) == [
        "1 memory was collapsed into a nearly equal one that is more relevant."
    ]
    request = duplicates(budget=100)
    request.options.duplicate_similarity = 1
    whole = await allocator.Allocate(request)
    assert (len(whole.memories), whole.receipt.collapsed_count) == (2, 0)


@requirement("recall:duplicates")
@pytest.mark.parametrize("strategy", [pb.STRATEGY_KNAPSACK, pb.STRATEGY_TOP])
async def test_near_duplicates_come_back_last_while_budget_is_left(
    allocator: "AllocatorServiceAsyncStub", strategy: "pb.Strategy.ValueType"
) -> None:
    request = duplicates(strategy=strategy)
    request.candidates.add(id="other", content="Lunch was late.", relevance=0.2)
    reply = await allocator.Allocate(request)
    assert [one.id for one in reply.memories] == ["better", "other", "worse"]
    assert reply.receipt.collapsed_count == 0
    assert "1 of them came back" in reply.receipt.notes[0]


@requirement("recall:duplicates", "recall:explained")
async def test_under_cba_near_duplicates_stay_collapsed_and_are_explained_in_figures(
    allocator: "AllocatorServiceAsyncStub",
) -> None:
    reply = await allocator.Allocate(duplicates(strategy=pb.STRATEGY_CBA))
    assert [one.id for one in reply.memories] == ["better"]
    gone = reply.explanations[1]
    assert (gone.outcome, gone.collapsed_into) == (pb.OUTCOME_COLLAPSED, "better")
    assert gone.token_cost == count_tokens("We use Go!\n")
    assert gone.overlap == pytest.approx(3 / np.hypot(3, 0.1))
    assert gone.density < 1


@requirement("recall:explained")
async def test_what_is_below_the_threshold_is_explained_with_its_cheapest_form(
    allocator: "AllocatorServiceAsyncStub",
) -> None:
    request = pb.AllocateRequest(
        candidates=[
            pb.Candidate(id="near", content="We use Go.", relevance=0.9),
            pb.Candidate(id="far", content="Lunch was late.", relevance=0.01),
        ],
        explain=True,
        options=pb.AllocationOptions(threshold_floor=0.15),
    )
    far = (await allocator.Allocate(request)).explanations[1]
    assert (far.outcome, far.token_cost) == (pb.OUTCOME_BELOW_THRESHOLD, count_tokens("Lunch was late.\n"))


@requirement("recall:bounds")
async def test_a_bound_that_a_request_names_moves_the_servers_other_bound(
    allocator: "AllocatorServiceAsyncStub",
) -> None:
    """The server's own are 0.15 and 0.75."""
    candidates = [pb.Candidate(id=str(n), content="We use Go.", relevance=0.9) for n in range(4)]
    for options, threshold in (
        (pb.AllocationOptions(threshold_ceiling=0.1), 0.1),
        (pb.AllocationOptions(threshold_floor=0.8), 0.8),
    ):
        reply = await allocator.Allocate(pb.AllocateRequest(candidates=candidates, options=options))
        assert reply.receipt.threshold == threshold


@requirement("allocate:pure")
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


@requirement("recall:calls-not-held-up")
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


@requirement("allocate:pure")
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
