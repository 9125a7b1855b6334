"""The store's composition root: the only place that knows which database and embedder are used."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import grpc

from satchel.api.store.v1 import (
    change_service_pb2_grpc,
    consolidation_service_pb2_grpc,
    graph_service_pb2_grpc,
    ingest_service_pb2_grpc,
    lifecycle_service_pb2_grpc,
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
from satchel.store.causality import Lookback
from satchel.store.engine.archiving import Archiving, Schedule, archive_regularly
from satchel.store.engine.clearing import Clearing
from satchel.store.engine.consolidation import Consolidating
from satchel.store.engine.embedding import PendingEmbedder
from satchel.store.engine.enriching import Enriching
from satchel.store.engine.following import Following
from satchel.store.engine.graph import Graphs
from satchel.store.engine.importing import Importing
from satchel.store.engine.ingesting import Ingesting
from satchel.store.engine.reading import Reading
from satchel.store.engine.timeline import Timelines
from satchel.store.engine.versions import Versioning
from satchel.store.engine.writing import Writing
from satchel.store.enrichment_building import open_enriching
from satchel.store.factory import open_store
from satchel.store.gauges import show_counts
from satchel.store.identity_building import Identities, build_identities
from satchel.store.ids import Stamps
from satchel.store.metrics import COUNTS
from satchel.store.model import MemoryType
from satchel.store.ports import Embedder, MemoryStore
from satchel.store.servicers.changes import ChangeServicer
from satchel.store.servicers.consolidation import ConsolidationServicer
from satchel.store.servicers.graph import GraphServicer
from satchel.store.servicers.ingest import IngestServicer
from satchel.store.servicers.lifecycle import LifecycleServicer
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
_FIRST_ARCHIVING_S = 60.0  # after the start, which has other things to do
_HOUR_S = 3600
_WITHOUT_IDENTITIES = SoulSettings()
_WITHOUT_WEBHOOKS = WebhookRules()
_SURROUNDINGS = Surroundings()
_DAY_US = 24 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """What becomes of memories in time."""

    archiving: Archiving
    clearing: Clearing
    versioning: Versioning
    timelines: Timelines


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
    if embedder is None:
        if embedder_channel is None:
            raise ValueError("The store needs an embedder: pass embedder_channel or embedder.")
        embedder = RemoteEmbedder(embedder_channel)
    async with AsyncExitStack() as stack:
        preparer = await stack.enter_async_context(BoundedExecutor(1, _PREPARE_QUEUE, "store-prepare"))
        comparer = await stack.enter_async_context(BoundedExecutor(1, _COMPARE_QUEUE, "store-compare"))
        conversations = await stack.enter_async_context(
            BoundedExecutor(1, _CONVERSATIONS_QUEUE, "store-conversations")
        )
        if store is None:
            store = await stack.enter_async_context(open_store(settings, now=clock()))
        pending = PendingEmbedder(
            store,
            embedder,
            timeout_s=settings.import_timeout_s,
            first_s=settings.retry_first_s,
            longest_s=settings.retry_longest_s,
        )
        stamps = Stamps(clock)
        writing = Writing(
            store,
            embedder,
            stamps,
            preparer=preparer,
            pending=pending,
            embed_timeout_s=settings.embed_timeout_s,
            lookback=Lookback(settings.causal_lookback, round(settings.causal_max_days * _DAY_US)),
            clock=clock,
        )
        importing = Importing(
            writing,
            store,
            batch_size=settings.import_batch,
            ahead=settings.import_ahead,
            timeout_s=settings.import_timeout_s,
        )
        reading = Reading(store, message_bytes=settings.message_bytes)
        lifecycle = _lifecycle(settings, store, writing, stamps, clock)
        told = await stack.enter_async_context(
            open_webhooks(webhooks, store, stamps, clock=clock, surroundings=surroundings)
        )
        regular = archive_regularly(lifecycle.archiving, _schedule(settings, pause))
        enriching = await stack.enter_async_context(open_enriching(settings, store, pause=pause))
        await stack.enter_async_context(running(pending.run(), regular, enriching.run()))
        stack.enter_context(read_at_scrape("store", COUNTS, lambda: show_counts(reading)))
        yield Built(
            writing,
            importing,
            reading,
            Following(store, message_bytes=settings.message_bytes),
            store,
            lifecycle,
            build_identities(soul, store, reading, reader=conversations, clock=clock),
            Graphs(store),
            Consolidating(
                store,
                writing,
                stamps,
                comparer=comparer,
                message_bytes=settings.message_bytes,
                embed_timeout_s=settings.embed_timeout_s,
                clock=clock,
            ),
            told,
            enriching,
        )


def _lifecycle(
    settings: StoreSettings, store: MemoryStore, writing: Writing, stamps: Stamps, clock: Callable[[], int]
) -> Lifecycle:
    days = {
        MemoryType.SESSION_NOTE: settings.archive_session_note_days,
        MemoryType.DEBUG_LOG: settings.archive_debug_log_days,
    }
    return Lifecycle(
        Archiving(store, stamps, days=days, clock=clock),
        Clearing(store, clock=clock),
        Versioning(store, writing, message_bytes=settings.message_bytes, clock=clock),
        Timelines(store),
    )


def _schedule(settings: StoreSettings, pause: Callable[[float], Awaitable[None]]) -> Schedule:
    return Schedule(
        first_s=_FIRST_ARCHIVING_S, interval_s=settings.archive_interval_hours * _HOUR_S, pause=pause
    )


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
