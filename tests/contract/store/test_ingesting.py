"""A conversation becomes memories: one a turn, in order, and once."""

import uuid
from typing import Any

import grpc
import pytest
from contract.store.backends import RunningStore
from contract.store.test_storing import refusal
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store.fakes import Client

from requirements import requirement
from satchel.api.store.v1 import ingest_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2 as memory_service
from satchel.api.types.v1 import memory_pb2

TALK = (
    pb.IngestMessage(role="system", content="You are a helpful assistant of the billing team."),
    pb.IngestMessage(role="user", name="Ana", content="Invoices go out on Mondays, before nine o'clock."),
    pb.IngestMessage(role="assistant", content="Noted: invoices go out on Mondays before nine."),
    pb.IngestMessage(role="user", content="Thanks!"),
    pb.IngestMessage(role="user", content="We moved the ledger to PostgreSQL last week."),
)
STORED, DUPLICATE = pb.INGEST_OUTCOME_STORED, pb.INGEST_OUTCOME_DUPLICATE
SHORT, ROLE = pb.INGEST_OUTCOME_SKIPPED_SHORT, pb.INGEST_OUTCOME_SKIPPED_ROLE


async def ingest(
    client: Client,
    *messages: pb.IngestMessage,
    **fields: Any,  # noqa: ANN401  # fields of a request
) -> pb.IngestMessagesResponse:
    chosen: dict[str, Any] = {"wing": "w", "session_id": "s", "messages": messages or TALK, **fields}
    return await client.ingest.IngestMessages(pb.IngestMessagesRequest(**chosen))


async def memories(client: Client) -> list[memory_pb2.Memory]:
    listed = await client.memories.ListMemories(memory_service.ListMemoriesRequest(page_size=1000))
    return sorted(listed.memories, key=lambda memory: memory.session_order)


def outcomes(done: pb.IngestMessagesResponse) -> list[int]:
    assert [one.index for one in done.results] == list(range(len(done.results)))
    return [one.outcome for one in done.results]


def counts(done: pb.IngestMessagesResponse) -> tuple[int, int, int]:
    return done.stored_count, done.skipped_count, done.duplicate_count


