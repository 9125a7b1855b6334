"""A re-embedding that is begun without waiting for it, and ended before its time, on every backend."""

import asyncio

import grpc
import pytest
from contract.store.backends import Category, RunningStore, belongs_to
from contract.store.test_codes_made_later import OLD, store_without_codes
from contract.store.test_reembedding import (
    MANY,
    SlowEmbedder,
    nearest,
    read_feed,
    reembed,
    reembedding,
    store_many,
    until_done,
)
from unit.store.fakes import MODEL, OTHER_MODEL, Client

from requirements import requirement
from satchel.api.store.v1 import maintenance_service_pb2 as pb
from satchel.runtime.status import from_rpc_error

AGAIN = 50  # times that something is looked at, while work that went on would do all the rest


async def begin(client: Client) -> pb.Reembedding:
    return (await client.maintenance.BeginReembedding(pb.BeginReembeddingRequest())).reembedding


async def cancel(client: Client) -> pb.Reembedding:
    return (await client.maintenance.CancelReembedding(pb.CancelReembeddingRequest())).reembedding


async def cancel_in_the_middle(client: Client, embedder: SlowEmbedder) -> list[str]:
    """Store many memories, and cancel their re-embedding after the first batch; return their ids."""
    ids = await store_many(client)
    embedder.model = OTHER_MODEL
    embedder.stop_after(1)
    await begin(client)
    await embedder.waiting.wait()
    await cancel(client)
    return ids


@requirement("reembed:all")
async def test_beginning_answers_at_once_and_the_work_is_done_all_the_same(
    running_store: RunningStore,
) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        await store_many(client)
        embedder.model = OTHER_MODEL
        embedder.stop_after(0)
        begun = await begin(client)
        again = await begin(client)
        embedder.release()
        done = await until_done(client)

    assert (begun.state, begun.total_count, begun.done_count) == (pb.REEMBEDDING_STATE_RUNNING, MANY, 0)
    assert again.begun_at == begun.begun_at == done.begun_at
    assert (done.state, done.done_count) == (pb.REEMBEDDING_STATE_DONE, MANY)


@requirement("reembed:needed")
async def test_without_an_embedder_nothing_is_begun(running_store: RunningStore) -> None:
    async with running_store() as client:
        await client.store("elephants")
        client.embedder.is_down = True
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await begin(client)
        client.embedder.is_down = False
        found = await reembedding(client)

    assert from_rpc_error(failure.value).reason == "ERROR_REASON_PEER_UNAVAILABLE"
    assert not found.HasField("begun_at")


@requirement("reembed:cancelled")
async def test_what_is_done_stays_done_and_the_rest_is_as_it_was(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        ids = await cancel_in_the_middle(client, embedder)
        stopped = await reembedding(client)
        found = await nearest(client, "elephant", OTHER_MODEL)
        feed = await read_feed(client)
        embedder.release()

    assert stopped.state == pb.REEMBEDDING_STATE_CANCELLED
    assert stopped.cancelled_at.ToMicroseconds() >= stopped.begun_at.ToMicroseconds() > 0
    assert not stopped.HasField("finished_at")
    assert "satchel reembed" in stopped.detail
    assert 0 < stopped.done_count < MANY
    assert sorted(found) == sorted(ids[: stopped.done_count])
    assert feed[-1].reembedding


@requirement("reembed:cancelled")
async def test_whoever_waits_for_the_end_is_told_that_it_was_cancelled(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        await store_many(client)
        embedder.model = OTHER_MODEL
        embedder.stop_after(1)
        watching = asyncio.create_task(reembed(client))
        await embedder.waiting.wait()
        await cancel(client)
        told = await watching
        embedder.release()

    assert told[-1].state == pb.REEMBEDDING_STATE_CANCELLED


@requirement("reembed:cancelled")
async def test_no_more_than_the_batch_at_hand_is_embedded_after_a_cancellation(
    running_store: RunningStore,
) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        await cancel_in_the_middle(client, embedder)
        before = (await reembedding(client)).done_count
        embedder.release()
        async with asyncio.timeout(20):
            while (at_hand := (await reembedding(client)).done_count) == before:  # noqa: ASYNC110  # its own progress
                await asyncio.sleep(0)
        for _ in range(AGAIN):
            stopped = await reembedding(client)

    assert stopped.state == pb.REEMBEDDING_STATE_CANCELLED
    assert before < stopped.done_count == at_hand < MANY


@requirement("reembed:cancelled")
async def test_to_begin_again_does_only_the_rest(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        ids = await cancel_in_the_middle(client, embedder)
        left = (await reembedding(client)).outdated_count
        embedder.texts.clear()
        embedder.release()
        done = (await reembed(client))[-1]
        found = await nearest(client, "elephant", OTHER_MODEL)
        feed = await read_feed(client)

    assert done.state == pb.REEMBEDDING_STATE_DONE
    assert done.done_count == done.total_count <= left
    assert not done.HasField("cancelled_at")
    assert len(embedder.texts) == left < MANY
    assert sorted(found) == sorted(ids)
    assert not feed[-1].reembedding


@requirement("reembed:cancelled", "reembed:back")
async def test_after_a_cancellation_the_former_model_can_be_taken_again(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        ids = await cancel_in_the_middle(client, embedder)
        embedder.model = MODEL
        embedder.release()
        told = await reembed(client)
        found = await nearest(client, "elephant", MODEL)

    assert told[-1].state == pb.REEMBEDDING_STATE_DONE
    assert sorted(found) == sorted(ids)


@belongs_to(Category.LASTING)
@requirement("reembed:cancelled")
async def test_a_restart_begins_nothing_that_was_cancelled(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        await cancel_in_the_middle(client, embedder)
        before = await reembedding(client)
    embedder.release()
    embedder.texts.clear()
    async with running_store(embedder=embedder) as client:
        await client.store("a giraffe")
        after = await reembedding(client)

    assert after == before
    assert embedder.texts == ["a giraffe"]


@requirement("reembed:cancelled")
async def test_where_only_codes_are_missing_a_cancellation_hides_nothing(running_store: RunningStore) -> None:
    embedder = SlowEmbedder()
    async with running_store(embedder=embedder) as client:
        old = await store_without_codes(client)
        embedder.stop_after(1)
        await begin(client)
        await embedder.waiting.wait()
        stopped = await cancel(client)
        found = await nearest(client, "elephant", MODEL)
        embedder.release()

    assert stopped.state == pb.REEMBEDDING_STATE_INCOMPLETE
    assert 0 < stopped.uncoded_count < OLD
    assert sorted(found) == sorted(old)


@requirement("reembed:cancelled")
async def test_to_cancel_what_does_not_run_changes_nothing(running_store: RunningStore) -> None:
    async with running_store() as client:
        never = await cancel(client)
        await client.store("elephants")
        client.embedder.model = OTHER_MODEL
        await reembed(client)
        before = await reembedding(client)
        after = await cancel(client)

    assert never.state == pb.REEMBEDDING_STATE_DONE
    assert after == before
