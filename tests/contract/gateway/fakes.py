"""A store and an allocator in a dictionary, behind the real runtime, for tests of the doors."""

# ruff: noqa: ANN401, N802, N818  # messages of any type; the contract's names; an error's name says what happened

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import grpc
import httpx2

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.allocator.v1 import allocator_service_pb2_grpc as allocator_grpc
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.api.store.v1 import memory_service_pb2_grpc as store_grpc
from satchel.api.types.v1 import memory_pb2
from satchel.gateway.app import build_app
from satchel.gateway.clients import Clients
from satchel.gateway.settings import GatewaySettings
from satchel.runtime.errors import Code, ServiceError
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import default_chain

BASE_URL = "http://127.0.0.1:8080"
Context = grpc.aio.ServicerContext[Any, Any]


class MemoryNotFound(ServiceError):
    code = Code.NOT_FOUND
    reason = "ERROR_REASON_MEMORY_NOT_FOUND"


@dataclass
class FakeStore(store_grpc.MemoryServiceServicer):
    """Keeps memories by id; ``failure`` is raised by every call while it is set."""

    memories: dict[str, memory_pb2.Memory] = field(default_factory=dict)
    requests: list[Any] = field(default_factory=list)
    metadata: list[dict[str, str | bytes]] = field(default_factory=list)
    failure: Exception | None = None
    revision: int = 0

    def _begin(self, request: Any, context: Context) -> None:
        self.requests.append(request)
        self.metadata.append(dict(context.invocation_metadata() or ()))
        if self.failure is not None:
            raise self.failure

    def _find(self, memory_id: str) -> memory_pb2.Memory:
        bare = memory_id.rpartition(":")[2].lower()
        if bare not in self.memories:
            raise MemoryNotFound(f"No memory has the id {memory_id}.", memory_id=memory_id)
        return self.memories[bare]

    def keep(self, request: store_pb.StoreMemoryRequest) -> store_pb.StoreMemoryResponse:
        self.revision += 1
        memory = memory_pb2.Memory(
            id=str(uuid.UUID(int=self.revision)),
            project=request.project or "default",
            wing=request.wing,
            room=request.room or "facts",
            type=request.type or memory_pb2.MEMORY_TYPE_FACT,
            content=request.content,
            tags=request.tags,
            revision=self.revision,
            version=1,
            token_count=len(request.content.split()),
        )
        memory.created_at.seconds = 1_767_225_600
        if request.HasField("metadata"):
            memory.metadata.CopyFrom(request.metadata)
        self.memories[memory.id] = memory
        return store_pb.StoreMemoryResponse(
            id=memory.id,
            fingerprint_id=memory.id,
            type=memory.type,
            fact_count=2,
            token_count=memory.token_count,
            wing=memory.wing,
            room=memory.room,
            revision=self.revision,
            version=1,
            created_at=memory.created_at,
        )

    async def StoreMemory(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        return self.keep(request)

    def ImportMemories(self, request_iterator: Any, context: Context) -> Any:
        raise NotImplementedError

    def ExportMemories(self, request: Any, context: Context) -> Any:
        raise NotImplementedError

    async def BatchStoreMemories(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        return store_pb.BatchStoreMemoriesResponse(memories=[self.keep(item) for item in request.memories])

    async def GetMemory(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        return store_pb.GetMemoryResponse(memory=self._find(request.id))

    async def BatchGetMemories(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        known = [self.memories[name] for name in request.ids if name in self.memories]
        missing = [name for name in request.ids if name not in self.memories]
        return store_pb.BatchGetMemoriesResponse(memories=known, missing_ids=missing)

    async def ListMemories(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        return store_pb.ListMemoriesResponse(memories=list(self.memories.values())[:100])

    async def ListTimeline(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        items = [
            store_pb.TimelineItem(
                id=memory.id,
                timestamp=memory.created_at,
                type=memory.type,
                summary=memory.content[:80],
                wing=memory.wing,
                room=memory.room,
            )
            for memory in reversed(self.memories.values())
            if request.wing in {"", memory.wing}
        ]
        return store_pb.ListTimelineResponse(items=items)

    async def UpdateMemory(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        memory = self._find(request.id)
        self.revision += 1
        memory.content = request.content or memory.content
        memory.revision = self.revision
        return store_pb.UpdateMemoryResponse(memory=memory)

    async def DeleteMemory(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        memory = self._find(request.id)
        self.revision += 1
        del self.memories[memory.id]
        return store_pb.DeleteMemoryResponse(id=memory.id, revision=self.revision)

    async def GetStoreStatus(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        return store_pb.GetStoreStatusResponse(stats=self.stats())

    def stats(self) -> store_pb.StoreStats:
        count = len(self.memories)
        return store_pb.StoreStats(
            verbatim_count=count, embedding_count=2 * count, type_counts={"fact": count}
        )


@dataclass
class FakeAllocator(allocator_grpc.AllocatorServiceServicer):
    """Recalls everything that the store holds."""

    store: FakeStore
    requests: list[Any] = field(default_factory=list)
    metadata: list[dict[str, str | bytes]] = field(default_factory=list)
    failure: Exception | None = None
    failing_parts: set[allocator_pb.Part.ValueType] = field(default_factory=set)
    degraded: list[allocator_pb.Part.ValueType] = field(default_factory=list)
    # Raised for requests that name a revision.
    unreached: Exception | None = None
    index_state: index_pb.IndexState.ValueType = index_pb.INDEX_STATE_READY

    def _begin(self, request: Any, context: Context) -> None:
        self.requests.append(request)
        self.metadata.append(dict(context.invocation_metadata() or ()))
        if self.failure is not None:
            raise self.failure

    async def Recall(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        if request.min_revision and self.unreached is not None:
            raise self.unreached
        memories = list(self.store.memories.values())
        answer = allocator_pb.RecallResponse(
            context="\n".join(memory.content for memory in memories),
            memories=[
                allocator_pb.RecalledMemory(
                    id=memory.id, mode=allocator_pb.RENDER_MODE_VERBATIM, rendered=memory.content
                )
                for memory in memories
            ],
            total_tokens=7,
            budget_used=12.5,
        )
        answer.receipt.budget = request.budget or 4000
        answer.receipt.degraded.extend(self.degraded)
        return answer

    async def SearchMemories(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        cut = request.max_content_length or None
        return allocator_pb.SearchMemoriesResponse(
            results=[
                allocator_pb.SearchResult(
                    id=memory.id,
                    content=memory.content[:cut],
                    truncated=bool(cut and len(memory.content) > cut),
                    similarity=0.5,
                    type=memory.type,
                    wing=memory.wing,
                    room=memory.room,
                    created_at=memory.created_at,
                )
                for memory in self.store.memories.values()
            ][: request.top_k or 10],
            degraded=self.degraded,
        )

    async def Allocate(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        return allocator_pb.AllocateResponse(context="".join(item.content for item in request.candidates))

    async def GetStatus(self, request: Any, context: Context) -> Any:
        self._begin(request, context)
        answer = allocator_pb.GetStatusResponse(
            stats=self.store.stats(),
            version="0.1.0",
            parts=[
                allocator_pb.PartStatus(name=name, healthy=name not in self.failing_parts, detail="As told.")
                for name in (allocator_pb.PART_EMBEDDER, allocator_pb.PART_INDEX, allocator_pb.PART_STORE)
            ],
        )
        answer.index.state = self.index_state
        return answer


_UNANSWERING = ("consolidation", "graph", "identity", "ingest", "lifecycle", "webhook")


def add_unanswering(server: Any) -> None:
    """Add the store's other services: they check what is sent, and then know no answer."""
    for name in _UNANSWERING:
        module: Any = import_module(f"satchel.api.store.v1.{name}_service_pb2_grpc")
        service = f"{name.title()}Service"
        getattr(module, f"add_{service}Servicer_to_server")(getattr(module, f"{service}Servicer")(), server)


@dataclass
class World:
    """The fakes, and clients that reach them."""

    store: FakeStore
    allocator: FakeAllocator
    clients: Clients

    def register(self, server: grpc.aio.Server) -> None:
        """Add the same fakes to another server."""
        store_grpc.add_MemoryServiceServicer_to_server(self.store, server)
        allocator_grpc.add_AllocatorServiceServicer_to_server(self.allocator, server)
        add_unanswering(server)


@asynccontextmanager
async def client_of(world: World, settings: GatewaySettings) -> AsyncIterator[httpx2.AsyncClient]:
    """Reach a gateway with these settings over the fakes, by a loopback name."""
    transport = httpx2.ASGITransport(build_app(world.clients, settings))
    async with httpx2.AsyncClient(transport=transport, base_url=BASE_URL) as client:
        yield client


@asynccontextmanager
async def open_world() -> AsyncIterator[World]:
    store = FakeStore()
    allocator = FakeAllocator(store)
    async with InProcessServer(default_chain()) as server:
        store_grpc.add_MemoryServiceServicer_to_server(store, server)
        allocator_grpc.add_AllocatorServiceServicer_to_server(allocator, server)
        add_unanswering(server)
        yield World(store, allocator, Clients.over(InProcessChannel(server)))