@requirement("ingest:turns")
async def test_each_turn_is_a_memory_with_its_speaker_in_the_order_of_the_talk(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        done = await ingest(client)
        kept = await memories(client)

    assert counts(done) == (2, 3, 0)
    assert [memory.id for memory in kept] == [one.id for one in done.results if one.id]
    assert [memory.content for memory in kept] == [
        "Ana: Invoices go out on Mondays, before nine o'clock.",
        "user: We moved the ledger to PostgreSQL last week.",
    ]
    assert dict(kept[0].metadata) == {"role": "user", "speaker": "Ana"}
    assert [(memory.session_id, memory.session_order) for memory in kept] == [("s", 1), ("s", 2)]
    assert done.revision == max(memory.revision for memory in kept)


@requirement("ingest:turns")
async def test_a_turn_keeps_its_time_and_its_place(running_store: RunningStore) -> None:
    turn = pb.IngestMessage(
        content="It rained all through the night.", timestamp=Timestamp(seconds=1_700_000_000, nanos=5000)
    )
    async with running_store() as client:
        await ingest(client, turn, room="weather", project="p")
        listed = await client.memories.ListMemories(memory_service.ListMemoriesRequest(project="p"))

    (memory,) = listed.memories
    assert (memory.room, memory.content) == ("weather", "user: It rained all through the night.")
    assert memory.occurred_at == turn.timestamp


@requirement("ingest:chosen")
async def test_short_turns_and_those_of_machines_are_passed_over_and_assistants_are_on_request(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        usual = outcomes(await ingest(client, dry_run=True))
        with_assistant = outcomes(await ingest(client, include_assistant=True, dry_run=True))
        with_short = outcomes(await ingest(client, min_length=1, dry_run=True))

    assert usual == [ROLE, STORED, ROLE, SHORT, STORED]
    assert with_assistant == [ROLE, STORED, STORED, SHORT, STORED]
    assert with_short == [ROLE, STORED, ROLE, STORED, STORED]


@requirement("ingest:chosen")
@pytest.mark.parametrize(
    ("content", "outcome"),
    [("x" * 19, SHORT), ("x" * 20, STORED), (f"  {'x' * 19}  ", SHORT), ("é" * 20, STORED), ("", SHORT)],
)
async def test_a_turn_is_long_enough_from_twenty_code_points_on(
    running_store: RunningStore, content: str, outcome: int
) -> None:
    async with running_store() as client:
        assert outcomes(await ingest(client, pb.IngestMessage(content=content))) == [outcome]


@requirement("ingest:chosen")
async def test_a_talk_without_a_turn_worth_keeping_stores_nothing(running_store: RunningStore) -> None:
    async with running_store() as client:
        done = await ingest(client, *TALK[:1], request_id=str(uuid.uuid4()))

        assert (counts(done), done.revision) == ((0, 1, 0), 0)
        assert await memories(client) == []


@requirement("ingest:again")
async def test_a_second_ingest_adds_nothing_and_a_longer_talk_only_its_new_turns(
    running_store: RunningStore,
) -> None:
    more = pb.IngestMessage(role="user", content="The old ledger is switched off in June.")
    async with running_store() as client:
        first = await ingest(client)
        again = await ingest(client)
        longer = await ingest(client, *TALK, more)
        kept = await memories(client)

    assert counts(again) == (0, 3, 2)
    assert [one.id for one in again.results] == [one.id for one in first.results]
    assert counts(longer) == (1, 3, 2)
    assert [memory.content for memory in kept][-1] == f"user: {more.content}"
    assert len(kept) == 3


@requirement("ingest:again")
async def test_equal_words_are_one_memory_in_a_session_and_two_in_two_sessions(
    running_store: RunningStore,
) -> None:
    twice = [TALK[1], TALK[4], TALK[1]]
    async with running_store() as client:
        looked = await ingest(client, *twice, dry_run=True)
        done = await ingest(client, *twice)
        elsewhere = await ingest(client, *twice, session_id="other")

    assert outcomes(looked) == outcomes(done) == [STORED, STORED, DUPLICATE]
    assert done.results[2].id == done.results[0].id
    assert counts(elsewhere) == (2, 0, 1)


@requirement("ingest:again", "store:request-id")
async def test_a_retry_with_its_request_id_gets_the_first_answer(running_store: RunningStore) -> None:
    request_id = str(uuid.uuid4())
    async with running_store() as client:
        first = await ingest(client, request_id=request_id)
        again = await ingest(client, request_id=request_id)
        code, reason, _ = await refusal(ingest(client, request_id=request_id, room="other"))

    assert again == first
    assert (code, reason) == (grpc.StatusCode.FAILED_PRECONDITION, "REQUEST_ID_REUSED")


@requirement("ingest:counted-first")
async def test_a_dry_run_tells_what_would_be_stored_and_stores_nothing(running_store: RunningStore) -> None:
    async with running_store() as client:
        looked = await ingest(client, dry_run=True)
        empty = await memories(client)
        done = await ingest(client)
        looked_again = await ingest(client, dry_run=True)

    assert empty == []
    assert (counts(looked), looked.revision, {one.id for one in looked.results}) == ((2, 3, 0), 0, {""})
    assert (outcomes(looked), counts(looked_again)) == (outcomes(done), (0, 3, 2))


@requirement("ingest:turns")
async def test_more_than_a_thousand_turns_are_refused_and_a_thousand_are_stored(
    running_store: RunningStore,
) -> None:
    turns = [pb.IngestMessage(content=f"This is turn number {n} of a long talk.") for n in range(1001)]
    async with running_store() as client:
        code, reason, metadata = await refusal(ingest(client, *turns))
        done = await ingest(client, *turns[:1000])

    assert (code, reason, metadata["field"]) == (
        grpc.StatusCode.INVALID_ARGUMENT, "TOO_MANY_ITEMS", "messages",
    )  # fmt: skip
    assert counts(done) == (1000, 0, 0)


@requirement("ingest:turns")
async def test_a_bad_turn_is_named_with_its_index_and_none_is_stored(running_store: RunningStore) -> None:
    bad = pb.IngestMessage(content="Some time in the far future.", timestamp=Timestamp(seconds=10**12))
    async with running_store() as client:
        code, reason, metadata = await refusal(ingest(client, *TALK, bad))

        assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "FIELD_OUT_OF_RANGE")
        assert metadata["field"] == "messages[5].timestamp"
        assert await memories(client) == []


@requirement("ingest:turns")
async def test_the_longest_turn_fits_with_the_longest_name(running_store: RunningStore) -> None:
    turn = pb.IngestMessage(name="n" * 200, content="word " * 13_000)
    async with running_store() as client:
        assert counts(await ingest(client, turn)) == (1, 0, 0)
