"""What `UpdateMemory` and `DeleteMemory` promise."""

import asyncio
import uuid

import grpc
import pytest
from contract.store.backends import RunningStore
from contract.store.test_storing import get, refusal
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store.fakes import Client, vector

from requirements import requirement
from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.types.v1 import memory_pb2


async def update(client: Client, memory_id: str, **fields: object) -> memory_pb2.Memory:
    request = pb.UpdateMemoryRequest(**{**fields, "id": memory_id})  # type: ignore[arg-type]
    return (await client.memories.UpdateMemory(request)).memory


async def found_by(client: Client, query: str) -> set[str]:
    found = await client.search.SearchText(search_pb.SearchTextRequest(query=query))
    near = await client.search.SearchStoredVectors(search_pb.SearchStoredVectorsRequest(vector=vector(query)))
    close = {hit.memory_id for hit in near.hits if hit.score > 0.999}
    return {hit.memory_id for hit in found.hits} | {hit.memory_id for hit in found.tag_hits} | close


@requirement("update:derived")
async def test_a_new_text_renews_all_that_is_derived_and_keeps_the_rest(running_store: RunningStore) -> None:
    async with running_store() as client:
        other = await client.store("other")
        link = memory_pb2.CausalLink(memory_id=other.id, relation=memory_pb2.CAUSAL_RELATION_RESOLVES)
        stored = await client.store(
            "elephants", type=memory_pb2.MEMORY_TYPE_FACT, tags=["Own"], session_id="s", causal_links=[link]
        )
        before = await get(client, stored.id)
        after = await update(client, stored.id, content="We decided to use giraffes.")
        old, new = await found_by(client, "elephants"), await found_by(client, "giraffes")

    assert (after.id, after.created_at, after.session_order) == (before.id, before.created_at, 1)
    assert after.type == memory_pb2.MEMORY_TYPE_FACT
    assert after.causal_links == before.causal_links
    assert (after.version, before.version) == (2, 1)
    assert after.revision > before.revision
    assert "own" in after.tags
    assert "giraffes" in after.tags
    assert "elephants" not in after.tags
    assert stored.id not in old
    assert stored.id in new


