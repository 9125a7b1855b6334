"""What is stored in one place is never found from another, and all of a small place is found."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from contract.scopes.probing import LEVELS, Probe, Tally, count_for, random_probe
from contract.scopes.world import (
    COMMON,
    LARGE_WINGS,
    MAIN,
    OTHER,
    SMALL,
    SMALL_WINGS,
    WORDS,
    World,
    running_world,
    vector_of,
)

from requirements import requirement
from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.types.v1 import scope_pb2

AT_A_TIME = 8
LIMIT_S = 3 * 3600
"""For as many probes as anybody may ask for."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """All tests read the same world; none changes it."""
    async with running_world(tmp_path_factory.mktemp("scopes")) as running:
        yield running


@requirement("recall:whole-wing")
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("wing", SMALL_WINGS)
async def test_a_recall_in_a_wing_of_ten_among_ten_thousand_gives_all_ten(world: World, wing: str) -> None:
    reply = await world.allocator.Recall(
        allocator_pb.RecallRequest(query=f"What is the {COMMON} {WORDS[0]}?", wing=wing)
    )

    expected = world.ids_in(scope_pb2.MemoryFilter(project=MAIN, wings=[wing]))
    assert len(expected) == SMALL
    assert sorted(one.id for one in reply.memories) == sorted(expected)


@requirement("recall:whole-wing")
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("query", [WORDS[1], "something that no memory says"])
async def test_all_ten_come_whatever_is_asked(world: World, query: str) -> None:
    reply = await world.allocator.Recall(allocator_pb.RecallRequest(query=query, wing=SMALL_WINGS[0]))

    expected = world.ids_in(scope_pb2.MemoryFilter(project=MAIN, wings=[SMALL_WINGS[0]]))
    assert {one.id for one in reply.memories} == expected


@requirement("recall:filters")
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("project", [MAIN, OTHER])
async def test_a_filter_costs_the_index_no_memory(world: World, project: str) -> None:
    for wing in (*SMALL_WINGS, *LARGE_WINGS):
        wanted = scope_pb2.MemoryFilter(project=project, wings=[wing])
        request = index_pb.SearchVectorsRequest(vector=vector_of(COMMON), filter=wanted, top_k=1000)
        found = [hit.memory_id for hit in (await world.index.SearchVectors(request)).hits]
        assert sorted(found) == sorted(world.ids_in(wanted))


@requirement("recall:filters", "store:projects")
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("level", LEVELS)
async def test_nothing_of_another_place_is_found_by_any_probe(world: World, level: str) -> None:
    find, most_wings = LEVELS[level]
    chance = random.Random(level)
    tally = Tally()
    for first in range(0, count_for(level), AT_A_TIME):
        probes = [random_probe(chance, most_wings=most_wings) for _ in range(first, first + AT_A_TIME)]
        answers = await asyncio.gather(*(find(world, probe, chance) for probe in probes))
        for probe, ids in zip(probes, answers, strict=True):
            tally.add(probe, ids, world.places)

    assert tally.strays == []
    assert tally.probes >= count_for(level)
    assert tally.found > tally.probes / 2


@requirement("recall:filters", "store:projects")
@pytest.mark.asyncio(loop_scope="module")
async def test_a_wing_that_only_the_other_project_knows_is_empty(world: World) -> None:
    probe = Probe(COMMON, scope_pb2.MemoryFilter(project=OTHER, wings=[SMALL_WINGS[1]]))

    found = {level: await find(world, probe, random.Random(1)) for level, (find, _) in LEVELS.items()}

    assert [level for level, ids in found.items() if ids] == []
