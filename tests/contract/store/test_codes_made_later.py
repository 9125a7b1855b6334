"""Memories that were stored before there were token codes get them by a re-embedding, on every backend."""

import asyncio

import pytest
from contract.store.backends import Category, RunningStore, belongs_to
from contract.store.test_pending import EMBEDDED
from contract.store.test_reembedding import SlowEmbedder, begin, nearest, read_feed, reembed, reembedding
from contract.store.test_storing import get
from contract.store.test_token_codes import codes_in, fetch
from unit.store.fakes import MODEL, OTHER_MODEL, Client, FakeEmbedder, codes_of

from requirements import requirement
from satchel.api.store.v1 import maintenance_service_pb2 as pb

OLD = 20  # more than two batches


async def store_without_codes(client: Client, **fields: object) -> list[str]:
    """Store memories as a version without token codes did."""
    client.embedder.has_codes = False
    ids = [(await client.store(f"elephant number {number}", **fields)).id for number in range(OLD)]
    client.embedder.has_codes = True
    return ids


@requirement("reembed:codes")
async def test_one_reembedding_makes_the_codes_that_were_missing_and_no_others(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        old = await store_without_codes(client)
        await client.store("a giraffe")
        before = await reembedding(client)
        client.embedder.texts.clear()
        told = await reembed(client)
        after = await reembedding(client)
        found = await fetch(client, *old)

    assert (before.state, before.uncoded_count, before.outdated_count) == (
        pb.REEMBEDDING_STATE_INCOMPLETE,
        OLD,
        0,
    )
    assert "satchel reembed" in before.detail
    assert told[-1].state == pb.REEMBEDDING_STATE_DONE
    assert told[-1].total_count == told[-1].done_count == OLD
    assert (after.state, after.uncoded_count) == (pb.REEMBEDDING_STATE_DONE, 0)
    assert found.token_codes.codes == codes_of(" ".join(f"elephant number {number}" for number in range(OLD)))
    assert len(client.embedder.texts) == OLD


@requirement("reembed:codes")
async def test_while_codes_are_made_everything_is_found_by_its_vectors_and_nothing_is_degraded(
    running_store: RunningStore,
) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        old = await store_without_codes(client)
        embedder.stop_after(1)
        await begin(client)
        await embedder.waiting.wait()
        during = await reembedding(client)
        found = await nearest(client, "elephant", MODEL)
        newest = await get(client, old[-1])
        feed = await read_feed(client)
        embedder.release()
        done = (await reembed(client))[-1]

    assert (during.state, during.outdated_count) == (pb.REEMBEDDING_STATE_RUNNING, 0)
    assert 0 < during.done_count == OLD - during.uncoded_count < OLD
    assert sorted(found) == sorted(old)
    assert newest.embedding == EMBEDDED
    assert {batch.reembedding for batch in feed} == {False}
    assert (done.state, done.uncoded_count) == (pb.REEMBEDDING_STATE_DONE, 0)


@requirement("reembed:codes")
async def test_of_a_model_that_gives_no_codes_none_are_missing(running_store: RunningStore) -> None:
    async with running_store() as client:
        await store_without_codes(client)
        client.embedder.has_codes = False
        client.embedder.texts.clear()
        found = await reembedding(client)
        told = await reembed(client)

    assert (found.state, found.uncoded_count) == (pb.REEMBEDDING_STATE_DONE, OLD)
    assert [one.state for one in told] == [pb.REEMBEDDING_STATE_DONE]
    assert client.embedder.texts == []


@requirement("reembed:codes")
async def test_a_model_that_ceases_to_give_codes_ends_the_work(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        old = await store_without_codes(client)
        embedder.stop_after(1)
        await begin(client)
        await embedder.waiting.wait()
        embedder.has_codes = False
        embedder.release()
        told = await reembed(client)
        found = await nearest(client, "elephant", MODEL)

    assert told[-1].state == pb.REEMBEDDING_STATE_DONE
    assert 0 < told[-1].uncoded_count < OLD
    assert sorted(found) == sorted(old)


@requirement("reembed:codes", "reembed:refused-text")
async def test_a_text_that_is_refused_now_keeps_the_vectors_that_it_has(running_store: RunningStore) -> None:
    async with running_store() as client:
        old = await store_without_codes(client)
        client.embedder.refused = "elephant number 3"
        told = await reembed(client)
        found = await nearest(client, "elephant", MODEL)
        refused = await codes_in(client, old[3])

    assert (told[-1].state, told[-1].pending_count) == (pb.REEMBEDDING_STATE_DONE, 0)
    assert sorted(found) == sorted(old)
    assert refused == b""


@requirement("reembed:codes")
async def test_another_model_gives_every_memory_its_own_codes(running_store: RunningStore) -> None:
    async with running_store() as client:
        old = await store_without_codes(client)
        client.embedder.model = OTHER_MODEL
        needed = await reembedding(client)
        told = await reembed(client)
        first = await codes_in(client, old[0])

    assert needed.state == pb.REEMBEDDING_STATE_NEEDED
    assert (told[-1].state, told[-1].uncoded_count) == (pb.REEMBEDDING_STATE_DONE, 0)
    assert first == codes_of("elephant number 0")


@belongs_to(Category.LASTING)
@requirement("reembed:codes", "reembed:resumed")
async def test_the_making_of_codes_goes_on_after_a_restart(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        old = await store_without_codes(client)
        embedder.stop_after(1)
        await begin(client)
        await embedder.waiting.wait()
        before = await reembedding(client)
    embedder.release()
    embedder.texts.clear()
    async with running_store(embedder=embedder) as client:
        async with asyncio.timeout(20):
            while (after := await reembedding(client)).state == pb.REEMBEDDING_STATE_RUNNING:  # noqa: ASYNC110  # its own progress
                await asyncio.sleep(0)
        last = await codes_in(client, old[-1])

    assert len(embedder.texts) == before.uncoded_count < OLD
    assert (after.state, after.begun_at, after.uncoded_count) == (
        pb.REEMBEDDING_STATE_DONE,
        before.begun_at,
        0,
    )
    assert last == codes_of(f"elephant number {OLD - 1}")


@requirement("reembed:needed")
@pytest.mark.parametrize(("project", "uncoded", "pending"), [("p", OLD, 0), ("q", 0, 1), ("", OLD, 1)])
async def test_the_memories_of_one_project_are_counted_where_it_is_named(
    running_store: RunningStore, project: str, uncoded: int, pending: int
) -> None:
    embedder = FakeEmbedder()
    async with running_store(embedder=embedder) as client:
        await store_without_codes(client, project="p")
        await client.store("coded", project="q")
        embedder.is_down = True
        await client.store("waiting", project="q")
        answer = await client.maintenance.GetReembedding(pb.GetReembeddingRequest(project=project))

    found = answer.reembedding
    assert (found.uncoded_count, found.pending_count) == (uncoded, pending)


@requirement("reembed:needed")
async def test_outdated_memories_are_counted_by_project_too(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        await client.store("one", project="p")
        await client.store("two", project="q")
        await client.store("three", project="q")
        embedder.model = OTHER_MODEL
        embedder.stop_after(0)
        await begin(client)
        await embedder.waiting.wait()
        answers = [
            (await client.maintenance.GetReembedding(pb.GetReembeddingRequest(project=name))).reembedding
            for name in ("p", "q", "")
        ]
        embedder.release()

    assert [one.outdated_count for one in answers] == [1, 2, 3]
    assert [one.total_count for one in answers] == [0, 0, 3]