@requirement("update:derived")
async def test_an_inferred_type_is_inferred_anew(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("We had a good discussion.")
        after = await update(client, stored.id, content="The team decided to adopt Kubernetes.")

    assert after.type == memory_pb2.MEMORY_TYPE_DECISION
    assert after.room == stored.room


@requirement("update:mask")
async def test_without_a_mask_only_set_fields_change(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("text", title="T", summary="S", tags=["a"], path="p")
        after = await update(client, stored.id, title="New")
        texts = client.embedder.texts
        near = await client.search.SearchStoredVectors(
            search_pb.SearchStoredVectorsRequest(vector=vector("text"))
        )

    assert (after.title, after.summary, after.path, after.content) == ("New", "S", "p", "text")
    assert "a" in after.tags
    assert texts == ["text"]
    assert [hit.memory_id for hit in near.hits] == [stored.id]


@requirement("update:mask")
async def test_the_mask_clears_what_it_names_and_the_request_leaves_empty(
    running_store: RunningStore,
) -> None:
    metadata = Struct()
    metadata.update({"k": 1})
    mask = FieldMask(
        paths=["room", "type", "tags", "metadata", "title", "summary", "path", "component", "source",
               "sensitivity", "occurred_at"]
    )  # fmt: skip
    async with running_store() as client:
        stored = await client.store(
            "short",
            room="own",
            type=memory_pb2.MEMORY_TYPE_FACT,
            tags=["given"],
            metadata=metadata,
            title="T",
            summary="S",
            path="p",
            component=memory_pb2.Component(core=memory_pb2.CoreComponent(label="human")),
            source="test",
            sensitivity=memory_pb2.SENSITIVITY_HIGH,
            occurred_at=Timestamp(seconds=5),
        )
        after = await update(client, stored.id, update_mask=mask, summary="kept")
        again = await client.store("another", path="p")

    assert (after.room, after.type) == ("session", memory_pb2.MEMORY_TYPE_SESSION_NOTE)
    assert (after.title, after.summary, after.path, after.source) == ("", "kept", "", "")
    assert not after.HasField("metadata")
    assert not after.HasField("component")
    assert not after.HasField("occurred_at")
    assert "given" not in after.tags
    assert after.sensitivity == memory_pb2.SENSITIVITY_LOW
    assert again.id != stored.id


@requirement("update:mask")
@pytest.mark.parametrize("path", ["content", "wing"])
async def test_text_and_wing_cannot_be_cleared(running_store: RunningStore, path: str) -> None:
    async with running_store() as client:
        stored = await client.store("text")
        code, reason, metadata = await refusal(update(client, stored.id, update_mask=FieldMask(paths=[path])))

    assert (code, reason, metadata["field"]) == (grpc.StatusCode.INVALID_ARGUMENT, "FIELD_REQUIRED", path)


@requirement("update:mask")
@pytest.mark.parametrize("path", ["id", "session_id", "created_at", "nothing", "*", "content.x"])
async def test_a_mask_that_names_what_cannot_change_is_refused(
    running_store: RunningStore, path: str
) -> None:
    async with running_store() as client:
        stored = await client.store("text")
        code, reason, metadata = await refusal(update(client, stored.id, update_mask=FieldMask(paths=[path])))

    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "UPDATE_MASK_INVALID")
    assert metadata["field"] == "update_mask"
    assert "content" in metadata["limit"]


@requirement("update:concurrent")
async def test_a_change_that_changes_nothing_gives_no_version(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("text", tags=["a"])
        after = [await update(client, stored.id, content="text", tags=["A"]), await update(client, stored.id)]

    assert [one.version for one in after] == [1, 1]
    assert [one.revision for one in after] == [stored.revision, stored.revision]


@requirement("update:concurrent")
async def test_concurrent_updates_of_different_fields_all_land(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("text")
        await asyncio.gather(
            update(client, stored.id, title="T"),
            update(client, stored.id, summary="S"),
            update(client, stored.id, source="src"),
        )
        after = await get(client, stored.id)

    assert (after.title, after.summary, after.source, after.version) == ("T", "S", "src", 4)


@requirement("update:version")
async def test_an_expected_version_guards_update_and_deletion(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("text")
        code, reason, metadata = await refusal(update(client, stored.id, title="T", expected_version=2))
        late = await refusal(
            client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=stored.id, expected_version=2))
        )
        after = await update(client, stored.id, title="T", expected_version=1)

    assert (code, reason) == (grpc.StatusCode.ABORTED, "VERSION_MISMATCH")
    assert metadata == {"memory_id": stored.id, "expected_version": "2", "actual_version": "1"}
    assert late[1] == "VERSION_MISMATCH"
    assert after.version == 2


@requirement("store:paths")
async def test_a_path_is_unique_in_its_project_without_case(running_store: RunningStore) -> None:
    async with running_store() as client:
        first = await client.store("one", path="Straße/A")
        second = await client.store("two")
        code, reason, metadata = await refusal(update(client, second.id, path="STRASSE/a"))
        own = await update(client, first.id, path="strasse/A")

    assert (code, reason, metadata["memory_id"]) == (grpc.StatusCode.ALREADY_EXISTS, "PATH_TAKEN", first.id)
    assert own.path == "strasse/A"


@requirement("store:request-id")
async def test_a_retried_update_gets_the_first_answer(running_store: RunningStore) -> None:
    request_id = str(uuid.uuid4())
    async with running_store() as client:
        stored = await client.store("text")
        first = await update(client, stored.id, title="T", request_id=request_id)
        await update(client, stored.id, title="later")
        again = await update(client, stored.id, title="T", request_id=request_id)
        reused = await refusal(update(client, stored.id, title="U", request_id=request_id))

    assert again == first
    assert reused[1] == "REQUEST_ID_REUSED"


@requirement("read:not-found", "store:projects")
async def test_an_update_of_nothing_is_not_found(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("text", project="p")
        missing = await refusal(update(client, str(uuid.uuid4()), title="T"))
        foreign = await refusal(update(client, stored.id, title="T", project="q"))

    assert missing[:2] == foreign[:2] == (grpc.StatusCode.NOT_FOUND, "MEMORY_NOT_FOUND")


@requirement("read:not-found", "store:projects")
async def test_a_memory_of_another_project_is_not_deleted(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("text", project="p")
        foreign = await refusal(
            client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=stored.id, project="q"))
        )
        there = await get(client, stored.id)

    assert foreign[:2] == (grpc.StatusCode.NOT_FOUND, "MEMORY_NOT_FOUND")
    assert there.content == "text"


@requirement("delete:gone")
async def test_a_deleted_memory_is_found_by_nothing(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("elephants never forget", tags=["zoo"], path="p", session_id="s")
        other = await client.store("giraffes", session_id="s")
        request_id = str(uuid.uuid4())
        await update(client, stored.id, summary="big animals", request_id=request_id)
        deleted = await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=f"id:{stored.id.upper()}"))
        found = set.union(*[await found_by(client, query) for query in ("elephants", "zoo", "big animals")])
        listed = await client.memories.ListMemories(pb.ListMemoriesRequest())
        near = await client.memories.BatchGetMemories(
            pb.BatchGetMemoriesRequest(ids=[other.id, stored.id], neighbor_count=5, include_vectors=True)
        )
        gone = [
            await refusal(client.memories.GetMemory(pb.GetMemoryRequest(id=stored.id))),
            await refusal(client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=stored.id))),
            await refusal(update(client, stored.id, summary="big animals", request_id=request_id)),
        ]
        again = await client.store("elephants never forget", path="p")

    assert (deleted.id, deleted.revision) == (stored.id, 4)
    assert stored.id not in found
    assert [one.id for one in listed.memories] == [other.id]
    assert (len(near.memories), list(near.missing_ids), list(near.neighbors)) == (1, [stored.id], [])
    assert {one[1] for one in gone} == {"MEMORY_NOT_FOUND"}
    assert not again.duplicate


