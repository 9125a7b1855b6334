"""Services that the MCP door reaches in its own tests: the fakes of the doors, with a life of memories."""

# ruff: noqa: ANN401, N802, N818  # messages of any type; the contract's names; an error's name says what happened

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from contract.gateway.fakes import FakeAllocator, FakeStore, World

from satchel.api.allocator.v1 import allocator_service_pb2_grpc as allocator_grpc
from satchel.api.store.v1 import lifecycle_service_pb2 as lifecycle_pb
from satchel.api.store.v1 import lifecycle_service_pb2_grpc as lifecycle_grpc
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.api.store.v1 import memory_service_pb2_grpc as store_grpc
from satchel.gateway.clients import Clients
from satchel.runtime.errors import Code, ServiceError
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import default_chain


class CountMismatch(ServiceError):
    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_COUNT_MISMATCH"


class WingedStore(FakeStore):
    """A store that names its wings."""

    def stats(self) -> store_pb.StoreStats:
        found = super().stats()
        found.active_wings.extend(sorted({memory.wing for memory in self.memories.values()}))
        return found


@dataclass
class FakeLifecycle(lifecycle_grpc.LifecycleServiceServicer):
    """Deletes and archives; a call that changes something waits for ``go_on`` and says that it ``began``.

    While it waits ``left`` memories are still to be done, as dry runs tell.
    """

    store: WingedStore
    requests: list[Any] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    counted: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    left: int | None = None

    async def _work(self) -> None:
        self.began.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    def _count(self) -> int:
        if self.began.is_set():
            self.counted.set()
        return len(self.store.memories) if self.left is None else self.left

    async def ClearMemories(self, request: Any, context: Any) -> Any:
        del context
        self.requests.append(request)
        if request.dry_run:
            return lifecycle_pb.ClearMemoriesResponse(deleted_count=self._count(), mode=request.mode)
        count = len(self.store.memories)
        if request.HasField("expected_count") and request.expected_count != count:
            raise CountMismatch(f"There are {count} memories, not {request.expected_count}.")
        await self._work()
        self.store.memories.clear()
        return lifecycle_pb.ClearMemoriesResponse(deleted_count=count, mode=request.mode, revision=9)

    async def ArchiveMemories(self, request: Any, context: Any) -> Any:
        del context
        self.requests.append(request)
        if request.dry_run:
            return lifecycle_pb.ArchiveMemoriesResponse(archived_count=self._count())
        await self._work()
        return lifecycle_pb.ArchiveMemoriesResponse(archived_count=len(self.store.memories), revision=9)

    async def UnarchiveMemory(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    async def ListVersions(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    async def RestoreVersion(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    async def UnarchiveMemories(self, request: Any, context: Any) -> Any:
        del context
        self.requests.append(request)
        await self._work()
        return lifecycle_pb.UnarchiveMemoriesResponse(unarchived_count=1, revision=9)


@dataclass
class McpWorld(World):
    """The fakes, with the life of memories."""

    lifecycle: FakeLifecycle


@asynccontextmanager
async def open_mcp_world() -> AsyncIterator[McpWorld]:
    store = WingedStore()
    allocator, lifecycle = FakeAllocator(store), FakeLifecycle(store)
    lifecycle.go_on.set()
    async with InProcessServer(default_chain()) as server:
        store_grpc.add_MemoryServiceServicer_to_server(store, server)
        allocator_grpc.add_AllocatorServiceServicer_to_server(allocator, server)
        lifecycle_grpc.add_LifecycleServiceServicer_to_server(lifecycle, server)
        yield McpWorld(store, allocator, Clients.over(InProcessChannel(server)), lifecycle)
