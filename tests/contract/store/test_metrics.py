"""What the store counts of what it keeps, on every backend."""

import math

import grpc
import pytest
from contract.store.backends import Category, RunningStore, belongs_to
from contract.store.test_importing import import_all
from exposition import Growth, scrape
from unit.store.fakes import FakeEmbedder

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2 as pb


def new(content: str, **fields: object) -> pb.StoreMemoryRequest:
    return pb.StoreMemoryRequest(content=content, wing="w", **fields)  # type: ignore[arg-type]


@requirement("metrics:miras-names")
async def test_every_memory_counts_alone_in_a_batch_and_in_an_import(running_store: RunningStore) -> None:
    before = await scrape()
    async with running_store() as client:
        await client.store("We chose PostgreSQL over MySQL because the ledger needs ACID.")
        batch = [new(f"number {number}") for number in range(3)]
        await client.memories.BatchStoreMemories(pb.BatchStoreMemoriesRequest(memories=batch))
        await import_all(client, [new("number 1"), new("imported"), new("")])
        grown = Growth(before, await scrape())

    assert grown.of("mira_store_total") == 1 + 3 + 3
    assert grown.of("mira_store_duration_seconds_count") == 2
    assert grown.of("mira_store_facts_total") >= 1
    assert grown.of("satchel_store_memories_stored_total", result="new") == 5
    assert grown.of("satchel_store_memories_stored_total", result="duplicate") == 1
    assert grown.of("mira_errors_total") == 1


@requirement("metrics:miras-names")
async def test_a_memory_that_is_refused_is_a_failed_call(running_store: RunningStore) -> None:
    before = await scrape()
    async with running_store() as client:
        with pytest.raises(grpc.aio.AioRpcError):
            await client.memories.StoreMemory(new(""))
        grown = Growth(before, await scrape())

    assert (grown.of("mira_errors_total"), grown.of("mira_store_total")) == (1, 0)


@requirement("metrics:parts")
async def test_gauges_tell_what_is_held_and_what_waits_and_nothing_once_the_store_is_closed(
    running_store: RunningStore,
) -> None:
    embedder = FakeEmbedder()
    async with running_store(embedder=embedder) as client:
        await client.store("embedded")
        embedder.is_down = True
        last = await client.store("waits")
        held = await scrape()
    closed = await scrape()

    assert held.value("mira_memory_count") == 2
    assert held.value("mira_vector_count") == 1
    assert held.value("satchel_store_pending_embeddings") == 1
    assert held.value("satchel_store_revision") == last.revision
    assert math.isnan(closed.value("mira_memory_count"))


@requirement("metrics:parts")
@belongs_to(Category.ON_DISK)
async def test_files_and_commits_are_measured(running_store: RunningStore) -> None:
    before = await scrape()
    async with running_store() as client:
        await client.store("on disk")
        after = await scrape()

    assert after.value("satchel_store_file_bytes", file="database") > 0
    assert after.value("satchel_store_file_bytes", file="log") > 0
    assert after.value("satchel_store_disk_free_bytes") > 0
    assert Growth(before, after).of("satchel_store_commit_writes_count") >= 1
    assert after.value("satchel_queue_limit", queue="store.writes") > 0