@requirement("store:request-id")
async def test_a_retried_deletion_gets_the_first_answer(running_store: RunningStore) -> None:
    request_id = str(uuid.uuid4())
    async with running_store() as client:
        stored = await client.store("text")
        request = pb.DeleteMemoryRequest(id=stored.id, request_id=request_id)
        answers = [await client.memories.DeleteMemory(request) for _ in range(2)]

    assert answers[0] == answers[1]


@requirement("feed:newest-change")
async def test_the_feed_names_deletions_and_only_the_newest_change_of_a_memory(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        gone = await client.store("gone")
        kept = await client.store("kept")
        await update(client, kept.id, title="T")
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=gone.id))
        watched = client.changes.WatchChanges(changes_pb.WatchChangesRequest(stop_at_head=True))
        changes = [change async for response in watched for change in response.changes]
        other = changes_pb.WatchChangesRequest(stop_at_head=True, project="p")
        theirs = [one async for part in client.changes.WatchChanges(other) for one in part.changes]

    assert theirs == []
    assert [(one.revision, one.memory_id, one.kind) for one in changes] == [
        (3, kept.id, changes_pb.CHANGE_KIND_UPSERT),
        (4, gone.id, changes_pb.CHANGE_KIND_DELETE),
    ]
    assert changes[1].state == memory_pb2.MEMORY_STATE_DELETED


@requirement("store:request-id")
async def test_an_update_that_changes_nothing_keeps_its_request_id(running_store: RunningStore) -> None:
    request_id = str(uuid.uuid4())
    async with running_store() as client:
        stored = await client.store("text", title="T")
        first = await update(client, stored.id, title="T", request_id=request_id)
        await update(client, stored.id, title="New")
        again = await update(client, stored.id, title="T", request_id=request_id)
        now = await get(client, stored.id)
        _, reason, _ = await refusal(update(client, stored.id, title="Other", request_id=request_id))

    assert again == first
    assert now.title == "New"
    assert reason == "REQUEST_ID_REUSED"


@requirement("store:core-limit")
async def test_a_core_block_is_no_longer_than_its_limit(running_store: RunningStore) -> None:
    small = memory_pb2.Component(core=memory_pb2.CoreComponent(label="human", limit=10))
    usual = memory_pb2.Component(core=memory_pb2.CoreComponent(label="human"))
    async with running_store() as client:
        stored = await client.store("x" * 10, component=small)
        await client.store("y" * 5000, component=usual)
        batch = pb.BatchStoreMemoriesRequest(
            memories=[
                pb.StoreMemoryRequest(content="a", wing="w"),
                pb.StoreMemoryRequest(content="y" * 5001, wing="w", component=usual),
            ]
        )
        refusals = [
            await refusal(client.store("x" * 11, component=small)),
            await refusal(client.memories.BatchStoreMemories(batch)),
            await refusal(update(client, stored.id, content="x" * 11)),
        ]
        grown = memory_pb2.Component(core=memory_pb2.CoreComponent(label="human", limit=11))
        after = await update(client, stored.id, content="x" * 11, component=grown)

    assert {(code, reason) for code, reason, _ in refusals} == {
        (grpc.StatusCode.INVALID_ARGUMENT, "FIELD_TOO_LONG")
    }
    assert [(one["field"], one["limit"], one["actual"]) for _, _, one in refusals] == [
        ("component.core.limit", "10", "11"),
        ("memories[1].component.core.limit", "5000", "5001"),
        ("component.core.limit", "10", "11"),
    ]
    assert after.content == "x" * 11
