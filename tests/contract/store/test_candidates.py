"""What `SearchService.FetchCandidates` promises."""

import struct

from contract.store.backends import RunningStore
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store.fakes import DIMENSION, Client, vector

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2
from satchel.api.store.v1 import search_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2, scope_pb2

MICROSECONDS = 1_000_000


async def fetch(client: Client, ids: list[str], **fields: object) -> pb.FetchCandidatesResponse:
    return await client.search.FetchCandidates(pb.FetchCandidatesRequest(ids=ids, **fields))  # type: ignore[arg-type]


@requirement("candidates:columns")
async def test_columns_hold_what_the_memories_hold(running_store: RunningStore) -> None:
    async with running_store() as client:
        cause = await client.store("We chose Rust.", type=memory_pb2.MEMORY_TYPE_DECISION)
        link = memory_pb2.CausalLink(memory_id=cause.id, relation=memory_pb2.CAUSAL_RELATION_BECAUSE)
        stored = await client.store(
            "first part\n\nsecond part",
            room="r",
            session_id="s",
            occurred_at=Timestamp(seconds=5),
            causal_links=[link],
        )
        whole = (await client.memories.GetMemory(memory_service_pb2.GetMemoryRequest(id=stored.id))).memory
        found = await fetch(client, [stored.id, cause.id])

    assert list(found.ids) == [stored.id, cause.id]
    assert found.asked_count == 2
    assert (found.contents[0], found.wings[0], found.rooms[0]) == (whole.content, "w", "r")
    assert (found.session_ids[0], found.session_orders[0]) == ("s", 1)
    assert list(found.occurred) == [True, False]
    assert found.effective_micros[0] == 5 * MICROSECONDS
    assert found.created_micros[0] == whole.created_at.ToMicroseconds()
    assert (found.types[1], found.versions[1]) == (memory_pb2.MEMORY_TYPE_DECISION, 1)
    assert found.token_counts[0] == whole.token_costs.verbatim
    assert found.fact_counts[0] == whole.fingerprint.fact_count
    assert '"type":"decision"' in found.fingerprints[1]
    assert [(one.index, list(one.memory_ids)) for one in found.links] == [(0, [cause.id]), (1, [stored.id])]


@requirement("candidates:columns")
async def test_vectors_follow_the_memories_passage_by_passage(running_store: RunningStore) -> None:
    async with running_store() as client:
        long = await client.store("one\n\ntwo")
        short = await client.store("three")
        found = await fetch(client, [short.id, long.id])

    assert list(found.passage_counts) == [1, 2]
    assert (list(found.passage_starts), list(found.passage_ends)) == ([0, 0, 5], [5, 3, 8])
    assert found.dimension == DIMENSION
    assert found.vectors == vector("three") + vector("one") + vector("two")
    assert len(struct.unpack(f"<{3 * DIMENSION}f", found.vectors)) == 3 * DIMENSION


@requirement("candidates:neighbours")
async def test_neighbours_of_the_first_come_after_those_asked_for(running_store: RunningStore) -> None:
    async with running_store() as client:
        turns = [(await client.store(f"turn {number}", session_id="s")).id for number in range(7)]
        found = await fetch(client, [turns[1], turns[5]], neighbor_count=1, neighbors_of_first=1)
        every = await fetch(client, [turns[1], turns[5]], neighbor_count=1)
        asked = await fetch(client, [turns[1], turns[2]], neighbor_count=1, neighbors_of_first=1)

    assert (found.asked_count, list(found.ids)) == (2, [turns[1], turns[5], turns[0], turns[2]])
    assert list(every.ids[2:]) == [turns[0], turns[2], turns[4], turns[6]]
    assert list(asked.ids) == [turns[1], turns[2], turns[0]]


@requirement("candidates:neighbours")
async def test_neighbours_outside_of_the_filter_are_marked(running_store: RunningStore) -> None:
    async with running_store() as client:
        await client.store("before", session_id="s", room="other")
        hit = await client.store("hit", session_id="s", room="mine")
        await client.store("after", session_id="s", room="mine")
        found = await fetch(client, [hit.id], neighbor_count=1, filter=scope_pb2.MemoryFilter(rooms=["mine"]))

    assert list(found.contents) == ["hit", "before", "after"]
    assert list(found.in_filter) == [True, False, True]


@requirement("candidates:columns", "store:projects")
async def test_memories_of_another_project_and_missing_ones_are_left_out(running_store: RunningStore) -> None:
    async with running_store() as client:
        mine = await client.store("mine")
        other = await client.store("other", project="p")
        found = await fetch(client, [other.id, f"T0:{mine.id}", "0190a6b2-8f1e-7c3d-9a4b-5e6f70818293"])

    assert list(found.ids) == [mine.id]
    assert not found.remaining_ids


@requirement("candidates:columns", "read:secrets")
async def test_the_text_of_a_secret_is_no_candidate(running_store: RunningStore) -> None:
    component = memory_pb2.Component(vault=memory_pb2.VaultComponent(caption="the door's code"))
    async with running_store() as client:
        stored = await client.store("hunter2 hunter2", component=component)
        found = await fetch(client, [stored.id])

    assert (list(found.contents), list(found.token_counts)) == ([""], [0])
    assert b"hunter2" not in found.SerializeToString()


@requirement("candidates:rest")
async def test_what_does_not_fit_is_listed_and_may_be_asked_for_again(running_store: RunningStore) -> None:
    async with running_store(message_bytes=40_000) as client:
        ids = [(await client.store(f"{number} " + "x" * 60_000)).id for number in range(4)]
        got: list[str] = []
        asked = ids
        replies = 0
        while asked:
            reply = await fetch(client, asked)
            got += reply.ids
            asked = list(reply.remaining_ids)
            replies += 1

    assert replies > 1
    assert got == ids
