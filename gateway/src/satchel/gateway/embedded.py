"""All in one: the four services in this process, and one gRPC server in front of them.

The services call each other over an in-process channel, under the same stubs, servicers and interceptors as
between processes. This is the only module of the gateway that names services.
"""

import dataclasses
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Self

import grpc

from satchel.allocator import main as allocator
from satchel.allocator.settings import AllocatorSettings
from satchel.embedder import main as embedder
from satchel.embedder.settings import EmbedderSettings
from satchel.gateway.clients import Clients
from satchel.gateway.data_folder import DataFolder
from satchel.index import main as index
from satchel.index.settings import IndexSettings
from satchel.runtime.errors import PeerUnavailable
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.server import DEFAULT_GRACE_S, GrpcServer, Registrable
from satchel.runtime.settings import load
from satchel.store import main as store
from satchel.store.settings import StoreSettings

FREE_LOOPBACK_PORT = "127.0.0.1:0"


class AddressTaken(PeerUnavailable):
    """The address of a door belongs to another program."""

    def __init__(self, address: str, remedy: str) -> None:
        super().__init__(f"Nothing can listen on {address}: it is taken. {remedy}", retry_after_s=None)


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """Settings of every service, and where gRPC clients reach them.

    ``grpc_address`` is ``host:port`` (port 0 for a free one), or ``unix:`` and a path.
    """

    embedder: EmbedderSettings
    index: IndexSettings
    store: StoreSettings
    allocator: AllocatorSettings
    grpc_address: str = FREE_LOOPBACK_PORT
    grace_s: float = DEFAULT_GRACE_S

    @classmethod
    def load(
        cls,
        folder: DataFolder,
        *,
        grpc_address: str = FREE_LOOPBACK_PORT,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """Read the services' ``SATCHEL_*`` variables; where they keep their data is the folder's to say.

        Raises:
            SettingsError: names every variable that is unusable.
        """
        database = load(StoreSettings, "SATCHEL_STORE", environ)
        vectors = load(IndexSettings, "SATCHEL_INDEX", environ)
        return cls(
            embedder=load(EmbedderSettings, "SATCHEL_EMBEDDER", environ),
            index=dataclasses.replace(vectors, folder=folder.index),
            store=dataclasses.replace(database, url=f"sqlite:{folder.database}"),
            allocator=load(AllocatorSettings, "SATCHEL_ALLOCATOR", environ),
            grpc_address=grpc_address,
        )


@dataclass(frozen=True, slots=True)
class Embedded:
    """The running services: a channel of this process, and the address of the gRPC server."""

    channel: grpc.aio.Channel
    grpc_address: str
    http_address: str = ""

    def clients(self) -> Clients:
        """Return stubs for all services."""
        return Clients.over(self.channel)


@asynccontextmanager
async def open_embedded(settings: EmbeddedSettings) -> AsyncIterator[Embedded]:
    """Run the four services in this process and serve them on one gRPC address.

    The network server comes last and goes first: it is up only while everything behind it is.

    Raises:
        AddressTaken: the gRPC address cannot be bound.
        ServiceError: a service cannot start; the message says what to do.
    """
    async with AsyncExitStack() as stack:
        local = InProcessServer()
        stack.push_async_callback(local.stop)
        channel = InProcessChannel(local)
        network = GrpcServer([settings.grpc_address], grace_s=settings.grace_s)
        # One channel reaches them all, so a service may be built before one that it calls. It may not call
        # it before: the store embeds what is pending, and the index follows the store, in the background.
        parts: tuple[AbstractAsyncContextManager[Registrable], ...] = (
            embedder.build(settings.embedder),
            store.build(settings.store, embedder_channel=channel),
            index.build(settings.index, store_channel=channel),
            allocator.build(
                settings.allocator, embedder_channel=channel, index_channel=channel, store_channel=channel
            ),
        )
        for part in parts:
            built = await stack.enter_async_context(part)
            built.register(local)
            network.register(built)
        await stack.enter_async_context(_serving(network, settings.grpc_address))
        yield Embedded(channel, _served_address(settings.grpc_address, network.ports[0]))


def _served_address(address: str, port: int) -> str:
    return address if address.startswith("unix:") else f"{address.rpartition(':')[0]}:{port}"


@asynccontextmanager
async def _serving(network: GrpcServer, address: str) -> AsyncIterator[None]:
    try:
        await network.start()
    except RuntimeError as exc:
        raise AddressTaken(address, "Stop the program that uses it, or choose another with --grpc.") from exc
    try:
        yield
    finally:
        await network.stop()
