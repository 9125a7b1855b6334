"""What a session was given, relative times, and boosts that are switched off, over stand-ins."""

from typing import TYPE_CHECKING

import grpc
import pytest

from requirements import requirement
from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.runtime.errors import RemoteError
from satchel.runtime.status import from_rpc_error

from .peers import World, memory, memory_id

if TYPE_CHECKING:
    from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceAsyncStub

TEXTS = [f"The billing database number {name} is in use." for name in ("one", "two", "three", "four")]


def ids(reply: pb.RecallResponse) -> set[str]:
    return {one.id for one in reply.memories}


@requirement("recall:skip-given")
async def test_a_session_is_given_by_choice_only_what_it_was_not_given_before(
    world: World, allocator: "AllocatorServiceAsyncStub"
) -> None:
    world.memories += [memory(number, text) for number, text in enumerate(TEXTS)]
    request = pb.RecallRequest(query="billing database", budget=55, session_id="talk", skip_given=True)
    request.options.duplicate_similarity = 1
    first, second, other = (
        await allocator.Recall(request),
        await allocator.Recall(request),
        pb.RecallRequest(),
    )
    other.CopyFrom(request)
    other.session_id = "another"
    assert ids(first) and ids(second)  # noqa: PT018  # one promise: something both times
    assert not ids(first) & ids(second)
    assert second.receipt.notes == [f"Left out, for the session was given them before: {len(ids(first))}."]
    assert ids(await allocator.Recall(other)) == ids(first)


@requirement("recall:skip-given")
async def test_a_session_that_does_not_ask_for_it_is_given_the_same_again(
    world: World, allocator: "AllocatorServiceAsyncStub"
) -> None:
    world.memories += [memory(number, text) for number, text in enumerate(TEXTS)]
    request = pb.RecallRequest(query="billing database", session_id="talk")
    assert (await allocator.Recall(request)).context == (await allocator.Recall(request)).context


@requirement("recall:skip-given")
async def test_a_changed_text_is_given_again(world: World, allocator: "AllocatorServiceAsyncStub") -> None:
    world.memories.append(memory(1, TEXTS[0]))
    request = pb.RecallRequest(query="billing database", session_id="talk", skip_given=True)
    await allocator.Recall(request)
    assert not ids(await allocator.Recall(request))
    world.memories[0].content = "The billing database number one moved."
    assert ids(await allocator.Recall(request)) == {memory_id(1)}


@requirement("recall:skip-given")
async def test_leaving_out_what_was_given_needs_a_session(allocator: "AllocatorServiceAsyncStub") -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await allocator.Recall(pb.RecallRequest(query="x", skip_given=True))
    error = from_rpc_error(caught.value)
    assert isinstance(error, RemoteError)
    assert (error.reason, error.metadata["field"]) == ("ERROR_REASON_FIELD_REQUIRED", "session_id")


@requirement("recall:dates")
async def test_relative_times_are_resolved_where_a_question_asks_when_and_fit_the_budget(
    world: World, allocator: "AllocatorServiceAsyncStub"
) -> None:
    world.memories.append(memory(1, "We moved the billing database last Friday."))
    note = "\n(last friday: 10 November 2023)\n"
    when = await allocator.Recall(pb.RecallRequest(query="When did the billing database move?"))
    where = await allocator.Recall(pb.RecallRequest(query="Where did the billing database move?"))
    assert "We moved the billing database last Friday." + note in when.context
    assert note not in where.context
    assert when.total_tokens > where.total_tokens
    tight = await allocator.Recall(
        pb.RecallRequest(query="When did the billing database move?", budget=when.total_tokens - 1)
    )
    assert tight.total_tokens < when.total_tokens


@requirement("recall:boosts")
async def test_a_boost_that_a_request_switches_off_changes_nothing(
    world: World, allocator: "AllocatorServiceAsyncStub"
) -> None:
    world.memories += [
        memory(1, "Ann: the billing database?", session_id="s", session_order=1),
        memory(2, "Ann: it moved in June 2023", session_id="s", session_order=2),
        memory(3, "The billing database is old."),
    ]
    request = pb.RecallRequest(query="When did Ann say the billing database moved?", explain=True)
    boosted = await allocator.Recall(request)
    request.options.disabled_boosts.extend([n for n in pb.Boost.values() if n != pb.BOOST_UNSPECIFIED])
    plain = await allocator.Recall(request)
    names = [f.name for f in pb.CandidateExplanation.DESCRIPTOR.fields if f.name.endswith("_boost")]
    assert len(names) == len(pb.Boost.values()) - 1
    assert all(any(getattr(one, name) for one in boosted.explanations) for name in names)
    assert not any(getattr(one, name) for one in plain.explanations for name in names)
