"""The store's composition root: the only place that knows which database and embedder are used."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

import grpc

from satchel.api.store.v1 import (
    change_service_pb2_grpc,
    consolidation_service_pb2_grpc,
    graph_service_pb2_grpc,
    ingest_service_pb2_grpc,
    lifecycle_service_pb2_grpc,
    maintenance_service_pb2_grpc,
    memory_service_pb2_grpc,
    search_service_pb2_grpc,
)
from satchel.runtime.background import running
from satchel.runtime.channels import open_channel
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.interceptors.auth import authenticator_of
from satchel.runtime.keys import KeyRing, KeySettings, load_keys
from satchel.runtime.metrics.scraping import read_at_scrape
from satchel.runtime.metrics.serving import showing_metrics
from satchel.runtime.metrics.settings import MetricsSettings, load_metrics
from satchel.runtime.server import serve_forever
from satchel.runtime.settings import load
from satchel.runtime.telemetry import setup_telemetry
from satchel.store.adapters.embedder import RemoteEmbedder
from satchel.store.engine.archiving import archive_regularly
from satchel.store.engine.consolidation import Consolidating
from satchel.store.engine.embedding import PendingEmbedder
from satchel.store.engine.enriching import Enriching
from satchel.store.engine.following import Following
from satchel.store.engine.graph import Graphs
from satchel.store.engine.importing import Importing
from satchel.store.engine.ingesting import Ingesting
from satchel.store.engine.reading import Reading
from satchel.store.engine.reembedding import Reembedding
from satchel.store.engine.writing import Writing
from satchel.store.engine_building import Lifecycle, Parts
from satchel.store.enrichment_building import open_enriching
from satchel.store.factory import open_store
from satchel.store.gauges import show_counts
from satchel.store.identity_building import Identities, build_identities
from satchel.store.ids import Stamps
from satchel.store.metrics import COUNTS
from satchel.store.ports import Embedder, MemoryStore
from satchel.store.servicers.changes import ChangeServicer
from satchel.store.servicers.consolidation import ConsolidationServicer
from satchel.store.servicers.graph import GraphServicer
from satchel.store.servicers.ingest import IngestServicer
from satchel.store.servicers.lifecycle import LifecycleServicer
from satchel.store.servicers.maintenance import MaintenanceServicer
from satchel.store.servicers.memories import MemoryServicer
from satchel.store.servicers.search import SearchServicer
from satchel.store.settings import (
    PREFIX,
    SOUL_PREFIX,
    WEBHOOK_PREFIX,
    SoulSettings,
    StoreSettings,
    WebhookRules,
)
from satchel.store.webhook_building import Surroundings, Webhooks, open_webhooks

_PREPARE_QUEUE = 1024
_COMPARE_QUEUE = 64
_CONVERSATIONS_QUEUE = 64
_WITHOUT_IDENTITIES = SoulSettings()
_WITHOUT_WEBHOOKS = WebhookRules()
_SURROUNDINGS = Surroundings()


@dataclass(frozen=True, slots=True)
class Built:
    """A running store. All but `register` is for tests and benchmarks."""

    writing: Writing
    importing: Importing
    reading: Reading
    following: Following
    store: MemoryStore
    lifecycle: Lifecycle
    identities: Identities
    graphs: Graphs
    consolidating: Consolidating
    webhooks: Webhooks
    enriching: Enriching
    pending: PendingEmbedder
    reembedding: Reembedding

    def register(self, server: grpc.aio.Server) -> None:
        """Add the store's servicers to a server."""
        life = self.lifecycle
        memories = MemoryServicer(self.writing, self.importing, self.reading, life.timelines, self.enriching)
        memory_service_pb2_grpc.add_MemoryServiceServicer_to_server(memories, server)
        lifecycle = LifecycleServicer(life.archiving, life.clearing, life.versioning, self.reading)
        lifecycle_service_pb2_grpc.add_LifecycleServiceServicer_to_server(lifecycle, server)
        consolidation = ConsolidationServicer(self.consolidating)
        consolidation_service_pb2_grpc.add_ConsolidationServiceServicer_to_server(consolidation, server)
        graph_service_pb2_grpc.add_GraphServiceServicer_to_server(GraphServicer(self.graphs), server)
        ingest = IngestServicer(Ingesting(self.store, self.writing))
        ingest_service_pb2_grpc.add_IngestServiceServicer_to_server(ingest, server)
        maintenance = MaintenanceServicer(self.reembedding)
        maintenance_service_pb2_grpc.add_MaintenanceServiceServicer_to_server(maintenance, server)
        self.identities.register(server)
        self.webhooks.register(server)
        search_service_pb2_grpc.add_SearchServiceServicer_to_server(SearchServicer(self.reading), server)
        change_service_pb2_grpc.add_ChangeServiceServicer_to_server(ChangeServicer(self.following), server)


