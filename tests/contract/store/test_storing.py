"""What `StoreMemory` and `BatchStoreMemories` promise."""

import asyncio
import uuid

import grpc
import pytest
from contract.store.backends import RunningStore
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store.fakes import Client

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2
from satchel.runtime.status import from_rpc_error


async def refusal(call: object) -> tuple[grpc.StatusCode, str, dict[str, str]]:
    """Return code, reason and metadata of the error that a call ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call  # type: ignore[misc]
    error = from_rpc_error(caught.value)
    return caught.value.code(), error.reason.removeprefix("ERROR_REASON_"), error.metadata


async def get(client: Client, memory_id: str) -> memory_pb2.Memory:
    return (await client.memories.GetMemory(pb.GetMemoryRequest(id=memory_id))).memory


@requirement("store:whole")
async def test_a_stored_memory_comes_back_whole(running_store: RunningStore) -> None:
    metadata, metrics = Struct(), Struct()
    metadata.update({"a": [1, None, {"deep": True}], "é": "ü"})
    metrics.update({"latency": 1.5})
    component = memory_pb2.Component(
        procedural=memory_pb2.ProceduralComponent(entry_type="guide", steps=["a", "b"])
    )
    async with running_store() as client:
        stored = await client.store(
            "  We decided to use PostgreSQL.\r\n",
            room="own",
            project="p",
            session_id="talk",
            occurred_at=Timestamp(seconds=-5, nanos=123_456_789),
            tags=["B", "a"],
            title="Title",
            summary="Sum",
            path="Notes/One",
            source="test",
            sensitivity=memory_pb2.SENSITIVITY_HIGH,
            component=component,
            metadata=metadata,
            metrics=metrics,
        )
        found = await get(client, stored.id)

    assert found.content == "  We decided to use PostgreSQL.\r\n"
    assert (found.project, found.wing, found.room, found.path) == ("p", "w", "own", "Notes/One")
    assert (found.title, found.summary, found.source) == ("Title", "Sum", "test")
    assert (found.session_id, found.session_order, found.version) == ("talk", 1, 1)
    assert found.occurred_at == Timestamp(seconds=-5, nanos=123_456_000)
    assert found.created_at == found.updated_at == stored.created_at
    assert {"a", "b"} < set(found.tags)
    assert list(found.tags) == sorted(found.tags)
    assert found.component == component
    expected = {"a": [1, None, {"deep": True}], "é": "ü", "metrics": {"latency": 1.5}}
    assert MessageToDict(found.metadata) == expected
    assert found.type == stored.type == memory_pb2.MEMORY_TYPE_DECISION
    assert "PostgreSQL" in found.fingerprint.decision
    assert found.fingerprint.fact_count == stored.fact_count
    assert found.token_count == stored.token_count == found.token_costs.verbatim
    assert found.embedding == stored.embedding == memory_pb2.EMBEDDING_STATE_EMBEDDED
    assert stored.model_hash == "a" * 16
    assert stored.fingerprint_id == stored.id


@requirement("store:same-once")
async def test_the_same_text_in_the_same_place_is_a_duplicate(running_store: RunningStore) -> None:
    at = Timestamp(seconds=1)
    async with running_store() as client:
        first = await client.store("Thanks!", session_id="s", occurred_at=at)
        again = await client.store("Thanks!", session_id="s", occurred_at=at, tags=["other"])
        others = [
            await client.store("Thanks!", session_id="s", occurred_at=Timestamp(seconds=2)),
            await client.store("Thanks!", session_id="t", occurred_at=at),
            await client.store("Thanks!", session_id="s", occurred_at=at, wing="v"),
            await client.store("Thanks!", session_id="s", occurred_at=at, room="r"),
            await client.store("Thanks!", session_id="s", occurred_at=at, project="p"),
            await client.store("Thanks!", session_id="s", occurred_at=at, path="p"),
            await client.store("Thanks! ", session_id="s", occurred_at=at),
        ]
        embedded = client.embedder.texts

    assert again.duplicate
    assert (again.id, again.revision) == (first.id, first.revision)
    assert len({first.id, *(one.id for one in others)}) == 8
    assert not any(one.duplicate for one in others)
    assert len(embedded) == 8


@requirement("store:same-once")
async def test_a_given_room_that_equals_the_derived_one_is_the_same_room(running_store: RunningStore) -> None:
    async with running_store() as client:
        first = await client.store("Thanks!")
        again = await client.store("Thanks!", room=first.room)

    assert again.duplicate


@requirement("store:request-id")
async def test_a_retry_with_its_request_id_gets_the_first_answer(running_store: RunningStore) -> None:
    request_id = str(uuid.uuid4())
    async with running_store() as client:
        first = await client.store("One", request_id=request_id)
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=first.id))
        again = await client.store("One", request_id=request_id)
        code, reason, metadata = await refusal(client.store("Two", request_id=request_id))
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert again == first
    assert status.stats.verbatim_count == 0
    assert (code, reason) == (grpc.StatusCode.FAILED_PRECONDITION, "REQUEST_ID_REUSED")
    assert metadata == {"request_id": request_id}


@requirement("store:request-id")
async def test_a_request_id_is_free_again_after_a_day(running_store: RunningStore) -> None:
    request_id, now = str(uuid.uuid4()), [1_700_000_000_000_000]
    async with running_store(clock=lambda: now[0]) as client:
        await client.store("One", request_id=request_id)
        now[0] += 24 * 3600 * 1_000_000
        second = await client.store("Two", request_id=request_id)

    assert not second.duplicate


@requirement("store:request-id")
async def test_concurrent_retries_store_once(running_store: RunningStore) -> None:
    request_id = str(uuid.uuid4())
    async with running_store() as client:
        answers = await asyncio.gather(*(client.store("One", request_id=request_id) for _ in range(10)))

    assert len({answer.id for answer in answers}) == 1


@requirement("store:session-order")
async def test_turns_of_a_session_keep_their_order(running_store: RunningStore) -> None:
    async with running_store() as client:
        await client.store("zero", session_id="s")
        request = pb.BatchStoreMemoriesRequest(
            memories=[
                pb.StoreMemoryRequest(content=f"turn {n}", wing="w", session_id="s") for n in range(1, 6)
            ]
        )
        stored = (await client.memories.BatchStoreMemories(request)).memories
        orders = [(await get(client, one.id)).session_order for one in stored]

    assert orders == [2, 3, 4, 5, 6]


@requirement("store:batch")
async def test_a_batch_is_stored_as_a_whole_or_not_at_all(running_store: RunningStore) -> None:
    async with running_store() as client:
        await client.store("first", path="Taken")
        request = pb.BatchStoreMemoriesRequest(
            memories=[
                pb.StoreMemoryRequest(content="second", wing="w"),
                pb.StoreMemoryRequest(content="third", wing="w", path="tAKEN"),
            ]
        )
        code, reason, _ = await refusal(client.memories.BatchStoreMemories(request))
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert (code, reason) == (grpc.StatusCode.ALREADY_EXISTS, "PATH_TAKEN")
    assert status.stats.verbatim_count == 1


@requirement("store:batch", "store:paths")
async def test_two_memories_of_a_batch_cannot_have_one_path(running_store: RunningStore) -> None:
    request = pb.BatchStoreMemoriesRequest(
        memories=[pb.StoreMemoryRequest(content=path, wing="w", path=path) for path in ("p", "P")]
    )
    async with running_store() as client:
        code, reason, _ = await refusal(client.memories.BatchStoreMemories(request))
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert (code, reason) == (grpc.StatusCode.ALREADY_EXISTS, "PATH_TAKEN")
    assert (status.stats.verbatim_count, status.head_revision) == (0, 0)


@requirement("store:batch")
async def test_a_bad_field_of_a_batch_is_named_with_its_index(running_store: RunningStore) -> None:
    request = pb.BatchStoreMemoriesRequest(
        memories=[
            pb.StoreMemoryRequest(content="a", wing="w"),
            pb.StoreMemoryRequest(content="b", wing="w", occurred_at=Timestamp(seconds=10**12)),
        ]
    )
    async with running_store() as client:
        code, reason, metadata = await refusal(client.memories.BatchStoreMemories(request))

    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "FIELD_OUT_OF_RANGE")
    assert metadata["field"] == "memories[1].occurred_at"


@requirement("store:links")
async def test_links_are_seen_from_both_ends_and_need_their_target(running_store: RunningStore) -> None:
    async with running_store() as client:
        cause = await client.store("cause")
        link = memory_pb2.CausalLink(memory_id=f"T0:{cause.id}", relation=memory_pb2.CAUSAL_RELATION_BECAUSE)
        effect = await client.store("effect", causal_links=[link])
        seen = [(await get(client, one.id)).causal_links[0] for one in (cause, effect)]
        missing = memory_pb2.CausalLink(
            memory_id=str(uuid.uuid4()), relation=memory_pb2.CAUSAL_RELATION_BECAUSE
        )
        code, reason, metadata = await refusal(client.store("x", causal_links=[missing]))
        elsewhere = await refusal(client.store("x", project="other", causal_links=[link]))
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert [(one.memory_id, one.outgoing) for one in seen] == [(effect.id, True), (cause.id, False)]
    assert (code, reason) == (grpc.StatusCode.FAILED_PRECONDITION, "LINK_TARGET_NOT_FOUND")
    assert metadata == {"memory_id": missing.memory_id}
    assert elsewhere[1] == "LINK_TARGET_NOT_FOUND"
    assert (status.stats.causal_node_count, status.stats.causal_edge_count) == (2, 1)


@requirement("store:links")
@pytest.mark.parametrize(
    "link",
    [
        memory_pb2.CausalLink(relation=memory_pb2.CAUSAL_RELATION_BECAUSE),
        memory_pb2.CausalLink(memory_id="018bcfe5-6800-7000-8000-000000000000"),
    ],
)
async def test_a_link_without_target_or_relation_is_refused(
    running_store: RunningStore, link: memory_pb2.CausalLink
) -> None:
    async with running_store() as client:
        code, reason, metadata = await refusal(client.store("x", causal_links=[link]))

    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "FIELD_REQUIRED")
    assert metadata["field"].startswith("causal_links[0].")


@requirement("store:projects")
async def test_projects_do_not_see_each_other(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("mine", project="a", path="p")
        await client.store("mine", project="b", path="p")
        code, reason, _ = await refusal(
            client.memories.GetMemory(pb.GetMemoryRequest(id=stored.id, project="b"))
        )
        fetched = await client.memories.BatchGetMemories(
            pb.BatchGetMemoriesRequest(ids=[stored.id], project="b")
        )

    assert (code, reason) == (grpc.StatusCode.NOT_FOUND, "MEMORY_NOT_FOUND")
    assert (list(fetched.memories), list(fetched.missing_ids)) == ([], [stored.id])
