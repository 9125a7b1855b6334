"""What is promised when the embedder is down, slow, picky or another one."""

import asyncio
from collections.abc import Sequence

from contract.store.backends import Category, RunningStore, belongs_to
from contract.store.test_storing import get
from unit.store.fakes import MODEL, OTHER_MODEL, Client, FakeEmbedder, vector

from requirements import requirement
from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.types.v1 import memory_pb2
from satchel.store.engine.embedding import embed_or_none
from satchel.store.model import Embedded, Passages

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


@requirement("embed:pending")
async def test_without_the_embedder_a_memory_is_stored_and_found_by_text(running_store: RunningStore) -> None:
    embedder = FakeEmbedder()
    embedder.is_down = True
    async with running_store(embedder=embedder) as client:
        stored = await client.store("elephants")
        found = await client.search.SearchText(search_pb.SearchTextRequest(query="elephant"))
        near = await client.search.SearchStoredVectors(
            search_pb.SearchStoredVectorsRequest(vector=vector("elephants"))
        )
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert (stored.embedding, stored.model_hash) == (PENDING, "")
    assert [hit.memory_id for hit in found.hits] == [stored.id]
    assert list(near.hits) == []
    assert (status.stats.pending_embedding_count, status.stats.embedding_count) == (1, 0)


@requirement("embed:later")
async def test_pending_memories_are_embedded_when_the_embedder_returns(running_store: RunningStore) -> None:
    embedder = FakeEmbedder()
    embedder.is_down = True
    async with running_store(embedder=embedder) as client:
        stored = await client.store("elephants")
        embedder.is_down = False
        change = await until_embedded(client, stored.id, stored.revision)
        memory = await get(client, stored.id)
        near = await client.search.SearchStoredVectors(
            search_pb.SearchStoredVectorsRequest(vector=vector("elephants"))
        )

    assert change.vectors == vector("elephants")
    assert (memory.embedding, memory.version) == (EMBEDDED, 1)
    assert memory.revision == change.revision > stored.revision
    assert [hit.memory_id for hit in near.hits] == [stored.id]


@requirement("embed:later")
@belongs_to(Category.LASTING)
async def test_memories_left_pending_are_embedded_after_a_restart(running_store: RunningStore) -> None:
    embedder = FakeEmbedder()
    embedder.is_down = True
    async with running_store(embedder=embedder) as client:
        stored = await client.store("elephants")
    async with running_store() as client:
        change = await until_embedded(client, stored.id, 0)

    assert change.passage_count == 1


@requirement("embed:current-text", "embed:later")
async def test_an_update_without_the_embedder_drops_the_old_vectors(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("elephants")
        client.embedder.is_down = True
        updated = await client.memories.UpdateMemory(pb.UpdateMemoryRequest(id=stored.id, content="giraffes"))
        near = await client.search.SearchStoredVectors(
            search_pb.SearchStoredVectorsRequest(vector=vector("elephants"))
        )
        client.embedder.is_down = False
        change = await until_embedded(client, stored.id, updated.memory.revision)

    assert updated.memory.embedding == PENDING
    assert list(near.hits) == []
    assert change.vectors == vector("giraffes")


@requirement("embed:refused-text")
async def test_a_text_that_the_embedder_refuses_does_not_hold_up_the_others(
    running_store: RunningStore,
) -> None:
    embedder = FakeEmbedder()
    embedder.is_down = True
    async with running_store(embedder=embedder) as client:
        refused = await client.store("poison")
        other = await client.store("fine")
        embedder.refused = "poison"
        embedder.is_down = False
        await until_embedded(client, other.id, other.revision)
        memory = await get(client, refused.id)

    assert memory.embedding == PENDING


@requirement("embed:one-model")
async def test_vectors_of_two_models_are_never_mixed(running_store: RunningStore) -> None:
    async with running_store() as client:
        first = await client.store("elephants")
        client.embedder.model = OTHER_MODEL
        second = await client.store("giraffes")
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=first.id))
        third = await client.store("zebras")
        after = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert (second.embedding, third.embedding) == (PENDING, EMBEDDED)
    assert (status.model.sha256, status.stats.pending_embedding_count) == ("a" * 64, 1)
    assert after.model.sha256 == "b" * 64


@requirement("embed:one-model")
async def test_the_only_memory_with_vectors_may_get_those_of_another_model(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        stored = await client.store("elephants")
        client.embedder.model = OTHER_MODEL
        request = pb.UpdateMemoryRequest(id=stored.id, content="giraffes")
        updated = (await client.memories.UpdateMemory(request)).memory
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert (updated.embedding, status.model.sha256) == (EMBEDDED, "b" * 64)


@requirement("embed:current-text")
async def test_vectors_of_a_text_that_was_replaced_meanwhile_are_not_attached(
    running_store: RunningStore,
) -> None:
    embedder = FakeEmbedder()
    (late,) = await embedder.embed(["elephants"], timeout_s=1)
    embedder.is_down = True
    async with running_store(embedder=embedder) as client:
        stored = await client.store("elephants")
        await client.memories.UpdateMemory(pb.UpdateMemoryRequest(id=stored.id, content="giraffes"))
        attached = await client.built.store.attach([Embedded(stored.id, 1, late)])
        memory = await get(client, stored.id)

    assert (attached.count, attached.refused) == (0, False)
    assert memory.embedding == PENDING


@requirement("embed:later")
async def test_what_waits_for_its_vectors_comes_oldest_first(running_store: RunningStore) -> None:
    embedder = FakeEmbedder()
    embedder.is_down = True
    async with running_store(embedder=embedder) as client:
        ids = [(await client.store(f"text {number}")).id for number in range(3)]
        await client.memories.UpdateMemory(pb.UpdateMemoryRequest(id=ids[0], title="T"))
        waiting = await client.built.store.pending(skip=frozenset(ids[1:2]), limit=2)
        first = await client.built.store.pending(skip=frozenset(), limit=1)

    assert [one.id for one in waiting] == [ids[0], ids[2]]
    assert [(one.id, one.version, one.text) for one in first] == [(ids[0], 2, "text 0")]


@requirement("embed:one-model")
async def test_writes_under_a_refused_model_do_not_embed_all_that_waits_again(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        await client.store("elephants")
        client.embedder.model = OTHER_MODEL
        for number in range(30):
            await client.store(f"text {number}")
            await until_idle(client)
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert status.stats.pending_embedding_count == 30
    assert len(client.embedder.texts) == 31


@requirement("embed:one-model", "embed:later")
async def test_what_a_refused_model_left_waiting_is_embedded_once_a_model_is_accepted(
    running_store: RunningStore,
) -> None:
    embedder = FakeEmbedder()
    async with running_store(embedder=embedder) as client:
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


@requirement("embed:time", "embed:refused-text")
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
