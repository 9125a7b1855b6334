"""The codes of tokens, from the answers of embedder and store to what ranking is given."""

import numpy as np
import pytest

from requirements import requirement
from satchel.allocator.late_interaction import MOST_QUERY_TOKENS, Codes, codes_by_memory, unpacked
from satchel.allocator.peers import connect
from satchel.allocator.ports import Peers, Scope
from satchel.allocator.retrieving import RetrievalRequest, Retrieved, find
from satchel.allocator.settings import AllocatorSettings
from satchel.allocator.tuning import Tuning
from satchel.runtime.inprocess import InProcessChannel, InProcessServer

from .peers import World, codes_of, memory, memory_id, register

TEXTS = ("Billing moved to PostgreSQL.", "The invoices are late.", "Whales sing. Billing sings.")


@pytest.fixture
async def peers(world: World) -> Peers:
    server = InProcessServer()
    register(world, server)
    channel = InProcessChannel(server)
    return connect(AllocatorSettings(), embedder=channel, index=channel, store=channel)


def fill(world: World) -> None:
    """Three texts of one session, of which the last has two passages."""
    world.memories += [
        memory(
            number,
            text,
            session_id="s",
            session_order=number,
            title="passages" if number == len(TEXTS) - 1 else "",
        )
        for number, text in enumerate(TEXTS)
    ]


async def retrieved(peers: Peers, query: str = "billing database") -> Retrieved:
    request = RetrievalRequest(
        query=query,
        scope=Scope(),
        tuning=Tuning(expansion=True),
        dense_depth=10,
        lexical_depth=10,
        fetch_limit=10,
        neighbor_count=1,
        neighbors_of_first=10,
    )
    return await find(request, peers)


def codes_by_id(found: Retrieved) -> dict[str, Codes]:
    assert found.loaded is not None
    located = found.loaded.located
    assert len(located.code_counts) == len(located.vectors)
    codes, counts = codes_by_memory(
        located.codes, located.code_counts, located.owners, memories=len(located.ids)
    )
    return dict(zip(located.ids, np.split(codes, np.cumsum(counts)[:-1]), strict=True))


def expected(*texts: str) -> Codes:
    codes = codes_of(*texts)
    return unpacked(codes.codes, codes.bytes_per_token)


@requirement("codes:recall")
@pytest.mark.parametrize("memories_per_reply", [1000, 1, 2])
async def test_ranking_is_given_the_codes_of_every_memory_however_many_replies_bring_them(
    world: World, peers: Peers, memories_per_reply: int
) -> None:
    fill(world)
    world.memories_per_reply = memories_per_reply

    found = codes_by_id(await retrieved(peers))

    assert {memory_id(n): expected(text).tolist() for n, text in enumerate(TEXTS)} == {
        name: codes.tolist() for name, codes in found.items()
    }


@requirement("codes:recall")
async def test_the_query_itself_brings_its_codes_and_its_variants_none(world: World, peers: Peers) -> None:
    fill(world)

    found = await retrieved(peers, "which database has billing")

    assert len(world.requests["embedder.EmbedTexts"].texts) > 1
    assert found.evidence.query_codes.tolist() == expected("which database has billing").tolist()


@requirement("codes:recall")
async def test_a_very_long_query_is_compared_by_its_first_tokens(world: World, peers: Peers) -> None:
    fill(world)

    found = await retrieved(peers, "billing " * 200)

    assert len(found.evidence.query_codes) == MOST_QUERY_TOKENS


@requirement("codes:optional")
async def test_parts_that_know_no_codes_and_memories_that_wait_for_theirs_are_served(
    world: World, peers: Peers
) -> None:
    fill(world)
    world.pending.add(memory_id(1))
    some = codes_by_id(await retrieved(peers))
    world.has_codes = False
    none = await retrieved(peers)

    assert [len(some[memory_id(n)]) for n in range(3)] == [4, 0, 4]
    assert [len(codes) for codes in codes_by_id(none).values()] == [0, 0, 0]
    assert len(none.evidence.query_codes) == 0
