"""The allocator's composition root."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib import metadata

import grpc
from threadpoolctl import threadpool_limits

from satchel.allocator.engine import Engine
from satchel.allocator.packing import BlockCounts
from satchel.allocator.peers import connect
from satchel.allocator.servicer import AllocatorServicer, Clock
from satchel.allocator.settings import PREFIX, AllocatorSettings
from satchel.api.allocator.v1 import allocator_service_pb2_grpc as rpc
from satchel.runtime.channels import open_channel
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.interceptors.auth import authenticator_of
from satchel.runtime.keys import KeyRing, KeySettings, load_keys
from satchel.runtime.metrics.serving import showing_metrics
from satchel.runtime.metrics.settings import MetricsSettings, load_metrics
from satchel.runtime.server import serve_forever
from satchel.runtime.settings import load
from satchel.runtime.telemetry import setup_telemetry
from satchel.runtime.tokens import count_tokens, encoding


@dataclass(frozen=True, slots=True)
class Built:
    """A running allocator."""

    servicer: AllocatorServicer

    def register(self, server: grpc.aio.Server) -> None:
        """Add the allocator's servicer to a server."""
        rpc.add_AllocatorServiceServicer_to_server(self.servicer, server)


def wall_clock() -> int:
    """Return the time in microseconds since 1970."""
    return time.time_ns() // 1000


@asynccontextmanager
async def build(
    settings: AllocatorSettings,
    *,
    embedder_channel: grpc.aio.Channel,
    index_channel: grpc.aio.Channel,
    store_channel: grpc.aio.Channel,
    clock: Clock = wall_clock,
    count: Callable[[str], int] = count_tokens,
) -> AsyncIterator[Built]:
    """Wire an allocator over channels that the caller opened and closes.

    Peers need not be up yet. The token table is read here, so that no request waits for it.

    Raises:
        RankFileError: the table is missing or damaged.
    """
    await asyncio.to_thread(encoding)
    async with AsyncExitStack() as stack:
        # More threads for a product wait for processors that others have: 40 ms in place of 1.
        stack.enter_context(threadpool_limits(limits=1, user_api="blas"))
        workers = await stack.enter_async_context(
            BoundedExecutor(settings.workers, settings.worker_queue, "allocator")
        )
        peers = connect(settings, embedder=embedder_channel, index=index_channel, store=store_channel)
        engine = Engine(peers, settings, BlockCounts(count, settings.counted_blocks), workers)
        yield Built(AllocatorServicer(engine, settings, clock, version=metadata.version("satchel")))


def run(environ: Mapping[str, str] | None = None) -> None:
    """Serve the allocator as a process of its own until SIGTERM, as ``environ`` or the environment says."""
    asyncio.run(_serve(load(AllocatorSettings, PREFIX, environ), load_keys(environ), load_metrics(environ)))


async def _serve(settings: AllocatorSettings, keys: KeySettings, metrics: MetricsSettings) -> None:
    flush = setup_telemetry("satchel-allocator")
    try:
        async with AsyncExitStack() as stack:
            embedder, index, store = [
                await stack.enter_async_context(open_channel(target))
                for target in (settings.embedder, settings.index, settings.store)
            ]
            built = await stack.enter_async_context(
                build(settings, embedder_channel=embedder, index_channel=index, store_channel=store)
            )
            await stack.enter_async_context(showing_metrics(metrics, KeyRing(keys)))
            await serve_forever(built, settings.listen, authenticator=authenticator_of(KeyRing(keys)))
    finally:
        flush()
