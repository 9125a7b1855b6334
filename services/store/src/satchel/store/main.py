"""The store's composition root: the only place that knows which database and embedder are used."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import grpc

from satchel.api.store.v1 import change_service_pb2_grpc, memory_service_pb2_grpc, search_service_pb2_grpc
from satchel.runtime.background import running
from satchel.runtime.channels import open_channel
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.server import serve_forever
from satchel.runtime.settings import load
from satchel.runtime.telemetry import setup_telemetry
from satchel.store.adapters.embedder import RemoteEmbedder
from satchel.store.engine.embedding import PendingEmbedder
from satchel.store.engine.following import Following
from satchel.store.engine.importing import Importing
from satchel.store.engine.reading import Reading
from satchel.store.engine.writing import Writing
from satchel.store.factory import open_store
from satchel.store.ids import Stamps
from satchel.store.ports import Embedder, MemoryStore
from satchel.store.servicers.changes import ChangeServicer
from satchel.store.servicers.memories import MemoryServicer
from satchel.store.servicers.search import SearchServicer
from satchel.store.settings import PREFIX, StoreSettings

_PREPARE_QUEUE = 1024


@dataclass(frozen=True, slots=True)
class Built:
    """A running store. All but `register` is for tests and benchmarks."""

    writing: Writing
    importing: Importing
    reading: Reading
    following: Following
    store: MemoryStore

    def register(self, server: grpc.aio.Server) -> None:
        """Add the store's servicers to a server."""
        memories = MemoryServicer(self.writing, self.importing, self.reading)
        memory_service_pb2_grpc.add_MemoryServiceServicer_to_server(memories, server)
        search_service_pb2_grpc.add_SearchServiceServicer_to_server(SearchServicer(self.reading), server)
        change_service_pb2_grpc.add_ChangeServiceServicer_to_server(ChangeServicer(self.following), server)


def wall_clock() -> int:
    """Return microseconds since 1970 in UTC."""
    return time.time_ns() // 1000


@asynccontextmanager
async def build(
    settings: StoreSettings,
    *,
    embedder_channel: grpc.aio.Channel | None = None,
    embedder: Embedder | None = None,
    store: MemoryStore | None = None,
    clock: Callable[[], int] = wall_clock,
) -> AsyncIterator[Built]:
    """Open the database and yield the store; what is given is used and left open.

    One of ``embedder_channel`` and ``embedder`` is needed. Memories that wait for their vectors are
    embedded in the background. On leaving, writes that wait are committed first.

    Raises:
        StoreUnavailable: the database cannot be used.
    """
    if embedder is None:
        if embedder_channel is None:
            raise ValueError("The store needs an embedder: pass embedder_channel or embedder.")
        embedder = RemoteEmbedder(embedder_channel)
    async with AsyncExitStack() as stack:
        preparer = await stack.enter_async_context(BoundedExecutor(1, _PREPARE_QUEUE, "store-prepare"))
        if store is None:
            store = await stack.enter_async_context(open_store(settings, now=clock()))
        pending = PendingEmbedder(
            store,
            embedder,
            timeout_s=settings.import_timeout_s,
            first_s=settings.retry_first_s,
            longest_s=settings.retry_longest_s,
        )
        writing = Writing(
            store,
            embedder,
            Stamps(clock),
            preparer=preparer,
            pending=pending,
            embed_timeout_s=settings.embed_timeout_s,
            clock=clock,
        )
        importing = Importing(
            writing,
            store,
            batch_size=settings.import_batch,
            ahead=settings.import_ahead,
            timeout_s=settings.import_timeout_s,
        )
        await stack.enter_async_context(running(pending.run()))
        yield Built(
            writing,
            importing,
            Reading(store, message_bytes=settings.message_bytes),
            Following(store, message_bytes=settings.message_bytes),
            store,
        )


def run() -> None:
    """Serve the store as a process of its own until SIGTERM, as the environment says."""
    asyncio.run(_serve(load(StoreSettings, PREFIX)))


async def _serve(settings: StoreSettings) -> None:
    flush = setup_telemetry("satchel-store")
    try:
        async with (
            open_channel(settings.embedder, api_key=settings.api_key) as channel,
            build(settings, embedder_channel=channel) as built,
        ):
            await serve_forever(built, settings.listen)
    finally:
        flush()
