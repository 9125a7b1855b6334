"""What `ClearMemories` promises."""

import asyncio
import uuid

import grpc
import pytest
from contract.store.backends import RunningStore
from contract.store.test_changing import found_by, update
from contract.store.test_importing import export
from contract.store.test_storing import get, refusal
from unit.store.fakes import OTHER_MODEL, Client

from requirements import requirement
from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import lifecycle_service_pb2 as life_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2

GLOBAL, ROOM, WING, ALL = (
    life_pb.CLEAR_MODE_GLOBAL, life_pb.CLEAR_MODE_ROOM, life_pb.CLEAR_MODE_WING, life_pb.CLEAR_MODE_ALL,
)  # fmt: skip
PLACES: dict[str, dict[str, str]] = {
    "here": {}, "other room": {"room": "q"}, "other wing": {"wing": "v"}, "other project": {"project": "p"},
}  # fmt: skip


async def clear(client: Client, **fields: object) -> life_pb.ClearMemoriesResponse:
    return await client.lifecycle.ClearMemories(life_pb.ClearMemoriesRequest(**fields))  # type: ignore[arg-type]


async def archive(client: Client, *ids: str) -> None:
    await client.lifecycle.ArchiveMemories(life_pb.ArchiveMemoriesRequest(ids=ids))


async def store_many(client: Client, number: int, **fields: str) -> list[str]:
    """Store short texts in one transaction for each 500, and return their ids."""
    ids: list[str] = []
    for start in range(0, number, 500):
        texts = [f"text {n}" for n in range(start, min(start + 500, number))]
        batch = [pb.StoreMemoryRequest(**{"wing": "w", **fields, "content": text}) for text in texts]  # type: ignore[arg-type]
        stored = await client.memories.BatchStoreMemories(pb.BatchStoreMemoriesRequest(memories=batch))
        ids += [one.id for one in stored.memories]
    return ids


async def left(client: Client) -> set[str]:
    return {memory.content for memory in await export(client, all_projects=True)}


@requirement("clear:tags")
@pytest.mark.parametrize(
    ("tags", "cleared"),
    [(["RED"], {"a", "b"}), (["red", " Big  one "], {"b"}), (["blue"], set()), (["x"], set())],
)
async def test_with_tags_only_memories_that_have_them_all_are_cleared(
    running_store: RunningStore, tags: list[str], cleared: set[str]
) -> None:
    async with running_store() as client:
        given = {"a": ["red"], "b": ["red", "big one"], "c": ["big one"]}
        for text, own in given.items():
            await client.store(text, tags=own)
        await client.store("d", tags=["blue"], project="p")
        counted = await clear(client, mode=GLOBAL, tags=tags, dry_run=True)
        answer = await clear(client, mode=GLOBAL, tags=tags, expected_count=len(cleared))

        assert counted.deleted_count == answer.deleted_count == len(cleared)
        assert await left(client) == {*given, "d"} - cleared


@requirement("clear:scope")
@pytest.mark.parametrize(
    ("asked", "cleared"),
    [
        ({"mode": ROOM, "wing": "w", "room": "r"}, {"here"}),
        ({"mode": ROOM, "wing": "w"}, {"here", "other room"}),
        ({"mode": WING, "wing": "w"}, {"here", "other room"}),
        ({"mode": GLOBAL}, {"here", "other room", "other wing"}),
        ({"mode": ALL}, {"here", "other room", "other wing"}),
        ({"mode": GLOBAL, "project": "p"}, {"other project"}),
        ({"mode": ROOM, "wing": "nowhere"}, set()),
    ],
)
async def test_only_what_is_in_the_place_is_cleared_and_all_of_it(
    running_store: RunningStore, asked: dict[str, object], cleared: set[str]
) -> None:
    async with running_store() as client:
        for text, place in PLACES.items():
            stored = await client.store(text, **{"room": "r", **place})
            if text == "here":
                await archive(client, stored.id)
        answer = await clear(client, **asked)
        rest = await left(client)

    assert (answer.deleted_count, answer.mode) == (len(cleared), asked["mode"])
    assert rest == set(PLACES) - cleared


@requirement("clear:scope")
@pytest.mark.parametrize(
    ("asked", "reason", "field"),
    [
        ({}, "FIELD_REQUIRED", "mode"),
        ({"mode": 9, "wing": "w"}, "FIELD_UNKNOWN_ENUM_VALUE", "mode"),
        ({"mode": ROOM}, "FIELD_REQUIRED", "wing"),
        ({"mode": ROOM, "room": "r"}, "FIELD_REQUIRED", "wing"),
        ({"mode": WING}, "FIELD_REQUIRED", "wing"),
        ({"mode": WING, "wing": "w", "room": "r"}, "FIELDS_CONFLICT", "room"),
        ({"mode": GLOBAL, "wing": "w"}, "FIELDS_CONFLICT", "wing"),
        ({"mode": ALL, "room": "r"}, "FIELDS_CONFLICT", "room"),
        ({"mode": GLOBAL, "expected_count": -1}, "FIELD_OUT_OF_RANGE", "expected_count"),
    ],
)
async def test_a_mode_that_does_not_go_with_the_place_is_refused_and_deletes_nothing(
    running_store: RunningStore, asked: dict[str, object], reason: str, field: str
) -> None:
    async with running_store() as client:
        await client.store("text", room="r")
        refused = await refusal(clear(client, **asked))
        rest = await left(client)

    assert (refused[0], refused[1], refused[2]["field"]) == (grpc.StatusCode.INVALID_ARGUMENT, reason, field)
    assert rest == {"text"}


