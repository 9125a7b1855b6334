"""All in one: the four services in this process, and one gRPC server in front of them.

The services call each other over an in-process channel, under the same stubs, servicers and interceptors as
between processes. This is the only module of the gateway that names services.
"""

import dataclasses
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
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
from satchel.runtime.interceptors import default_chain
from satchel.runtime.interceptors.auth import authenticator_of
from satchel.runtime.keys import KeyRing, KeySettings, load_keys
from satchel.runtime.server import DEFAULT_GRACE_S, GrpcServer, Registrable
from satchel.runtime.settings import load
from satchel.store import main as store
from satchel.store.settings import SoulSettings, StoreSettings, WebhookRules

FREE_LOOPBACK_PORT = "127.0.0.1:0"
IN_MEMORY = "memory:"

_SOCKET = "unix:"


class AddressTaken(PeerUnavailable):
    """The address of a door belongs to another program."""

    def __init__(self, address: str, remedy: str) -> None:
        super().__init__(f"Nothing can listen on {address}: it is taken. {remedy}", retry_after_s=None)


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """Settings of every service, who may call them, and where.

    ``grpc_address`` is ``host:port`` (port 0 for a free one), or ``unix:`` and a path; ``local_address`` is
    another of the latter kind, or empty. Whoever can open a socket in the data folder owns the folder, so
    only callers over TCP need a key.
    """

    embedder: EmbedderSettings
    index: IndexSettings
    store: StoreSettings
    allocator: AllocatorSettings
    soul: SoulSettings = field(default_factory=SoulSettings)
    webhooks: WebhookRules = field(default_factory=WebhookRules)
    keys: KeySettings = field(default_factory=KeySettings)
    grpc_address: str = FREE_LOOPBACK_PORT
    local_address: str = ""
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

        With ``SATCHEL_STORE_URL=memory:`` nothing is kept, and so no snapshot of the index either.

        Raises:
            SettingsError: names every variable that is unusable.
        """
        database = load(StoreSettings, "SATCHEL_STORE", environ)
        vectors = load(IndexSettings, "SATCHEL_INDEX", environ)
        if database.url == IN_MEMORY:
            vectors = dataclasses.replace(vectors, folder=None)
        else:
            vectors = dataclasses.replace(vectors, folder=folder.index)
            database = dataclasses.replace(database, url=f"sqlite:{folder.database}")
        return cls(
            embedder=load(EmbedderSettings, "SATCHEL_EMBEDDER", environ),
            index=vectors,
            store=database,
            allocator=load(AllocatorSettings, "SATCHEL_ALLOCATOR", environ),
            soul=load(SoulSettings, "SATCHEL_SOUL", environ),
            webhooks=load(WebhookRules, "SATCHEL_WEBHOOKS", environ),
            keys=load_keys(environ),
            grpc_address=grpc_address,
        )


@dataclass(frozen=True, slots=True)
class Embedded:
    """The running services: channels of this process, and the addresses of the gRPC server.

    Whoever calls over ``channel`` is the owner; ``guarded_channel`` asks for a key where callers need one.
    """

    channel: grpc.aio.Channel
    guarded_channel: grpc.aio.Channel
    grpc_address: str
    local_address: str = ""
    http_address: str = ""

    def clients(self) -> Clients:
        """Return stubs for all services, for the owner."""
        return Clients.over(self.channel)

    def guarded_clients(self) -> Clients:
        """Return stubs for all services, for doors through which others call."""
        return Clients.over(self.guarded_channel)


@asynccontextmanager
async def open_embedded(settings: EmbeddedSettings) -> AsyncIterator[Embedded]:
    """Run the four services in this process and serve them on one gRPC address.

    The network server comes last and goes first: it is up only while everything behind it is.

    Raises:
        AddressTaken: the gRPC address cannot be bound.
        ServiceError: a service cannot start; the message says what to do.
    """
    async with AsyncExitStack() as stack:
        local, guarded = InProcessServer(), InProcessServer(_chain(settings.keys))
        stack.push_async_callback(local.stop)
        stack.push_async_callback(guarded.stop)
        channel = InProcessChannel(local)
        networks = _networks(settings)
        # One channel reaches them all, so a service may be built before one that it calls. It may not call
        # it before: the store embeds what is pending, and the index follows the store, in the background.
        parts: tuple[AbstractAsyncContextManager[Registrable], ...] = (
            embedder.build(settings.embedder),
            store.build(
                settings.store, soul=settings.soul, webhooks=settings.webhooks, embedder_channel=channel
            ),
            index.build(settings.index, store_channel=channel),
            allocator.build(
                settings.allocator, embedder_channel=channel, index_channel=channel, store_channel=channel
            ),
        )
        for part in parts:
            built = await stack.enter_async_context(part)
            built.register(local)
            built.register(guarded)
            for network in networks.values():
                network.register(built)
        for address, network in networks.items():
            await stack.enter_async_context(_serving(network, address))
        port = networks[settings.grpc_address].ports[0]
        yield Embedded(
            channel,
            InProcessChannel(guarded),
            _served_address(settings.grpc_address, port),
            settings.local_address,
        )


def _chain(keys: KeySettings) -> tuple[grpc.aio.ServerInterceptor, ...]:
    return default_chain(authenticator=authenticator_of(KeyRing(keys)))


def _networks(settings: EmbeddedSettings) -> dict[str, GrpcServer]:
    """Return a server for each address; on a socket in the data folder callers need no key."""
    addresses = filter(None, (settings.grpc_address, settings.local_address))
    return {
        address: GrpcServer(
            [address],
            interceptors=_chain(KeySettings() if address.startswith(_SOCKET) else settings.keys),
            grace_s=settings.grace_s,
        )
        for address in addresses
    }


def _served_address(address: str, port: int) -> str:
    return address if address.startswith(_SOCKET) else f"{address.rpartition(':')[0]}:{port}"


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
