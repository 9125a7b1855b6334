"""What `ArchiveMemories`, `UnarchiveMemories` and `UnarchiveMemory` promise, and the regular run."""

import asyncio
import uuid
from collections.abc import Sequence

import grpc
import pytest
from contract.store.backends import RunningStore
from contract.store.test_changing import found_by
from contract.store.test_importing import export, import_all, unstored
from contract.store.test_storing import get, refusal
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store.fakes import Client, vector

from requirements import requirement
from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import lifecycle_service_pb2 as life_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.types.v1 import memory_pb2, scope_pb2
from satchel.runtime.status import from_rpc_status

DAY = 24 * 3600
NOW = 1_700_000_000
NOTE, LOG, FACT = (
    memory_pb2.MEMORY_TYPE_SESSION_NOTE, memory_pb2.MEMORY_TYPE_DEBUG_LOG, memory_pb2.MEMORY_TYPE_FACT,
)  # fmt: skip
ARCHIVED = memory_pb2.MEMORY_STATE_ARCHIVED


class Clock:
    """Stands still at a second of our choice."""

    def __init__(self) -> None:
        self.seconds = NOW

    def __call__(self) -> int:
        return self.seconds * 1_000_000


class Pauses:
    """Stands in for waiting: a pause ends when the test says so."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[float] = asyncio.Queue()
        self._ends: asyncio.Queue[None] = asyncio.Queue()

    async def __call__(self, seconds: float) -> None:
        self.asked.put_nowait(seconds)
        await self._ends.get()

    async def pass_one(self) -> float:
        """End the pause that begins next, and return how long it was to be."""
        seconds = await asyncio.wait_for(self.asked.get(), 10)
        self._ends.put_nowait(None)
        return seconds


async def archive(client: Client, **fields: object) -> life_pb.ArchiveMemoriesResponse:
    return await client.lifecycle.ArchiveMemories(life_pb.ArchiveMemoriesRequest(**fields))  # type: ignore[arg-type]


async def unarchive(client: Client, **fields: object) -> life_pb.UnarchiveMemoriesResponse:
    return await client.lifecycle.UnarchiveMemories(life_pb.UnarchiveMemoriesRequest(**fields))  # type: ignore[arg-type]


async def store_aged(
    client: Client, aged: Sequence[tuple[str, memory_pb2.MemoryType.ValueType, float]], **fields: str
) -> dict[str, str]:
    """Store texts of a type and an age in days; return their ids by text."""
    records = [
        memory_pb2.Memory(
            id=str(uuid.uuid4()),
            content=text,
            type=kind,
            type_declared=True,
            created_at=Timestamp(seconds=round(NOW - days * DAY)),
            **{"wing": "w", **fields},  # type: ignore[arg-type]  # places alone
        )
        for text, kind, days in aged
    ]
    answers = await import_all(client, records)
    return {record.content: answer.stored.id for record, answer in zip(records, answers, strict=True)}


AGED = (
    ("elephants", NOTE, 31), ("giraffes", NOTE, 29), ("zebras", LOG, 8), ("lions", LOG, 6),
    ("tigers", FACT, 400),
)  # fmt: skip


@requirement("archive:by-age")
async def test_notes_and_logs_that_are_old_enough_are_archived_and_nothing_else(
    running_store: RunningStore,
) -> None:
    async with running_store(clock=Clock()) as client:
        ids = await store_aged(client, AGED)
        tokens = [(await get(client, ids[text])).token_count for text in ("elephants", "zebras")]
        answer = await archive(client)
        states = {text: (await get(client, memory_id)).state for text, memory_id in ids.items()}

    assert (answer.result.session_notes, answer.result.debug_logs) == (1, 1)
    assert answer.result.tokens_freed == sum(tokens)
    assert list(answer.archived_ids) == sorted([ids["elephants"], ids["zebras"]])
    assert {text for text, state in states.items() if state == ARCHIVED} == {"elephants", "zebras"}


@requirement("archive:by-age")
async def test_the_ages_are_settings_and_count_from_storing_to_the_microsecond(
    running_store: RunningStore,
) -> None:
    aged = [("note", NOTE, 1), ("young note", NOTE, 1 - 1 / DAY), ("log", LOG, 0.5), ("young log", LOG, 0.49)]
    async with running_store(
        clock=Clock(), archive_session_note_days=1.0, archive_debug_log_days=0.5
    ) as client:
        ids = await store_aged(client, aged)
        long_ago = Timestamp(seconds=NOW - 400 * DAY)
        recent = await client.store("happened long ago", type=NOTE, occurred_at=long_ago)
        answer = await archive(client)

    assert list(answer.archived_ids) == sorted([ids["note"], ids["log"]])
    assert recent.id not in answer.archived_ids


@requirement("archive:by-age")
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, {"here", "other room", "other wing"}),
        ({"wing": "w"}, {"here", "other room"}),
        ({"wing": "w", "room": "r"}, {"here"}),
        ({"project": "p"}, {"other project"}),
    ],
)
async def test_only_the_project_wing_and_room_that_are_named_are_archived(
    running_store: RunningStore, asked: dict[str, str], expected: set[str]
) -> None:
    places: dict[str, dict[str, str]] = {
        "here": {}, "other room": {"room": "q"}, "other wing": {"wing": "v"},
        "other project": {"project": "p"},
    }  # fmt: skip
    ids: dict[str, str] = {}
    async with running_store(clock=Clock()) as client:
        for text, place in places.items():
            ids |= await store_aged(client, [(text, NOTE, 40)], **{"room": "r", **place})
        answer = await archive(client, **asked)

    assert {text for text, memory_id in ids.items() if memory_id in answer.archived_ids} == expected


@requirement("archive:by-age", "archive:undone")
async def test_more_memories_than_one_write_takes_are_archived_and_brought_back_as_one_batch(
    running_store: RunningStore,
) -> None:
    async with running_store(clock=Clock()) as client:
        ids = await store_aged(client, [(f"note {n}", NOTE, 40 + n / 1000) for n in range(1203)])
        archived = await archive(client)
        back = await unarchive(client, batch_id=archived.batch_id)

    assert archived.archived_count == archived.result.session_notes == back.unarchived_count == len(ids)
    assert list(archived.archived_ids) == list(back.unarchived_ids) == sorted(ids.values())


@requirement("archive:by-id")
async def test_memories_that_are_named_are_archived_whatever_their_type_and_age(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        first, second = await client.store("a", type=FACT), await client.store("b", project="p", type=NOTE)
        answer = await archive(client, ids=[f"T0:{first.id.upper()}", second.id, first.id])
        again = await archive(client, ids=[first.id])

    assert sorted(answer.archived_ids) == sorted([first.id, second.id])
    assert (answer.archived_count, answer.result.session_notes, answer.result.debug_logs) == (2, 1, 0)
    assert answer.result.tokens_freed == first.token_count + second.token_count
    assert (again.archived_count, again.batch_id, again.revision) == (0, "", 0)


@requirement("archive:by-id", "archive:undone")
async def test_a_memory_that_is_not_there_keeps_the_others_from_being_moved(
    running_store: RunningStore,
) -> None:
    missing = str(uuid.uuid4())
    async with running_store() as client:
        here, elsewhere = await client.store("a"), await client.store("b", project="p")
        shelved = await client.store("c")
        await archive(client, ids=[shelved.id])
        refusals = [
            await refusal(archive(client, ids=[here.id, missing])),
            await refusal(archive(client, ids=[here.id, elsewhere.id], project="default")),
            await refusal(unarchive(client, ids=[shelved.id, missing])),
            await refusal(unarchive(client, ids=[shelved.id], project="p")),
            await refusal(client.lifecycle.UnarchiveMemory(life_pb.UnarchiveMemoryRequest(id=missing))),
        ]
        states = [(await get(client, one.id)).state for one in (here, elsewhere, shelved)]

    named = [missing, elsewhere.id, missing, shelved.id, missing]
    assert refusals == [
        (grpc.StatusCode.NOT_FOUND, "MEMORY_NOT_FOUND", {"memory_id": memory_id}) for memory_id in named
    ]
    assert states == [memory_pb2.MEMORY_STATE_ACTIVE, memory_pb2.MEMORY_STATE_ACTIVE, ARCHIVED]


@requirement("archive:by-id", "archive:undone")
async def test_what_contradicts_itself_is_refused_by_field(running_store: RunningStore) -> None:
    one, batch = str(uuid.uuid4()), str(uuid.uuid4())
    async with running_store() as client:
        refusals = [
            await refusal(archive(client, ids=[one], wing="w")),
            await refusal(archive(client, ids=[one], room="r")),
            await refusal(unarchive(client, ids=[one], batch_id=batch)),
            await refusal(unarchive(client)),
        ]

    assert [(reason, metadata["field"]) for _, reason, metadata in refusals] == [
        ("FIELDS_CONFLICT", "wing"), ("FIELDS_CONFLICT", "room"), ("FIELDS_CONFLICT", "batch_id"),
        ("FIELD_REQUIRED", "batch_id"),
    ]  # fmt: skip


@requirement("archive:counted-first")
async def test_a_dry_run_tells_what_would_be_archived_and_archives_nothing(
    running_store: RunningStore,
) -> None:
    async with running_store(clock=Clock()) as client:
        ids = await store_aged(client, AGED)
        by_age = await archive(client, dry_run=True)
        by_id = await archive(client, ids=[ids["tigers"]], dry_run=True)
        done = await archive(client)

    assert (by_age.batch_id, by_age.revision, by_id.archived_count) == ("", 0, 1)
    assert (by_age.result, by_age.archived_ids) == (done.result, done.archived_ids)


@requirement("archive:never-found")
async def test_an_archived_memory_is_found_by_no_word_tag_or_vector(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("elephants", tags=["t"], session_id="s")
        beside = await client.store("giraffes", session_id="s")
        await archive(client, ids=[stored.id])
        words, tags = await found_by(client, "elephants"), await found_by(client, "t")
        candidates = await client.search.FetchCandidates(
            search_pb.FetchCandidatesRequest(ids=[stored.id, beside.id], neighbor_count=2)
        )
        again = await client.store("elephants", session_id="s")

    assert stored.id not in words | tags
    assert list(candidates.ids) == [beside.id]
    assert not again.duplicate


@requirement("archive:never-found")
async def test_an_archived_memory_can_be_loaded_listed_searched_for_exported_and_followed(
    running_store: RunningStore,
) -> None:
    scope = scope_pb2.MemoryFilter(states=[ARCHIVED])
    async with running_store() as client:
        stored = await client.store("elephants")
        answer = await archive(client, ids=[stored.id])
        loaded = await get(client, stored.id)
        listed = await client.memories.ListMemories(pb.ListMemoriesRequest(state=ARCHIVED))
        exported = await export(client)
        near = await client.search.SearchStoredVectors(
            search_pb.SearchStoredVectorsRequest(vector=vector("elephants"), filter=scope)
        )
        fetched = await client.search.FetchCandidates(
            search_pb.FetchCandidatesRequest(ids=[stored.id], filter=scope)
        )
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())
        feed = client.changes.WatchChanges(changes_pb.WatchChangesRequest(stop_at_head=True))
        changes = [one async for batch in feed for one in batch.changes]

    assert loaded == listed.memories[0] == exported[0]
    assert [hit.memory_id for hit in near.hits] == list(fetched.ids) == [stored.id]
    assert (status.stats.archived_count, status.stats.verbatim_count) == (1, 1)
    assert [(one.memory_id, one.state, one.revision) for one in changes] == [
        (stored.id, ARCHIVED, answer.revision)
    ]


@requirement("archive:undone")
async def test_what_one_run_archived_comes_back_with_one_call_just_as_it_was(
    running_store: RunningStore,
) -> None:
    clock = Clock()
    async with running_store(clock=clock) as client:
        ids = await store_aged(client, AGED)
        other = await archive(client, ids=[ids["tigers"]])
        before = await get(client, ids["elephants"])
        run = await archive(client)
        shelved = await get(client, ids["elephants"])
        clock.seconds += 5
        back = await unarchive(client, batch_id=run.batch_id.upper())
        after = await get(client, ids["elephants"])
        states = {text: (await get(client, memory_id)).state for text, memory_id in ids.items()}
        found = await found_by(client, "elephants")

    assert shelved.archive_batch_id == run.batch_id != other.batch_id
    assert shelved.archived_at == Timestamp(seconds=NOW)
    assert (shelved.version, shelved.updated_at) == (before.version, before.updated_at)
    assert (back.unarchived_count, list(back.unarchived_ids)) == (2, list(run.archived_ids))
    assert after.revision in (back.revision, back.revision - 1)
    assert after.unarchived_at == Timestamp(seconds=NOW + 5)
    after.ClearField("unarchived_at")
    assert unstored(after) == unstored(before)
    assert {text for text, state in states.items() if state == ARCHIVED} == {"tigers"}
    assert ids["elephants"] in found


@requirement("archive:undone")
async def test_bringing_back_again_changes_nothing(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("text")
        run = await archive(client, ids=[stored.id])
        first = await unarchive(client, batch_id=run.batch_id)
        again = await unarchive(client, batch_id=run.batch_id)
        by_id = await unarchive(client, ids=[stored.id])
        after = await client.lifecycle.UnarchiveMemory(life_pb.UnarchiveMemoryRequest(id=stored.id))

    assert (first.unarchived_count, again.unarchived_count, by_id.unarchived_count) == (1, 0, 0)
    assert (again.revision, after.memory.revision) == (0, first.revision)


@requirement("archive:undone")
async def test_a_batch_that_archived_nothing_here_is_not_found(running_store: RunningStore) -> None:
    unknown = str(uuid.uuid4())
    async with running_store() as client:
        here = await client.store("text", project="p")
        run = await archive(client, ids=[here.id])
        refused = [
            await refusal(unarchive(client, batch_id=unknown)),
            await refusal(unarchive(client, batch_id=run.batch_id, project="elsewhere")),
        ]
        back = await unarchive(client, batch_id=run.batch_id, project="p")
        active = await get(client, here.id)
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=here.id))
        refused.append(await refusal(unarchive(client, batch_id=run.batch_id)))

    assert [(code, reason) for code, reason, _ in refused] == [
        (grpc.StatusCode.NOT_FOUND, "BATCH_NOT_FOUND")
    ] * 3
    assert [found["batch_id"] for _, _, found in refused] == [unknown, run.batch_id, run.batch_id]
    assert (back.unarchived_count, active.archive_batch_id) == (1, "")


@requirement("archive:undone")
async def test_one_memory_is_brought_back_by_its_id_and_returned(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("text")
        await archive(client, ids=[stored.id])
        request = life_pb.UnarchiveMemoryRequest(id=f"T0:{stored.id}")
        answer = await client.lifecycle.UnarchiveMemory(request)
        loaded = await get(client, stored.id)

    assert answer.memory == loaded
    assert loaded.state == memory_pb2.MEMORY_STATE_ACTIVE


@requirement("archive:undone", "store:projects")
async def test_a_batch_is_brought_back_within_the_project_that_is_named(running_store: RunningStore) -> None:
    async with running_store() as client:
        here, there = await client.store("a"), await client.store("b", project="p")
        run = await archive(client, ids=[here.id, there.id])
        first = await unarchive(client, batch_id=run.batch_id, project="p")
        rest = await unarchive(client, batch_id=run.batch_id)

    assert (list(first.unarchived_ids), list(rest.unarchived_ids)) == ([there.id], [here.id])


@requirement("archive:never-found", "update:derived")
async def test_an_update_leaves_an_archived_memory_archived(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("elephants")
        run = await archive(client, ids=[stored.id])
        request = pb.UpdateMemoryRequest(id=stored.id, content="giraffes")
        after = (await client.memories.UpdateMemory(request)).memory
        found = await found_by(client, "giraffes")

    assert (after.state, after.archive_batch_id, after.version) == (ARCHIVED, run.batch_id, 2)
    assert found == set()


@requirement("archive:undone", "import:lossless")
async def test_an_archived_memory_moves_to_another_store_with_its_batch(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored, back = await client.store("text"), await client.store("was archived once")
        run = await archive(client, ids=[stored.id, back.id])
        await unarchive(client, ids=[back.id])
        exported = await export(client)
    async with running_store(name="other") as client:
        await import_all(client, exported)
        moved = await export(client)
        undone = await unarchive(client, batch_id=run.batch_id)

    assert [unstored(one) for one in moved] == [unstored(one) for one in exported]
    assert list(undone.unarchived_ids) == [stored.id]


@requirement("import:bad-record")
async def test_an_imported_memory_needs_a_batch_that_is_one(running_store: RunningStore) -> None:
    record = memory_pb2.Memory(
        id=str(uuid.uuid4()), content="text", wing="w", state=ARCHIVED, archive_batch_id="no batch"
    )
    async with running_store() as client:
        (answer,) = await import_all(client, [record])

    refused = from_rpc_status(answer.error)
    assert refused is not None
    assert refused.metadata["field"] == "memory.archive_batch_id"


@requirement("archive:regularly")
async def test_old_memories_of_every_project_are_archived_by_the_regular_run(
    running_store: RunningStore,
) -> None:
    clock, pauses = Clock(), Pauses()
    async with running_store(clock=clock, pause=pauses, archive_interval_hours=6.0) as client:
        ids = await store_aged(client, AGED)
        ids |= await store_aged(client, [("crocodiles", NOTE, 31)], project="p")
        waits = [await pauses.pass_one()]
        waits.append(await pauses.pass_one())  # begins when the first run is done
        first = [(await get(client, ids[text])).state for text in ("elephants", "crocodiles", "giraffes")]
        clock.seconds += DAY
        waits.append(await pauses.pass_one())
        await asyncio.wait_for(pauses.asked.get(), 10)
        later = await get(client, ids["giraffes"])

    active = memory_pb2.MEMORY_STATE_ACTIVE
    assert waits == [60, 6 * 3600, 6 * 3600]
    assert first == [ARCHIVED, ARCHIVED, active]
    assert later.state == ARCHIVED


@requirement("archive:regularly", "archive:undone")
async def test_what_was_brought_back_is_not_archived_again_until_it_has_that_age_anew(
    running_store: RunningStore,
) -> None:
    clock = Clock()
    async with running_store(clock=clock) as client:
        ids = await store_aged(client, [("elephants", NOTE, 31)])
        run = await archive(client)
        await unarchive(client, batch_id=run.batch_id)
        clock.seconds += 30 * DAY - 1
        early = await archive(client)
        clock.seconds += 1
        late = await archive(client)

    assert early.archived_count == 0
    assert list(late.archived_ids) == [ids["elephants"]]


@requirement("archive:regularly")
async def test_without_an_interval_nothing_is_archived_by_itself(running_store: RunningStore) -> None:
    pauses = Pauses()
    async with running_store(clock=Clock(), pause=pauses, archive_interval_hours=0.0) as client:
        ids = await store_aged(client, [("elephants", NOTE, 31)])
        kept = await get(client, ids["elephants"])

    assert kept.state == memory_pb2.MEMORY_STATE_ACTIVE
    assert pauses.asked.empty()
