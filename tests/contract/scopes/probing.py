"""Random probes of a world: what each level of the search gives, and what it may give."""

import os
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from contract.scopes.world import (
    COMMON,
    LARGE_WINGS,
    MAIN,
    OTHER,
    ROOMS,
    SMALL_WINGS,
    TYPES,
    WORDS,
    Place,
    World,
    vector_of,
)

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.types.v1 import memory_pb2, scope_pb2

VARIABLE = "SATCHEL_SCOPE_PROBES"
"""How many probes each level gets; without it there are some 26,000 in all, which take less than a minute."""

_WINGS = (*SMALL_WINGS, *LARGE_WINGS)
_MOST_WINGS = 3
_TOP_K = 20
_CANDIDATES = 15
_SHARES: Mapping[str, int] = {
    "recall": 1_000,
    "search": 500,
    "text": 1_500,
    "stored": 1_000,
    "candidates": 1_000,
    "list": 1_000,
    "vectors": 20_000,
}


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, and where it is asked: in one wing at most, unless below the allocator."""

    words: str
    wanted: scope_pb2.MemoryFilter

    @property
    def wing(self) -> str:
        """The one wing that a recall takes; empty for all of the project."""
        return self.wanted.wings[0] if self.wanted.wings else ""

    @property
    def room(self) -> str:
        """The room, or empty for all."""
        return self.wanted.rooms[0] if self.wanted.rooms else ""


@dataclass(slots=True)
class Tally:
    """What probes came to: how many, how many memories they gave, and which of these they may not give."""

    probes: int = 0
    found: int = 0
    strays: list[str] = field(default_factory=list)

    def add(self, probe: Probe, ids: set[str], places: Mapping[str, Place]) -> None:
        """Count one probe and its answer."""
        self.probes += 1
        self.found += len(ids)
        self.strays += [
            f"{name} at {places[name]} for {probe}" for name in ids if not places[name].passes(probe.wanted)
        ]


Level: TypeAlias = Callable[[World, Probe, random.Random], Awaitable[set[str]]]


def count_for(level: str) -> int:
    """Return how many probes a level gets."""
    return int(os.environ.get(VARIABLE, "0")) or _SHARES[level]


def random_probe(chance: random.Random, *, most_wings: int = 1) -> Probe:
    """Return a question of one to four words in a random place, which may be empty, or in a whole project."""
    wings = chance.sample(_WINGS, chance.randint(1, most_wings)) if chance.random() < 0.9 else []
    return Probe(
        " ".join((*chance.sample(WORDS, chance.randint(1, 4)), *([COMMON] if chance.random() < 0.1 else ()))),
        scope_pb2.MemoryFilter(
            project=chance.choice((MAIN, OTHER)),
            wings=wings,
            rooms=[chance.choice(ROOMS)] if chance.random() < 0.3 else [],
            types=[chance.choice(TYPES)] if chance.random() < 0.3 else [],
        ),
    )


async def recall(world: World, probe: Probe, _: random.Random) -> set[str]:
    """Ask for a context."""
    answer = await world.allocator.Recall(
        allocator_pb.RecallRequest(
            query=probe.words,
            project=probe.wanted.project,
            wing=probe.wing,
            room=probe.room,
            types=probe.wanted.types,
            budget=1000,
        )
    )
    return {one.id for one in answer.memories}


async def search(world: World, probe: Probe, _: random.Random) -> set[str]:
    """Search by words and meaning."""
    answer = await world.allocator.SearchMemories(
        allocator_pb.SearchMemoriesRequest(
            query=probe.words,
            project=probe.wanted.project,
            wing=probe.wing,
            room=probe.room,
            types=probe.wanted.types,
            top_k=_TOP_K,
        )
    )
    return {one.id for one in answer.results}


async def text(world: World, probe: Probe, _: random.Random) -> set[str]:
    """Search by words and tags in the store."""
    answer = await world.search.SearchText(
        search_pb.SearchTextRequest(query=probe.words, filter=probe.wanted, top_k=_TOP_K)
    )
    return {one.memory_id for one in answer.hits} | {one.memory_id for one in answer.tag_hits}


async def vectors(world: World, probe: Probe, _: random.Random) -> set[str]:
    """Search by meaning in the index."""
    answer = await world.index.SearchVectors(
        index_pb.SearchVectorsRequest(vector=vector_of(probe.words), filter=probe.wanted, top_k=_TOP_K)
    )
    assert not answer.degraded
    return {one.memory_id for one in answer.hits}


async def stored(world: World, probe: Probe, _: random.Random) -> set[str]:
    """Search by meaning in the store, which answers when the index does not."""
    answer = await world.search.SearchStoredVectors(
        search_pb.SearchStoredVectorsRequest(vector=vector_of(probe.words), filter=probe.wanted, top_k=_TOP_K)
    )
    return {one.memory_id for one in answer.hits}


async def candidates(world: World, probe: Probe, chance: random.Random) -> set[str]:
    """Fetch memories of any place, and those beside them that the filter is said to let through."""
    answer = await world.search.FetchCandidates(
        search_pb.FetchCandidatesRequest(
            ids=chance.sample(list(world.places), _CANDIDATES), filter=probe.wanted, neighbor_count=2
        )
    )
    assert {world.places[name].project for name in answer.ids} <= {probe.wanted.project}
    beside = range(answer.asked_count, len(answer.ids))
    return {answer.ids[number] for number in beside if answer.in_filter[number]}


async def listing(world: World, probe: Probe, _: random.Random) -> set[str]:
    """List one page."""
    answer = await world.memories.ListMemories(
        store_pb.ListMemoriesRequest(
            project=probe.wanted.project,
            wing=probe.wing,
            room=probe.room,
            type=probe.wanted.types[0] if probe.wanted.types else memory_pb2.MEMORY_TYPE_UNSPECIFIED,
            page_size=_TOP_K,
        )
    )
    return {one.id for one in answer.memories}


LEVELS: Mapping[str, tuple[Level, int]] = {
    "recall": (recall, 1),
    "search": (search, 1),
    "text": (text, _MOST_WINGS),
    "stored": (stored, _MOST_WINGS),
    "candidates": (candidates, _MOST_WINGS),
    "list": (listing, 1),
    "vectors": (vectors, _MOST_WINGS),
}
"""Every level, and in how many wings at a time it searches."""
