"""What a change of the embedding model does, on every backend."""

import asyncio
import struct
from collections.abc import Sequence
from dataclasses import replace

import grpc
import numpy as np
import pytest
from contract.store.backends import Category, RunningStore, belongs_to
from contract.store.test_pending import EMBEDDED, PENDING, until_embedded
from contract.store.test_storing import get
from unit.store.fakes import MODEL, OTHER_MODEL, Client, FakeEmbedder, vector

from requirements import requirement
from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import maintenance_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.types.v1 import scope_pb2
from satchel.runtime.status import from_rpc_error
from satchel.store.model import ModelIdentity, Passages

THIRD_MODEL = ModelIdentity("third", "1", "c" * 64, MODEL.dimension, 256)
MANY = 70  # more than two batches


class SlowEmbedder(FakeEmbedder):
    """Embeds ``allowed`` batches more, and then waits for `release`."""

    def __init__(self) -> None:
        super().__init__()
        self.allowed: int | None = None
        self._changed = asyncio.Event()
        self.waiting = asyncio.Event()

    async def embed(self, texts: Sequence[str], *, timeout_s: float) -> tuple[Passages, ...]:
        while self.allowed == 0:
            self.waiting.set()
            await self._changed.wait()
        if self.allowed is not None:
            self.allowed -= 1
        return await super().embed(texts, timeout_s=timeout_s)

    def stop_after(self, batches: int) -> None:
        self.allowed = batches
        self.waiting.clear()

    def release(self) -> None:
        self.allowed = None
        self._changed.set()
        self._changed = asyncio.Event()


class OtherWidth(FakeEmbedder):
    """Gives vectors of three numbers once its model is another."""

    wide = replace(OTHER_MODEL, dimension=3)

    async def embed(self, texts: Sequence[str], *, timeout_s: float) -> tuple[Passages, ...]:
        if self.model != self.wide:
            return await super().embed(texts, timeout_s=timeout_s)
        row = np.array([1, 0, 0], "<f4").tobytes()
        return tuple(Passages(self.wide, 1, struct.pack("<2i", 0, len(text)), row) for text in texts)


async def reembedding(client: Client) -> pb.Reembedding:
    return (await client.maintenance.GetReembedding(pb.GetReembeddingRequest())).reembedding


async def reembed(client: Client) -> list[pb.Reembedding]:
    """Re-embed to the end, and return the progress that was told."""
    call = client.maintenance.ReembedMemories(pb.ReembedMemoriesRequest(), timeout=20)
    return [one.reembedding async for one in call]


async def begin(client: Client) -> pb.Reembedding:
    """Begin, and go away after the first answer."""
    call = client.maintenance.ReembedMemories(pb.ReembedMemoriesRequest(), timeout=20)
    async for one in call:
        call.cancel()
        return one.reembedding
    raise AssertionError("There was no answer.")


async def until_done(client: Client) -> pb.Reembedding:
    """Wait for the end of the work by the change feed, which tells of it."""
    request = changes_pb.WatchChangesRequest(after_revision=0)
    async for batch in client.changes.WatchChanges(request, timeout=20):
        if not batch.reembedding and batch.model.sha256 == client.embedder.model.sha256:
            break
    async with asyncio.timeout(20):
        while (found := await reembedding(client)).state == pb.REEMBEDDING_STATE_RUNNING:  # noqa: ASYNC110  # its own progress
            await asyncio.sleep(0)
    return found


async def nearest(client: Client, text: str, model: ModelIdentity, top_k: int = 1000) -> list[str]:
    request = search_pb.SearchStoredVectorsRequest(
        vector=vector(text), model_sha256=model.sha256, filter=scope_pb2.MemoryFilter(), top_k=top_k
    )
    return [hit.memory_id for hit in (await client.search.SearchStoredVectors(request)).hits]


async def by_words(client: Client, query: str) -> list[str]:
    found = await client.search.SearchText(search_pb.SearchTextRequest(query=query))
    return [hit.memory_id for hit in found.hits]


