"""Ten thousand memories in fifty wings, and another project with wings of the same names, behind services.

Every text is made of the same few words and every session runs through several wings, so that nothing but its
place tells a memory from the others. Only the model is a stand-in: it adds up one direction for each word.
"""

import random
import re
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from satchel.allocator import main as allocator
from satchel.allocator.settings import AllocatorSettings
from satchel.api.allocator.v1 import allocator_service_pb2_grpc as allocator_rpc
from satchel.api.embedder.v1 import embedder_service_pb2 as embedder_pb
from satchel.api.embedder.v1 import embedder_service_pb2_grpc as embedder_rpc
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.index.v1 import index_service_pb2_grpc as index_rpc
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.api.store.v1 import memory_service_pb2_grpc as store_rpc
from satchel.api.store.v1 import search_service_pb2_grpc as search_rpc
from satchel.api.types.v1 import memory_pb2, model_pb2, scope_pb2
from satchel.index import main as index
from satchel.index.settings import IndexSettings
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import default_chain
from satchel.runtime.server import Registrable
from satchel.store import main as store
from satchel.store.settings import StoreSettings

if TYPE_CHECKING:
    from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceAsyncStub
    from satchel.api.index.v1.index_service_pb2_grpc import IndexServiceAsyncStub
    from satchel.api.store.v1.memory_service_pb2_grpc import MemoryServiceAsyncStub
    from satchel.api.store.v1.search_service_pb2_grpc import SearchServiceAsyncStub

DIMENSION = 64
MAIN, OTHER = "default", "someone-else"
SMALL = 10
SMALL_WINGS = [f"small-{number}" for number in range(10)]
LARGE_WINGS = [f"large-{number}" for number in range(40)]
ROOMS = ("decisions", "facts", "session")
TYPES = (memory_pb2.MEMORY_TYPE_DECISION, memory_pb2.MEMORY_TYPE_FACT, memory_pb2.MEMORY_TYPE_SESSION_NOTE)
COMMON = "note on the plan"
"""What every text begins with; any other word is in one text of some thirty."""

