"""What is promised when the embedder is down, slow, picky or another one."""

import asyncio
from pathlib import Path

from contract.store.test_storing import get
from unit.store.fakes import OTHER_MODEL, Client, FakeEmbedder, running_store, vector

from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.types.v1 import memory_pb2

PENDING = memory_pb2.EMBEDDING_STATE_PENDING
EMBEDDED = memory_pb2.EMBEDDING_STATE_EMBEDDED


async def until_embedded(client: Client, memory_id: str, after: int) -> changes_pb.Change:
    """Wait, by the change feed, until a memory has vectors."""
    async with asyncio.timeout(10):
        request = changes_pb.WatchChangesRequest(after_revision=after, include_vectors=True)
        async for response in client.changes.WatchChanges(request):
            for change in response.changes:
                if change.memory_id == memory_id and change.passage_count:
                    return change
    raise AssertionError("The stream ended.")


async def test_without_the_embedder_a_memory_is_stored_and_found_by_text(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    embedder.is_down = True
    async with running_store(tmp_path, embedder=embedder) as client:
        stored = await client.store("elephants")
        found = await client.search.SearchText(search_pb.SearchTextRequest(query="elephant"))
        near = await client.search.SearchVectors(search_pb.SearchVectorsRequest(vector=vector("elephants")))
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert (stored.embedding, stored.model_hash) == (PENDING, "")
    assert [hit.memory_id for hit in found.hits] == [stored.id]
    assert list(near.hits) == []
    assert (status.stats.pending_embedding_count, status.stats.embedding_count) == (1, 0)


async def test_pending_memories_are_embedded_when_the_embedder_returns(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    embedder.is_down = True
    async with running_store(tmp_path, embedder=embedder) as client:
        stored = await client.store("elephants")
        embedder.is_down = False
        change = await until_embedded(client, stored.id, stored.revision)
        memory = await get(client, stored.id)
        near = await client.search.SearchVectors(search_pb.SearchVectorsRequest(vector=vector("elephants")))

    assert change.vectors == vector("elephants")
    assert (memory.embedding, memory.version) == (EMBEDDED, 1)
    assert memory.revision == change.revision > stored.revision
    assert [hit.memory_id for hit in near.hits] == [stored.id]


async def test_memories_left_pending_are_embedded_after_a_restart(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    embedder.is_down = True
    async with running_store(tmp_path, embedder=embedder) as client:
        stored = await client.store("elephants")
    async with running_store(tmp_path) as client:
        change = await until_embedded(client, stored.id, 0)

    assert change.passage_count == 1


async def test_an_update_without_the_embedder_drops_the_old_vectors(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        stored = await client.store("elephants")
        client.embedder.is_down = True
        updated = await client.memories.UpdateMemory(pb.UpdateMemoryRequest(id=stored.id, content="giraffes"))
        near = await client.search.SearchVectors(search_pb.SearchVectorsRequest(vector=vector("elephants")))
        client.embedder.is_down = False
        change = await until_embedded(client, stored.id, updated.memory.revision)

    assert updated.memory.embedding == PENDING
    assert list(near.hits) == []
    assert change.vectors == vector("giraffes")


async def test_a_text_that_the_embedder_refuses_does_not_hold_up_the_others(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    embedder.is_down = True
    async with running_store(tmp_path, embedder=embedder) as client:
        refused = await client.store("poison")
        other = await client.store("fine")
        embedder.refused = "poison"
        embedder.is_down = False
        await until_embedded(client, other.id, other.revision)
        memory = await get(client, refused.id)

    assert memory.embedding == PENDING


async def test_vectors_of_two_models_are_never_mixed(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        first = await client.store("elephants")
    embedder = FakeEmbedder()
    embedder.model = OTHER_MODEL
    async with running_store(tmp_path, embedder=embedder) as client:
        second = await client.store("giraffes")
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=first.id))
        third = await client.store("zebras")
        after = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert (second.embedding, third.embedding) == (PENDING, EMBEDDED)
    assert (status.model.sha256, status.stats.pending_embedding_count) == ("a" * 64, 1)
    assert after.model.sha256 == "b" * 64
