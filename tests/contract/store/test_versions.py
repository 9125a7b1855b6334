"""What `ListVersions` and `RestoreVersion` promise."""

import uuid
from typing import Any

import grpc
import pytest
from contract.store.backends import RunningStore
from contract.store.test_changing import found_by, update
from contract.store.test_importing import import_all
from contract.store.test_storing import get, refusal
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store.fakes import Client

from requirements import requirement
from satchel.api.store.v1 import lifecycle_service_pb2 as life_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2


async def versions(client: Client, memory_id: str, **fields: object) -> life_pb.ListVersionsResponse:
    request = life_pb.ListVersionsRequest(**{**fields, "id": memory_id})  # type: ignore[arg-type]
    return await client.lifecycle.ListVersions(request)


async def restore(client: Client, memory_id: str, version: int, **fields: object) -> memory_pb2.Memory:
    request = life_pb.RestoreVersionRequest(**{**fields, "id": memory_id, "version": version})  # type: ignore[arg-type]
    return (await client.lifecycle.RestoreVersion(request)).memory


@requirement("versions:listed")
async def test_versions_are_shown_as_they_were_newest_first_with_the_memory_as_it_is_now(
    running_store: RunningStore,
) -> None:
    ticks = iter(range(1_000_000, 10**9, 1_000_000))
    async with running_store(clock=lambda: next(ticks)) as client:
        stored = await client.store("one", title="T", tags=["t"])
        states = [await get(client, stored.id)]
        for text in ("two", "three"):
            await update(client, stored.id, content=text)
            states.append(await get(client, stored.id))
        answer = await versions(client, stored.id)

    shown = answer.versions
    assert [one.memory for one in shown] == states[::-1]
    assert [one.version for one in shown] == [3, 2, 1]
    assert not shown[0].HasField("replaced_at")
    assert states[0].created_at.seconds < shown[2].replaced_at.seconds < shown[1].replaced_at.seconds
    assert answer.next_page_token == ""


@requirement("versions:listed")
async def test_links_belong_to_the_memory_and_not_to_its_versions(running_store: RunningStore) -> None:
    async with running_store() as client:
        other = await client.store("other")
        link = memory_pb2.CausalLink(memory_id=other.id, relation=memory_pb2.CAUSAL_RELATION_UPDATES)
        stored = await client.store("one", causal_links=[link])
        await update(client, stored.id, content="two")
        answer = await versions(client, stored.id)

    assert [len(one.memory.causal_links) for one in answer.versions] == [1, 0]


@requirement("versions:listed")
async def test_as_many_versions_are_kept_as_the_settings_say(running_store: RunningStore) -> None:
    async with running_store(versions_kept=2) as client:
        stored = await client.store("text 0")
        for number in range(1, 6):
            await update(client, stored.id, content=f"text {number}")
        answer = await versions(client, stored.id)
        missing = [await refusal(restore(client, stored.id, version)) for version in (3, 99)]

    assert [one.version for one in answer.versions] == [6, 5, 4]
    assert [(code, reason, metadata["version"]) for code, reason, metadata in missing] == [
        (grpc.StatusCode.NOT_FOUND, "VERSION_NOT_FOUND", "3"),
        (grpc.StatusCode.NOT_FOUND, "VERSION_NOT_FOUND", "99"),
    ]


