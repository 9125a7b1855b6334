"""The index's composition root: the only place that knows which library, store and files are used."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import grpc

from satchel.api.index.v1 import index_service_pb2_grpc as rpc
from satchel.index.adapters.faiss import FaissLibrary
from satchel.index.adapters.files import SnapshotFolder
from satchel.index.adapters.store_feed import StoreEvents, StoreFeed, StoreSearch
from satchel.index.board import Board
from satchel.index.catalog import Catalog
from satchel.index.engine import Engine, Waits
from satchel.index.following import Follower, FollowTuning
from satchel.index.gauges import show_state
from satchel.index.metrics import GAUGES, MeasuredEffort
from satchel.index.planning import Tuning
from satchel.index.ports import ChangeFeed, ExactSearch, Maintenance, VectorLibrary
from satchel.index.searching import Method
from satchel.index.servicer import IndexServicer
from satchel.index.settings import PREFIX, IndexSettings
from satchel.index.writing import Writer
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

_WRITE_QUEUE = 64


@dataclass(frozen=True, slots=True)
class Built:
    """A running index. All but `register` is for tests and benchmarks."""

    engine: Engine
    writer: Writer
    board: Board

    def register(self, server: grpc.aio.Server) -> None:
        """Add the index's servicer to a server."""
        rpc.add_IndexServiceServicer_to_server(IndexServicer(self.engine), server)


@asynccontextmanager
async def build(
    settings: IndexSettings,
    *,
    store_channel: grpc.aio.Channel,
    feed: ChangeFeed | None = None,
    exact: ExactSearch | None = None,
    library: VectorLibrary | None = None,
    maintenance: Maintenance | None = None,
) -> AsyncIterator[Built]:
    """Start following the store and yield the index; what is given is used and left open.

    The snapshot is loaded in the background: meanwhile the store answers. On leaving, the follower ends,
    a running build is given up, and a snapshot is written.
    """
    library = library or FaissLibrary(
        links=settings.links, ef_construction=settings.ef_construction, level_factor=settings.level_factor
    )
    async with AsyncExitStack() as stack:
        searches = await stack.enter_async_context(
            BoundedExecutor(settings.search_threads, settings.search_queue, "index-search")
        )
        writes = await stack.enter_async_context(BoundedExecutor(1, _WRITE_QUEUE, "index-write"))
        builds = await stack.enter_async_context(BoundedExecutor(1, _WRITE_QUEUE, "index-build"))
        board = Board(Catalog(crossover=settings.crossover).view())
        writer = Writer(
            board,
            library,
            crossover=settings.crossover,
            ef_search=settings.ef_search,
            writes=writes,
            builds=builds,
            snapshots=SnapshotFolder(settings.folder, library) if settings.folder else None,
            snapshot_every=settings.snapshot_every,
            quiet_s=settings.quiet_s,
            maintenance=maintenance or StoreEvents(store_channel),
        )
        follower = None
        if settings.follow:
            follower = Follower(
                board, writer, feed or _store_feed(settings, store_channel), _follow_tuning(settings)
            )
        engine = Engine(
            board,
            writer,
            follower,
            exact=exact or StoreSearch(store_channel),
            searches=searches,
            method=Method(library, Tuning(), MeasuredEffort()),
            waits=Waits(revision_s=settings.revision_wait_s),
        )
        await stack.enter_async_context(_running(writer, follower))
        stack.enter_context(read_at_scrape("index", GAUGES, lambda: show_state(engine)))
        yield Built(engine, writer, board)


def run(environ: Mapping[str, str] | None = None) -> None:
    """Serve the index as a process of its own until SIGTERM, as ``environ`` or the environment says."""
    asyncio.run(_serve(load(IndexSettings, PREFIX, environ), load_keys(environ), load_metrics(environ)))


async def _serve(settings: IndexSettings, keys: KeySettings, metrics: MetricsSettings) -> None:
    flush = setup_telemetry("satchel-index")
    try:
        async with (
            open_channel(settings.store, api_key=keys.for_peers(settings.api_key)) as channel,
            build(settings, store_channel=channel) as built,
            showing_metrics(metrics, KeyRing(keys)),
        ):
            await serve_forever(built, settings.listen, authenticator=authenticator_of(KeyRing(keys)))
    finally:
        flush()


def _store_feed(settings: IndexSettings, channel: grpc.aio.Channel) -> StoreFeed:
    return StoreFeed(channel, lifetime_s=settings.feed_lifetime_s, batch_size=settings.feed_batch)


def _follow_tuning(settings: IndexSettings) -> FollowTuning:
    return FollowTuning(
        most_lag=settings.most_lag,
        first_retry_s=settings.first_retry_s,
        longest_retry_s=settings.longest_retry_s,
    )


@asynccontextmanager
async def _running(writer: Writer, follower: Follower | None) -> AsyncIterator[None]:
    """Run the background tasks for the length of the block; what the block raises comes out as it is."""
    raised: Exception | None = None
    if follower is None:
        await writer.load_without_feed()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(writer.maintain()), group.create_task(writer.tell())]
        if follower is not None:
            tasks += [group.create_task(follower.follow()), group.create_task(follower.serve_rebuilds())]
        try:
            yield
        except Exception as error:  # noqa: BLE001  # raised again below, outside the group that would wrap it
            raised = error
        finally:
            writer.stop()
            for task in tasks:
                task.cancel()
    await writer.save()
    if raised is not None:
        raise raised
