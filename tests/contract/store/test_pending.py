"""What is promised when the embedder is down, slow, picky or another one."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from contract.store.test_storing import get
from unit.store.fakes import MODEL, OTHER_MODEL, Client, FakeEmbedder, running_store, vector

from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.types.v1 import memory_pb2
from satchel.store.engine.embedding import embed_or_none
from satchel.store.model import Passages

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


async def test_writes_under_a_refused_model_do_not_embed_all_that_waits_again(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        await client.store("elephants")
    embedder = FakeEmbedder()
    embedder.model = OTHER_MODEL
    async with running_store(tmp_path, embedder=embedder) as client:
        for number in range(30):
            await client.store(f"text {number}")
            await until_idle(client)
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert status.stats.pending_embedding_count == 30
    assert len(embedder.texts) == 30


async def test_what_a_refused_model_left_waiting_is_embedded_once_a_model_is_accepted(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    async with running_store(tmp_path, embedder=embedder) as client:
        await client.store("elephants")
        embedder.model = OTHER_MODEL
        stored = [await client.store(f"text {number}") for number in range(3)]
        embedder.model = MODEL
        await client.store("giraffes")
        for one in stored:
            await until_embedded(client, one.id, 0)
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert status.stats.pending_embedding_count == 0
    assert status.stats.embedding_count == 5


async def until_idle(client: Client) -> None:
    """Let the tasks that are ready run to where they wait for the database, and the database answer."""
    for _ in range(3):
        await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())


async def test_a_caller_waits_for_the_embedder_once_however_many_tries_it_needs() -> None:
    class Picky(FakeEmbedder):
        def __init__(self) -> None:
            super().__init__()
            self.timeouts: list[float] = []

        async def embed(self, texts: Sequence[str], *, timeout_s: float) -> tuple[Passages, ...]:
            self.timeouts.append(timeout_s)
            return await super().embed(texts, timeout_s=timeout_s)

    embedder = Picky()
    embedder.refused = "poison"
    found = await embed_or_none(embedder, ["poison", "fine", "good"], 10.0)

    assert [one is None for one in found] == [True, False, False]
    assert embedder.timeouts == sorted(set(embedder.timeouts), reverse=True)
    assert len(embedder.timeouts) == 4