def wall_clock() -> int:
    """Return microseconds since 1970 in UTC."""
    return time.time_ns() // 1000


@asynccontextmanager
async def build(
    settings: StoreSettings,
    *,
    soul: SoulSettings = _WITHOUT_IDENTITIES,
    webhooks: WebhookRules = _WITHOUT_WEBHOOKS,
    surroundings: Surroundings = _SURROUNDINGS,
    embedder_channel: grpc.aio.Channel | None = None,
    embedder: Embedder | None = None,
    store: MemoryStore | None = None,
    clock: Callable[[], int] = wall_clock,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[Built]:
    """Open the database and yield the store; what is given is used and left open.

    One of ``embedder_channel`` and ``embedder`` is needed. Memories that wait for their vectors are
    embedded in the background, and old ones are archived from time to time, with a ``pause`` of some
    seconds before each time. On leaving, writes that wait are committed first.

    Raises:
        StoreUnavailable: the database cannot be used.
    """
    async with AsyncExitStack() as stack:
        if store is None:
            store = await stack.enter_async_context(open_store(settings, now=clock()))
        parts = Parts(
            settings,
            store,
            embedder or _remote(embedder_channel),
            Stamps(clock),
            clock,
            pause,
        )
        told = await stack.enter_async_context(
            open_webhooks(webhooks, parts.store, parts.stamps, clock=clock, surroundings=surroundings)
        )
        enriching = await stack.enter_async_context(open_enriching(settings, parts.store, pause=pause))
        built = _assemble(parts, await _open_threads(stack), soul, told, enriching)
        await stack.enter_async_context(_working(parts, built))
        stack.enter_context(read_at_scrape("store", COUNTS, lambda: show_counts(built.reading)))
        yield built


class _Threads(NamedTuple):
    """Where what takes long runs."""

    preparer: BoundedExecutor
    comparer: BoundedExecutor
    conversations: BoundedExecutor


async def _open_threads(stack: AsyncExitStack) -> _Threads:
    """Open one thread for each kind of work until the stack is left."""
    queues = {
        "store-prepare": _PREPARE_QUEUE,
        "store-compare": _COMPARE_QUEUE,
        "store-conversations": _CONVERSATIONS_QUEUE,
    }
    executors = [BoundedExecutor(1, size, name) for name, size in queues.items()]
    return _Threads(*[await stack.enter_async_context(executor) for executor in executors])


def _assemble(
    parts: Parts, threads: _Threads, soul: SoulSettings, webhooks: Webhooks, enriching: Enriching
) -> Built:
    """Wire the use cases."""
    store, size = parts.store, parts.settings.message_bytes
    pending = parts.pending()
    writing = parts.writing(threads.preparer, pending)
    reading = Reading(store, message_bytes=size)
    return Built(
        writing=writing,
        importing=parts.importing(writing),
        reading=reading,
        following=Following(store, message_bytes=size),
        store=store,
        lifecycle=parts.lifecycle(writing),
        identities=build_identities(soul, store, reading, reader=threads.conversations, clock=parts.clock),
        graphs=Graphs(store),
        consolidating=parts.consolidating(writing, threads.comparer),
        webhooks=webhooks,
        enriching=enriching,
        pending=pending,
        reembedding=parts.reembedding(pending),
    )


def _working(parts: Parts, built: Built) -> AbstractAsyncContextManager[None]:
    """Run what goes on beside the calls."""
    return running(
        built.pending.run(),
        archive_regularly(built.lifecycle.archiving, parts.schedule()),
        built.enriching.run(),
        built.reembedding.run(),
    )


def _remote(channel: grpc.aio.Channel | None) -> Embedder:
    if channel is None:
        raise ValueError("The store needs an embedder: pass embedder_channel or embedder.")
    return RemoteEmbedder(channel)


def run(environ: Mapping[str, str] | None = None) -> None:
    """Serve the store as a process of its own until SIGTERM, as ``environ`` or the environment says."""
    asyncio.run(
        _serve(
            load(StoreSettings, PREFIX, environ),
            load(SoulSettings, SOUL_PREFIX, environ),
            load(WebhookRules, WEBHOOK_PREFIX, environ),
            load_keys(environ),
            load_metrics(environ),
        )
    )


async def _serve(
    settings: StoreSettings,
    soul: SoulSettings,
    webhooks: WebhookRules,
    keys: KeySettings,
    metrics: MetricsSettings,
) -> None:
    flush = setup_telemetry("satchel-store")
    try:
        async with (
            open_channel(settings.embedder, api_key=keys.for_peers(settings.api_key)) as channel,
            build(settings, soul=soul, webhooks=webhooks, embedder_channel=channel) as built,
            showing_metrics(metrics, KeyRing(keys)),
        ):
            await serve_forever(built, settings.listen, authenticator=authenticator_of(KeyRing(keys)))
    finally:
        flush()