@requirement("versions:listed")
async def test_pages_show_each_version_once_while_new_ones_are_made(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("text 0")
        for number in range(1, 5):
            await update(client, stored.id, content=f"text {number}")
        seen, token = list[int](), ""
        while True:
            page = await versions(client, stored.id, page_size=2, page_token=token)
            seen += [one.version for one in page.versions]
            await update(client, stored.id, content=f"while listing {seen}")
            if not (token := page.next_page_token):
                break
        _, reason, _ = await refusal(versions(client, stored.id, page_token=stored.id))

    assert seen == [5, 4, 3, 2, 1]
    assert reason == "PAGE_TOKEN_MISMATCH"


@requirement("versions:listed", "read:bounded")
async def test_a_page_of_large_versions_is_shorter_and_holds_at_least_one(
    running_store: RunningStore,
) -> None:
    async with running_store(message_bytes=20_000) as client:
        stored = await client.store("a" * 15_000)
        await update(client, stored.id, content="b" * 30_000)
        await update(client, stored.id, content="c")
        pages, token = list[list[int]](), ""
        while True:
            page = await versions(client, stored.id, page_token=token)
            pages.append([one.version for one in page.versions])
            if not (token := page.next_page_token):
                break

    assert pages == [[3], [2], [1]]


@requirement("versions:restored")
async def test_a_restored_version_says_all_that_it_said_and_keeps_what_the_memory_is(
    running_store: RunningStore,
) -> None:
    metadata = Struct()
    metadata.update({"k": [1, "é"]})
    first: dict[str, Any] = {
        "content": "We will use giraffes.", "room": "own", "type": memory_pb2.MEMORY_TYPE_FACT,
        "tags": ["given"], "metadata": metadata, "title": "T", "summary": "S", "path": "p", "source": "test",
        "component": memory_pb2.Component(core=memory_pb2.CoreComponent(label="human")),
        "sensitivity": memory_pb2.SENSITIVITY_HIGH, "occurred_at": Timestamp(seconds=5),
    }  # fmt: skip
    async with running_store() as client:
        other = await client.store("other")
        link = memory_pb2.CausalLink(memory_id=other.id, relation=memory_pb2.CAUSAL_RELATION_UPDATES)
        stored = await client.store(**first, session_id="s", causal_links=[link])
        before = await get(client, stored.id)
        mask = FieldMask(paths=[*first, "wing"])
        await update(client, stored.id, update_mask=mask, content="elephants", wing="v")
        after = await restore(client, stored.id, 1)
        found = [await found_by(client, text) for text in ("giraffes", "elephants")]
        listed = await versions(client, stored.id)

    assert (after.version, after.type_declared) == (3, True)
    for volatile in ("version", "revision", "updated_at"):
        before.ClearField(volatile)
        after.ClearField(volatile)
    assert after == before
    assert (stored.id in found[0], stored.id in found[1]) == (True, False)
    assert [one.memory.content for one in listed.versions][1] == "elephants"


@requirement("versions:restored")
async def test_restoring_what_a_memory_says_already_makes_no_version(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("one")
        await update(client, stored.id, content="two")
        first = await restore(client, stored.id, 1)
        again = await restore(client, stored.id, 1)
        current = await restore(client, stored.id, 3)

    assert first.version == 3
    assert first == again == current


@requirement("versions:restored")
async def test_a_restoration_of_the_state_is_left_to_the_archive(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("one")
        await update(client, stored.id, content="two")
        await client.lifecycle.ArchiveMemories(life_pb.ArchiveMemoriesRequest(ids=[stored.id]))
        after = await restore(client, stored.id, 1)

    assert (after.content, after.state) == ("one", memory_pb2.MEMORY_STATE_ARCHIVED)


@requirement("versions:restored", "store:paths")
async def test_a_version_whose_path_another_memory_has_now_is_not_restored(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        stored = await client.store("one", path="p")
        await update(client, stored.id, path="q")
        other = await client.store("two", path="P")
        code, reason, metadata = await refusal(restore(client, stored.id, 1))
        kept = await get(client, stored.id)

    assert (code, reason) == (grpc.StatusCode.ALREADY_EXISTS, "PATH_TAKEN")
    assert metadata["memory_id"] == other.id
    assert (kept.path, kept.version) == ("q", 2)


@requirement("versions:restored", "update:version")
async def test_an_expected_version_guards_a_restoration(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("one")
        await update(client, stored.id, content="two")
        code, reason, _ = await refusal(restore(client, stored.id, 1, expected_version=1))
        done = await restore(client, stored.id, 1, expected_version=2)

    assert (code, reason) == (grpc.StatusCode.ABORTED, "VERSION_MISMATCH")
    assert done.version == 3


@requirement("versions:restored", "store:request-id")
async def test_a_retry_of_a_restoration_gets_the_first_answer(running_store: RunningStore) -> None:
    request_id = str(uuid.uuid4())
    async with running_store(versions_kept=1) as client:
        stored = await client.store("one")
        await update(client, stored.id, content="two")
        first = await restore(client, stored.id, 1, request_id=request_id)
        await update(client, stored.id, content="three")
        again = await restore(client, stored.id, 1, request_id=request_id)
        _, reason, _ = await refusal(restore(client, stored.id, 2, request_id=request_id))
        now = await get(client, stored.id)

    assert first == again
    assert (reason, now.content) == ("REQUEST_ID_REUSED", "three")


@requirement("versions:listed", "versions:restored", "read:not-found")
@pytest.mark.parametrize("project", ["", "p"])
async def test_versions_of_a_memory_that_is_not_there_are_not_found(
    running_store: RunningStore, project: str
) -> None:
    async with running_store() as client:
        stored = await client.store("text")
        memory_id = stored.id if project else str(uuid.uuid4())
        refusals = [
            await refusal(versions(client, memory_id, project=project)),
            await refusal(restore(client, memory_id, 1, project=project)),
        ]

    assert refusals == [(grpc.StatusCode.NOT_FOUND, "MEMORY_NOT_FOUND", {"memory_id": memory_id})] * 2


@requirement("versions:listed", "delete:gone")
async def test_versions_go_with_their_memory(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("secret words")
        await update(client, stored.id, content="other")
        before = await get(client, stored.id)
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=stored.id))
        gone = await refusal(versions(client, stored.id))
        await import_all(client, [before])
        back = await versions(client, stored.id)

    assert gone[1] == "MEMORY_NOT_FOUND"
    assert [one.version for one in back.versions] == [2]