async def store_many(client: Client) -> list[str]:
    texts = [f"elephant number {number}" for number in range(MANY)]
    batch = [memory_pb.StoreMemoryRequest(content=text, wing="w") for text in texts]
    stored = await client.memories.BatchStoreMemories(memory_pb.BatchStoreMemoriesRequest(memories=batch))
    return [one.id for one in stored.memories]


@requirement("reembed:needed")
async def test_another_model_is_told_with_what_to_do_and_changes_nothing_by_itself(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        stored = await client.store("elephants")
        before = await reembedding(client)
        client.embedder.model = OTHER_MODEL
        found = await reembedding(client)
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await nearest(client, "elephants", OTHER_MODEL)
        by_old_model = await nearest(client, "elephants", MODEL)

    assert before.state == pb.REEMBEDDING_STATE_DONE
    assert found.state == pb.REEMBEDDING_STATE_NEEDED
    assert "satchel reembed" in found.detail
    assert (found.store_model.sha256, found.embedder_model.sha256) == (MODEL.sha256, OTHER_MODEL.sha256)
    assert from_rpc_error(failure.value).reason == "ERROR_REASON_MODEL_MISMATCH"
    assert by_old_model == [stored.id]


@requirement("reembed:all")
async def test_every_memory_gets_vectors_of_the_new_model_and_the_last_answer_says_so(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        ids = await store_many(client)
        client.embedder.model = OTHER_MODEL
        told = await reembed(client)
        found = await nearest(client, "elephant", OTHER_MODEL)
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await nearest(client, "elephant", MODEL)
        status = await client.memories.GetStoreStatus(memory_pb.GetStoreStatusRequest())

    last = told[-1]
    assert last.state == pb.REEMBEDDING_STATE_DONE
    assert (last.total_count, last.done_count, last.outdated_count) == (MANY, MANY, 0)
    assert last.finished_at.ToMicroseconds() >= last.begun_at.ToMicroseconds() > 0
    assert sorted(found) == sorted(ids)
    assert from_rpc_error(failure.value).reason == "ERROR_REASON_MODEL_MISMATCH"
    assert (status.model.sha256, status.stats.outdated_embedding_count) == (OTHER_MODEL.sha256, 0)


@requirement("reembed:serving")
async def test_the_store_serves_meanwhile_and_no_search_sees_two_models(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        ids = await store_many(client)
        embedder.model = OTHER_MODEL
        embedder.stop_after(1)
        await begin(client)
        await embedder.waiting.wait()
        during = await reembedding(client)
        renewed = await nearest(client, "elephant", OTHER_MODEL)
        words = await by_words(client, "number 69")
        oldest, newest = await get(client, ids[0]), await get(client, ids[-1])
        status = await client.memories.GetStoreStatus(memory_pb.GetStoreStatusRequest())
        embedder.release()
        done = await until_done(client)

    assert during.state == pb.REEMBEDDING_STATE_RUNNING
    assert (during.total_count, during.done_count) == (MANY, MANY - during.outdated_count)
    assert sorted(renewed) == sorted(ids[: during.done_count])
    assert 0 < during.done_count < MANY
    assert words[0] == ids[69]
    assert (oldest.embedding, newest.embedding) == (EMBEDDED, PENDING)
    assert (status.stats.outdated_embedding_count, status.stats.pending_embedding_count) == (
        during.outdated_count,
        0,
    )
    assert done.state == pb.REEMBEDDING_STATE_DONE


@requirement("reembed:serving")
async def test_the_feed_sends_vectors_of_the_model_in_use_alone_and_says_while_some_are_missing(
    running_store: RunningStore,
) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        await store_many(client)
        embedder.model = OTHER_MODEL
        embedder.stop_after(1)
        await begin(client)
        await embedder.waiting.wait()
        during = await read_feed(client)
        done = (await reembedding(client)).done_count
        embedder.release()
        await until_done(client)
        after = await read_feed(client)

    with_vectors = [change for batch in during for change in batch.changes if change.vectors]
    assert {change.model_sha256 for change in with_vectors} == {OTHER_MODEL.sha256}
    assert len(with_vectors) == done
    assert all(
        bool(change.passage_count) == bool(change.vectors) for batch in during for change in batch.changes
    )
    assert (during[-1].reembedding, during[-1].model.sha256) == (True, OTHER_MODEL.sha256)
    assert (after[-1].reembedding, sum(len(batch.changes) for batch in after)) == (False, MANY)


async def read_feed(client: Client) -> list[changes_pb.WatchChangesResponse]:
    request = changes_pb.WatchChangesRequest(include_vectors=True, stop_at_head=True)
    return [batch async for batch in client.changes.WatchChanges(request)]


@requirement("reembed:changes")
async def test_what_is_changed_or_deleted_meanwhile_is_right_at_the_end(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        ids = await store_many(client)
        embedder.model = OTHER_MODEL
        embedder.stop_after(0)
        await begin(client)
        await embedder.waiting.wait()  # with the first batch in its hands
        embedder.allowed = None
        await client.memories.UpdateMemory(memory_pb.UpdateMemoryRequest(id=ids[0], content="a lone giraffe"))
        await client.memories.UpdateMemory(memory_pb.UpdateMemoryRequest(id=ids[1], title="A title"))
        for memory_id in (ids[2], ids[-1]):
            await client.memories.DeleteMemory(memory_pb.DeleteMemoryRequest(id=memory_id))
        embedder.release()
        done = await until_done(client)
        giraffe = await nearest(client, "a lone giraffe", OTHER_MODEL, top_k=1)
        found = await nearest(client, "elephant", OTHER_MODEL)

    assert done.state == pb.REEMBEDDING_STATE_DONE
    assert giraffe == [ids[0]]
    assert sorted(found) == sorted(set(ids) - {ids[2], ids[-1]})


@requirement("reembed:resumed")
async def test_the_work_goes_on_when_the_caller_is_gone(running_store: RunningStore) -> None:
    async with running_store() as client:
        ids = await store_many(client)
        client.embedder.model = OTHER_MODEL
        await begin(client)
        await until_done(client)
        found = await nearest(client, "elephant", OTHER_MODEL)

    assert len(found) == len(ids)


@belongs_to(Category.LASTING)
@requirement("reembed:resumed")
async def test_the_work_goes_on_after_a_restart_without_a_call(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        await store_many(client)
        embedder.model = OTHER_MODEL
        embedder.stop_after(1)
        await begin(client)
        await embedder.waiting.wait()
        before = await reembedding(client)
    embedder.release()
    embedder.texts.clear()
    async with running_store(embedder=embedder) as client:
        after = await until_done(client)
        found = await nearest(client, "elephant", OTHER_MODEL)

    assert len(embedder.texts) == before.outdated_count < MANY
    assert (after.begun_at, after.total_count, after.done_count) == (before.begun_at, MANY, MANY)
    assert len(found) == MANY


@requirement("reembed:back")
async def test_going_back_before_the_end_keeps_the_vectors_that_are_still_there(
    running_store: RunningStore,
) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        await store_many(client)
        embedder.model = OTHER_MODEL
        embedder.stop_after(1)
        await begin(client)
        await embedder.waiting.wait()
        renewed = (await reembedding(client)).done_count
        embedder.model = MODEL
        embedder.texts.clear()
        call = asyncio.create_task(reembed(client))
        await asyncio.sleep(0)
        embedder.release()
        told = await call
        found = await nearest(client, "elephant", MODEL)

    assert told[-1].state == pb.REEMBEDDING_STATE_DONE
    assert len(found) == MANY
    # Those that had been renewed, and the batch that was in the embedder's hands when the model went back.
    assert renewed <= len(embedder.texts) < MANY


@requirement("reembed:all")
async def test_a_third_model_in_the_middle_is_the_only_one_at_the_end(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        await store_many(client)
        embedder.model = OTHER_MODEL
        embedder.stop_after(1)
        await begin(client)
        await embedder.waiting.wait()
        embedder.model = THIRD_MODEL
        embedder.release()
        told = await reembed(client)
        found = await nearest(client, "elephant", THIRD_MODEL)

    assert told[-1].store_model.sha256 == THIRD_MODEL.sha256
    assert len(found) == MANY


@requirement("reembed:all")
async def test_a_model_of_another_width_takes_over(running_store: RunningStore) -> None:
    embedder = OtherWidth()
    async with running_store(embedder=embedder) as client:
        stored = await client.store("elephants")
        embedder.model = OtherWidth.wide
        await reembed(client)
        request = search_pb.SearchStoredVectorsRequest(vector=np.array([1, 0, 0], "<f4").tobytes(), top_k=5)
        found = await client.search.SearchStoredVectors(request)
        fetched = await client.search.FetchCandidates(search_pb.FetchCandidatesRequest(ids=[stored.id]))

    assert [(hit.memory_id, hit.score) for hit in found.hits] == [(stored.id, 1.0)]
    assert (found.model.dimension, fetched.dimension, len(fetched.vectors)) == (3, 3, 12)


@requirement("reembed:changes")
async def test_what_was_stored_under_a_refused_model_gets_its_vectors_too(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        await client.store("elephants")
        client.embedder.model = OTHER_MODEL
        late = await client.store("giraffes")
        waiting = (await reembedding(client)).pending_count
        await reembed(client)
        await until_embedded(client, late.id, late.revision)
        found = await nearest(client, "giraffes", OTHER_MODEL, top_k=1)

    assert (late.embedding, waiting, found) == (PENDING, 1, [late.id])


@requirement("reembed:refused-text")
async def test_a_text_that_the_new_model_refuses_is_pending_and_keeps_nothing_from_its_end(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        await store_many(client)
        poison = await client.store("poison")
        client.embedder.model, client.embedder.refused = OTHER_MODEL, "poison"
        told = await reembed(client)
        memory = await get(client, poison.id)
        found = await nearest(client, "elephant", OTHER_MODEL)

    assert told[-1].state == pb.REEMBEDDING_STATE_DONE
    assert (memory.embedding, told[-1].pending_count) == (PENDING, 1)
    assert len(found) == MANY


@requirement("reembed:resumed")
async def test_an_embedder_that_goes_away_is_waited_for(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        await store_many(client)
        embedder.model = OTHER_MODEL
        embedder.stop_after(1)
        await begin(client)
        await embedder.waiting.wait()
        embedder.is_down = True
        embedder.release()
        down = await reembedding(client)
        embedder.is_down = False
        done = await until_done(client)

    assert down.state == pb.REEMBEDDING_STATE_WAITING
    assert done.state == pb.REEMBEDDING_STATE_DONE


@requirement("reembed:needed")
async def test_nothing_begins_without_an_embedder(running_store: RunningStore) -> None:
    async with running_store() as client:
        await client.store("elephants")
        client.embedder.is_down = True
        found = await reembedding(client)
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await reembed(client)

    assert found.state == pb.REEMBEDDING_STATE_UNKNOWN
    assert from_rpc_error(failure.value).reason == "ERROR_REASON_PEER_UNAVAILABLE"


@requirement("reembed:all")
async def test_where_every_vector_is_of_the_model_the_first_answer_is_the_last(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        empty = await reembed(client)
        await client.store("elephants")
        told = await reembed(client)

    assert [one.state for one in (*empty, *told)] == [pb.REEMBEDDING_STATE_DONE] * 2
    assert client.embedder.texts == ["elephants"]


@requirement("reembed:serving")
async def test_storing_an_outdated_memory_again_finds_it_and_says_that_it_waits(
    running_store: RunningStore,
) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        first = await client.store("elephants")
        embedder.model = OTHER_MODEL
        embedder.stop_after(0)
        await begin(client)
        again = await client.store("elephants")
        embedder.release()
        await until_done(client)

    assert (again.id, again.duplicate, again.embedding) == (first.id, True, PENDING)