@requirement("clear:counted-first")
async def test_a_dry_run_counts_and_deletes_nothing(running_store: RunningStore) -> None:
    async with running_store() as client:
        await store_many(client, 3)
        counted = await clear(client, mode=GLOBAL, dry_run=True)
        rest = await left(client)

    assert (counted.deleted_count, counted.revision, len(rest)) == (3, 0, 3)


@requirement("clear:counted-first")
@pytest.mark.parametrize("dry_run", [False, True])
async def test_nothing_is_deleted_when_the_count_is_no_longer_right(
    running_store: RunningStore, *, dry_run: bool
) -> None:
    async with running_store() as client:
        await store_many(client, 3)
        refused = await refusal(clear(client, mode=GLOBAL, expected_count=2, dry_run=dry_run))
        nothing = await refusal(clear(client, mode=GLOBAL, expected_count=0, dry_run=dry_run))
        rest = await left(client)
        done = await clear(client, mode=GLOBAL, expected_count=3, dry_run=dry_run)

    code, reason, metadata = refused
    assert (code, reason) == (grpc.StatusCode.FAILED_PRECONDITION, "COUNT_MISMATCH")
    assert metadata == {"expected_count": "2", "actual_count": "3"}
    assert nothing[2] == {"expected_count": "0", "actual_count": "3"}
    assert (len(rest), done.deleted_count) == (3, 3)


@requirement("clear:gone")
async def test_what_is_cleared_is_found_by_nothing_and_the_status_is_empty(
    running_store: RunningStore,
) -> None:
    request_id = str(uuid.uuid4())
    async with running_store() as client:
        cause = await client.store("elephants", tags=["t"], session_id="s", path="p")
        link = memory_pb2.CausalLink(memory_id=cause.id, relation=memory_pb2.CAUSAL_RELATION_UPDATES)
        linked = await client.store("giraffes", wing="v", causal_links=[link])
        await update(client, cause.id, content="elephants and zebras", request_id=request_id)
        answer = await clear(client, mode=WING, wing="w")
        found = await found_by(client, "elephants") | await found_by(client, "t")
        survivor = await get(client, linked.id)
        retried = await refusal(
            update(client, cause.id, content="elephants and zebras", request_id=request_id)
        )
        await clear(client, mode=GLOBAL)
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert answer.deleted_count == 1
    assert cause.id not in found
    assert list(survivor.causal_links) == []
    assert retried[1] == "MEMORY_NOT_FOUND"
    assert status.stats == pb.StoreStats()
    assert not status.HasField("model")


@requirement("clear:gone", "feed:newest-change")
async def test_followers_are_told_of_every_memory_that_was_cleared(running_store: RunningStore) -> None:
    async with running_store() as client:
        ids = await store_many(client, 5)
        head = (await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())).head_revision
        answer = await clear(client, mode=GLOBAL)
        request = changes_pb.WatchChangesRequest(after_revision=head, stop_at_head=True)
        changes = [one async for batch in client.changes.WatchChanges(request) for one in batch.changes]

    assert [one.memory_id for one in changes] == ids
    assert {one.kind for one in changes} == {changes_pb.CHANGE_KIND_DELETE}
    assert {one.project for one in changes} == {"default"}
    assert [one.revision for one in changes] == list(range(head + 1, head + 6))
    assert answer.revision == head + 5


@requirement("clear:gone")
async def test_a_place_that_was_cleared_can_be_used_again_at_once(running_store: RunningStore) -> None:
    async with running_store() as client:
        first = await client.store("elephants", session_id="s", path="p")
        await client.store("second turn", session_id="s")
        await clear(client, mode=GLOBAL)
        client.embedder.model = OTHER_MODEL
        again = await client.store("elephants", session_id="s", path="P")
        memory = await get(client, again.id)
        found = await found_by(client, "elephants")

    assert again.id != first.id
    assert (again.duplicate, again.model_hash) == (False, OTHER_MODEL.sha256[:16])
    assert memory.session_order == 1
    assert found == {again.id}


@requirement("clear:scope")
async def test_a_session_goes_on_where_some_of_its_turns_are_elsewhere(running_store: RunningStore) -> None:
    async with running_store() as client:
        await client.store("first turn", session_id="s", wing="v")
        await client.store("second turn", session_id="s")
        await clear(client, mode=WING, wing="w")
        third = await client.store("third turn", session_id="s")
        memory = await get(client, third.id)

    assert memory.session_order == 3


@requirement("clear:gone")
async def test_clearing_nothing_is_a_success(running_store: RunningStore) -> None:
    async with running_store() as client:
        answer = await clear(client, mode=GLOBAL, expected_count=0)

    assert (answer.deleted_count, answer.revision) == (0, 0)


@requirement("clear:in-parts")
async def test_what_is_stored_during_a_clearing_stays(running_store: RunningStore) -> None:
    async with running_store() as client:
        await store_many(client, 1000)
        answer, stored = await asyncio.gather(clear(client, mode=GLOBAL), client.store("meanwhile"))
        rest = await left(client)

    assert answer.deleted_count in (1000, 1001)
    assert rest == ({"meanwhile"} if answer.deleted_count == 1000 else set()), stored
