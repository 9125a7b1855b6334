"""Runs a store that keeps identities, over every backend."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import pytest
from contract.store.backends import Backend
from unit.store.fakes import FakeEmbedder

from satchel.api.store.v1 import identity_service_pb2_grpc, memory_service_pb2_grpc
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import default_chain
from satchel.store.main import build, wall_clock
from satchel.store.settings import SoulSettings, StoreSettings


@dataclass(frozen=True, slots=True)
class Client:
    """Stubs of a running store."""

    identities: "identity_service_pb2_grpc.IdentityServiceAsyncStub"
    memories: "memory_service_pb2_grpc.MemoryServiceAsyncStub"


class RunningIdentities(Protocol):
    """Runs a store with identities switched on; equal names are one database; settings are those of SOUL."""

    def __call__(
        self, *, name: str = "store", clock: Callable[[], int] = wall_clock, **settings: object
    ) -> AbstractAsyncContextManager[Client]: ...


@pytest.fixture
def running_identities(backend: Backend, tmp_path: Path) -> RunningIdentities:
    """Run stores of one backend in a folder of the test's own."""

    @asynccontextmanager
    async def run(
        *, name: str = "store", clock: Callable[[], int] = wall_clock, **settings: object
    ) -> AsyncIterator[Client]:
        soul = replace(SoulSettings(enabled=True), **settings)  # type: ignore[arg-type]  # names of settings
        store = StoreSettings(**{**backend.settings, "url": backend.url(tmp_path / name)})  # type: ignore[arg-type]
        async with build(store, soul=soul, embedder=FakeEmbedder(), clock=clock) as built:
            server = InProcessServer(interceptors=default_chain())
            built.register(server)
            channel = InProcessChannel(server)
            yield Client(
                identity_service_pb2_grpc.IdentityServiceStub(channel),
                memory_service_pb2_grpc.MemoryServiceStub(channel),
            )

    return run
