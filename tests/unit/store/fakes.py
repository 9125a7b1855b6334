"""A store in a folder of its own behind real stubs, and an embedder that counts words."""

import asyncio
import hashlib
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from satchel.api.store.v1 import (
    change_service_pb2_grpc,
    consolidation_service_pb2_grpc,
    graph_service_pb2_grpc,
    ingest_service_pb2_grpc,
    lifecycle_service_pb2_grpc,
    maintenance_service_pb2_grpc,
    memory_service_pb2,
    memory_service_pb2_grpc,
    search_service_pb2_grpc,
    webhook_service_pb2_grpc,
)
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import default_chain
from satchel.store.main import Built, build, wall_clock
from satchel.store.model import ModelIdentity, Passages
from satchel.store.ports import EmbedderRefused, EmbedderUnavailable
from satchel.store.settings import StoreSettings, WebhookRules
from satchel.store.webhook_building import Surroundings

DIMENSION = 8
_WITHOUT_WEBHOOKS = WebhookRules()
_SURROUNDINGS = Surroundings()
MODEL = ModelIdentity("words", "1", "a" * 64, DIMENSION, 256)
OTHER_MODEL = ModelIdentity("other", "1", "b" * 64, DIMENSION, 256)


class FakeEmbedder:
    """Sums a fixed direction for each word, which also has a code; a blank line cuts a text into passages."""

    def __init__(self) -> None:
        self.is_down = False
        self.has_codes = True
        self.refused = ""
        self.model = MODEL
        self.texts: list[str] = []

    async def loaded_model(self, *, timeout_s: float) -> ModelIdentity:
        assert timeout_s > 0
        if self.is_down:
            raise EmbedderUnavailable("down")
        return self.model

    async def gives_codes(self, *, timeout_s: float) -> bool:
        assert timeout_s > 0
        if self.is_down:
            raise EmbedderUnavailable("down")
        return self.has_codes

    async def embed(self, texts: Sequence[str], *, timeout_s: float) -> tuple[Passages, ...]:
        assert timeout_s > 0
        if self.is_down:
            raise EmbedderUnavailable("down")
        if self.refused and self.refused in texts:
            raise EmbedderRefused("refused")
        self.texts += texts
        return tuple(self._passages(text) for text in texts)

    def _passages(self, text: str) -> Passages:
        parts, start, spans = text.split("\n\n"), 0, list[int]()
        for part in parts:
            spans += [start, start + len(part)]
            start += len(part) + 2
        vectors = b"".join(vector(part) for part in parts)
        codes = [codes_of(part) for part in parts] if self.has_codes else []
        counts = struct.pack(f"<{len(codes)}i", *map(len, codes))  # a code has one byte
        packed = struct.pack(f"<{len(spans)}i", *spans)
        return Passages(self.model, len(parts), packed, vectors, counts, b"".join(codes))


def codes_of(text: str) -> bytes:
    """Return the codes of the words of a text, one byte each."""
    return b"".join(hashlib.sha256(word.encode()).digest()[:1] for word in text.lower().split())


def vector(text: str) -> bytes:
    """Return the packed vector of a text without blank lines."""
    total = np.zeros(DIMENSION)
    for word in text.lower().split() or [""]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
        total += np.random.default_rng(seed).standard_normal(DIMENSION)
    packed: bytes = (total / np.linalg.norm(total)).astype("<f4").tobytes()
    return packed


@dataclass(frozen=True, slots=True)
class Client:
    """Stubs of a running store, and what stands behind it."""

    memories: "memory_service_pb2_grpc.MemoryServiceAsyncStub"
    search: "search_service_pb2_grpc.SearchServiceAsyncStub"
    changes: "change_service_pb2_grpc.ChangeServiceAsyncStub"
    consolidation: "consolidation_service_pb2_grpc.ConsolidationServiceAsyncStub"
    graph: "graph_service_pb2_grpc.GraphServiceAsyncStub"
    ingest: "ingest_service_pb2_grpc.IngestServiceAsyncStub"
    lifecycle: "lifecycle_service_pb2_grpc.LifecycleServiceAsyncStub"
    maintenance: "maintenance_service_pb2_grpc.MaintenanceServiceAsyncStub"
    webhooks: "webhook_service_pb2_grpc.WebhookServiceAsyncStub"
    embedder: FakeEmbedder
    built: Built

    async def store(self, content: str, **fields: object) -> memory_service_pb2.StoreMemoryResponse:
        """Store a text in the wing ``w``."""
        request = memory_service_pb2.StoreMemoryRequest(**{"wing": "w", **fields, "content": content})  # type: ignore[arg-type]
        return await self.memories.StoreMemory(request)


@asynccontextmanager
async def running_store(
    folder: Path,
    *,
    embedder: FakeEmbedder | None = None,
    clock: Callable[[], int] = wall_clock,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    name: str = "store.db",
    webhooks: WebhookRules = _WITHOUT_WEBHOOKS,
    surroundings: Surroundings = _SURROUNDINGS,
    **settings: object,
) -> AsyncIterator[Client]:
    """Run a store on a file of the folder and give stubs over the in-process channel."""
    embedder = embedder or FakeEmbedder()
    defaults = StoreSettings(url=f"sqlite:{folder / name}", retry_first_s=0.01, retry_longest_s=0.02)
    chosen = replace(defaults, **settings)  # type: ignore[arg-type]
    async with build(
        chosen,
        webhooks=webhooks,
        surroundings=surroundings,
        embedder=embedder,
        clock=clock,
        pause=pause,
    ) as built:
        server = InProcessServer(interceptors=default_chain())
        built.register(server)
        channel = InProcessChannel(server)
        yield Client(
            memory_service_pb2_grpc.MemoryServiceStub(channel),
            search_service_pb2_grpc.SearchServiceStub(channel),
            change_service_pb2_grpc.ChangeServiceStub(channel),
            consolidation_service_pb2_grpc.ConsolidationServiceStub(channel),
            graph_service_pb2_grpc.GraphServiceStub(channel),
            ingest_service_pb2_grpc.IngestServiceStub(channel),
            lifecycle_service_pb2_grpc.LifecycleServiceStub(channel),
            maintenance_service_pb2_grpc.MaintenanceServiceStub(channel),
            webhook_service_pb2_grpc.WebhookServiceStub(channel),
            embedder,
            built,
        )
