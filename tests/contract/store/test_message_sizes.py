"""A client that keeps the default of its gRPC library, messages of up to 4 MiB, reads what is large.

The calls go over a socket and a plain channel, since the channels of the runtime take more.
"""

import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import grpc
import numpy as np
import pytest
from contract.store.backends import RunningStore
from google.protobuf import struct_pb2
from unit.store.fakes import MODEL, Client, FakeEmbedder

from requirements import requirement
from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import change_service_pb2_grpc as changes_rpc
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2_grpc as rpc
from satchel.api.types.v1 import memory_pb2
from satchel.runtime.server import GrpcServer
from satchel.runtime.status import from_rpc_error
from satchel.store.model import Passages

DEFAULT_LIMIT = 4 << 20
# Four bytes in UTF-8, as many as a code point can take.
RECEIPT = "🧾"
LARGEST_TEXT = 65_536
LARGEST_COMPONENT = 1 << 20
WIDTH = 512
PASSAGES = 256


class WideEmbedder(FakeEmbedder):
    """Gives every text 256 vectors of 512 numbers: half a mebibyte."""

    async def embed(self, texts: Sequence[str], *, timeout_s: float) -> tuple[Passages, ...]:
        assert timeout_s > 0
        rows = np.zeros((PASSAGES, WIDTH), "<f4")
        rows[:, 0] = 1
        spans = struct.pack(f"<{2 * PASSAGES}i", *([0, 1] * PASSAGES))
        model = replace(MODEL, dimension=WIDTH)
        return tuple(Passages(model, PASSAGES, spans, rows.tobytes()) for _ in texts)


@asynccontextmanager
async def plain_channel(client: Client) -> AsyncIterator[grpc.aio.Channel]:
    """Serve the store at a port, and connect as a client does that sets no options."""
    server = GrpcServer(["127.0.0.1:0"], grace_s=0.2)
    server.register(client.built)
    async with server, grpc.aio.insecure_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        yield channel


def largest_component() -> memory_pb2.Component:
    """Return typed fields that are almost as large as they may be."""
    component = memory_pb2.Component()
    component.procedural.steps.extend([RECEIPT * 1_300] * 200)
    return component


def largest_metadata() -> struct_pb2.Struct:
    """Return metadata that takes almost 64 KiB as JSON, and as much as possible as a message."""
    metadata = struct_pb2.Struct()
    metadata.update({"numbers": [0] * 16_000})
    return metadata


async def store_the_largest(client: Client, count: int) -> list[str]:
    """Store memories that are as large as they may be, and link them to one another."""
    ids = list[str]()
    for number in range(count):
        text = str(number).rjust(5, "0")
        stored = await client.store(
            text + RECEIPT * (LARGEST_TEXT - len(text)),
            title=RECEIPT * 500,
            summary=RECEIPT * 2_000,
            metadata=largest_metadata(),
            component=largest_component(),
            causal_links=[
                memory_pb2.CausalLink(memory_id=one, relation=memory_pb2.CAUSAL_RELATION_BECAUSE)
                for one in ids
            ],
        )
        ids.append(stored.id)
    return ids


@requirement("read:default-limit")
async def test_a_client_with_the_default_limit_reads_the_largest_memories_by_every_call(
    running_store: RunningStore,
) -> None:
    async with running_store() as client, plain_channel(client) as channel:
        ids = await store_the_largest(client, 3)
        memories = rpc.MemoryServiceStub(channel)
        got = await memories.GetMemory(pb.GetMemoryRequest(id=ids[-1]))
        batch = await memories.BatchGetMemories(pb.BatchGetMemoriesRequest(ids=ids))
        page = await memories.ListMemories(pb.ListMemoriesRequest())
        export = [one async for one in memories.ExportMemories(pb.ExportMemoriesRequest())]

    assert DEFAULT_LIMIT / 3 < got.ByteSize() < DEFAULT_LIMIT
    assert [one.id for one in batch.memories] + list(batch.remaining_ids) == ids
    assert [one.id for one in page.memories] == ids[:-2:-1]
    assert page.next_page_token
    assert [one.id for answer in export for one in answer.memories] == ids


@requirement("read:default-limit")
async def test_a_client_with_the_default_limit_reads_lists_exports_and_batches_to_the_end(
    running_store: RunningStore,
) -> None:
    async with running_store() as client, plain_channel(client) as channel:
        ids = [(await client.store(f"{n:05}" + RECEIPT * (LARGEST_TEXT - 5))).id for n in range(20)]
        memories = rpc.MemoryServiceStub(channel)
        listed, token = list[str](), ""
        while not listed or token:
            page = await memories.ListMemories(pb.ListMemoriesRequest(page_token=token))
            listed += [one.id for one in page.memories]
            token = page.next_page_token
        fetched, left = list[str](), ids
        while left:
            batch = await memories.BatchGetMemories(pb.BatchGetMemoriesRequest(ids=left))
            fetched += [one.id for one in batch.memories]
            left = list(batch.remaining_ids)
        export = [one async for one in memories.ExportMemories(pb.ExportMemoriesRequest())]

    assert 20 * 4 * LARGEST_TEXT > DEFAULT_LIMIT
    assert listed == ids[::-1]
    assert fetched == ids
    assert [one.id for answer in export for one in answer.memories] == ids


@requirement("read:default-limit")
async def test_a_client_with_the_default_limit_follows_a_feed_with_vectors(
    running_store: RunningStore,
) -> None:
    async with running_store(embedder=WideEmbedder()) as client, plain_channel(client) as channel:
        ids = [(await client.store(f"text {n}")).id for n in range(12)]
        request = changes_pb.WatchChangesRequest(include_vectors=True, stop_at_head=True)
        feed = changes_rpc.ChangeServiceStub(channel).WatchChanges(request)
        changes = [one async for batch in feed for one in batch.changes]

    assert [one.memory_id for one in changes] == ids
    assert sum(len(one.vectors) for one in changes) > DEFAULT_LIMIT


@requirement("read:default-limit")
async def test_many_links_make_a_page_shorter(running_store: RunningStore) -> None:
    async with running_store(message_bytes=30_000) as client:
        hub = (await client.store("hub")).id
        link = memory_pb2.CausalLink(memory_id=hub, relation=memory_pb2.CAUSAL_RELATION_BECAUSE)
        for number in range(600):
            await client.store(f"text {number}", causal_links=[link])
        page = await client.memories.BatchGetMemories(pb.BatchGetMemoriesRequest(ids=[hub]))
        other = (await client.store("other")).id
        both = await client.memories.BatchGetMemories(pb.BatchGetMemoriesRequest(ids=[other, hub]))

    assert len(page.memories[0].causal_links) == 600
    assert ([one.id for one in both.memories], list(both.remaining_ids)) == ([other], [hub])


@requirement("read:default-limit")
async def test_typed_fields_beyond_a_mebibyte_are_refused_by_name(running_store: RunningStore) -> None:
    component = memory_pb2.Component()
    component.procedural.steps.extend([RECEIPT * 1_400] * 200)
    async with running_store() as client:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.store("text", component=component)

    refused = from_rpc_error(caught.value)
    assert (refused.reason, refused.metadata["field"]) == ("ERROR_REASON_FIELD_TOO_LONG", "component")
    assert refused.metadata["limit"] == str(LARGEST_COMPONENT)