_BEGINS = (
    "bam",
    "dek",
    "fil",
    "gor",
    "hup",
    "jat",
    "kes",
    "lim",
    "mon",
    "nur",
    "pav",
    "ril",
    "sot",
    "tuk",
    "vem",
    "zab",
)
_ENDS = (
    "adan",
    "ebor",
    "icel",
    "odit",
    "ulan",
    "agos",
    "erun",
    "imar",
    "obel",
    "usif",
    "atok",
    "enim",
    "iped",
    "ovar",
    "ubis",
)
WORDS = [begin + end for begin in _BEGINS for end in _ENDS]
_WORDS_PER_TEXT = 9
_TOTAL = 10_000
_OTHERS_PER_WING = 40
_SESSIONS = 300
_MODEL = model_pb2.ModelIdentity(name="words", sha256="c" * 64, dimension=DIMENSION, max_tokens=256)
_DIRECTIONS = np.random.default_rng(5).standard_normal((4096, DIMENSION))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory is, and of what type."""

    project: str
    wing: str
    room: str
    type: memory_pb2.MemoryType.ValueType

    def passes(self, wanted: scope_pb2.MemoryFilter) -> bool:
        """Say whether a search with this filter may find the memory."""
        return self.project == wanted.project and all(
            not allowed or value in allowed
            for value, allowed in (
                (self.wing, wanted.wings),
                (self.room, wanted.rooms),
                (self.type, wanted.types),
            )
        )


@dataclass(frozen=True, slots=True)
class World:
    """Stubs of the running services, and where every memory is by its id."""

    allocator: "AllocatorServiceAsyncStub"
    index: "IndexServiceAsyncStub"
    memories: "MemoryServiceAsyncStub"
    search: "SearchServiceAsyncStub"
    places: dict[str, Place]

    def ids_in(self, wanted: scope_pb2.MemoryFilter) -> set[str]:
        """Return the ids of all memories that a filter lets through."""
        return {name for name, place in self.places.items() if place.passes(wanted)}


class WordEmbedder(embedder_rpc.EmbedderServiceServicer):
    """Adds up a direction for each word of a text."""

    async def EmbedTexts(self, request: Any, context: Any) -> embedder_pb.EmbedTextsResponse:  # noqa: ANN401, ARG002, N802  # as generated
        return embedder_pb.EmbedTextsResponse(
            model=_MODEL,
            vectors=b"".join(map(vector_of, request.texts)),
            count=len(request.texts),
            dimension=DIMENSION,
            spans=[
                embedder_pb.PassageSpan(text_index=index, end=len(text), token_count=len(text.split()))
                for index, text in enumerate(request.texts)
            ],
        )


def vector_of(text: str) -> bytes:
    """Return the packed vector of a text."""
    words = re.findall(r"\w+", text.lower())
    total = _DIRECTIONS[[zlib.crc32(word.encode()) % len(_DIRECTIONS) for word in words]].sum(axis=0)
    packed: bytes = (total / np.linalg.norm(total)).astype("<f4").tobytes()
    return packed


@asynccontextmanager
async def running_world(folder: Path) -> AsyncIterator[World]:
    """Run all services over a database in the folder, and fill it; the index has followed then."""
    async with AsyncExitStack() as stack:
        server = InProcessServer(default_chain())
        stack.push_async_callback(server.stop)
        channel = InProcessChannel(server)
        # Graphs from a thousand passages on, so that walks of a graph are among what is probed.
        vectors = IndexSettings(crossover=1000, quiet_s=0.05, ef_construction=40)
        database = StoreSettings(url=f"sqlite:{folder / 'scopes.db'}", synchronous="normal")
        embedder_rpc.add_EmbedderServiceServicer_to_server(WordEmbedder(), server)  # type: ignore[abstract]  # only what is called here
        parts: tuple[AbstractAsyncContextManager[Registrable], ...] = (
            store.build(database, embedder_channel=channel),
            index.build(vectors, store_channel=channel),
            allocator.build(
                AllocatorSettings(), embedder_channel=channel, index_channel=channel, store_channel=channel
            ),
        )
        for part in parts:
            (await stack.enter_async_context(part)).register(server)
        memories = store_rpc.MemoryServiceStub(channel)
        world = World(
            allocator_rpc.AllocatorServiceStub(channel),
            index_rpc.IndexServiceStub(channel),
            memories,
            search_rpc.SearchServiceStub(channel),
            {},
        )
        await _fill(world)
        yield world


async def _fill(world: World) -> None:
    """Store everything, and wait until the index has all of it."""
    wanted = list(_memories(random.Random(11)))
    records = (
        store_pb.ImportMemoriesRequest(sequence=number, new_memory=memory)
        for number, memory in enumerate(wanted)
    )
    revision = 0
    async for answer in world.memories.ImportMemories(records):
        assert answer.WhichOneof("result") == "stored", answer.error.message
        memory = wanted[answer.sequence]
        world.places[answer.stored.id] = Place(memory.project, memory.wing, memory.room, memory.type)
        revision = max(revision, answer.stored.revision)
    assert len(world.places) == len(wanted)
    await _until_followed(world, revision)


async def _until_followed(world: World, revision: int) -> None:
    """Return when the index answers for this revision itself; each search waits a while for it."""
    request = index_pb.SearchVectorsRequest(vector=vector_of(COMMON), min_revision=revision)
    for _ in range(60):
        answer = await world.index.SearchVectors(request)
        if not answer.degraded:
            return
    raise AssertionError("the index did not follow")


def _memories(chance: random.Random) -> Iterator[store_pb.StoreMemoryRequest]:
    shares = [chance.random() for _ in LARGE_WINGS]
    rest = _TOTAL - SMALL * len(SMALL_WINGS)
    sizes = dict.fromkeys(SMALL_WINGS, SMALL)
    sizes |= {wing: int(rest * share / sum(shares)) for wing, share in zip(LARGE_WINGS, shares, strict=True)}
    sizes[LARGE_WINGS[0]] += _TOTAL - sum(sizes.values())
    wings = [(MAIN, wing) for wing, size in sizes.items() for _ in range(size)]
    # The other project has half of the wings, so that the other half are names that only one project knows.
    wings += [
        (OTHER, wing) for wing in [*SMALL_WINGS[::2], *LARGE_WINGS[::2]] for _ in range(_OTHERS_PER_WING)
    ]
    chance.shuffle(wings)
    for number, (project, wing) in enumerate(wings):
        yield store_pb.StoreMemoryRequest(
            project=project,
            wing=wing,
            room=chance.choice(ROOMS),
            type=chance.choice(TYPES),
            content=f"{COMMON}, {number}: {' '.join(chance.sample(WORDS, _WORDS_PER_TEXT))}.",
            session_id=f"session-{chance.randrange(_SESSIONS)}",
            tags=chance.sample(WORDS, 2),
        )
