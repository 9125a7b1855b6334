"""Causal links that are given, listed and followed."""

from itertools import pairwise

import grpc
from contract.store.backends import RunningStore
from contract.store.test_storing import refusal
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store.fakes import Client

from requirements import requirement
from satchel.api.store.v1 import graph_service_pb2 as pb
from satchel.api.store.v1 import lifecycle_service_pb2 as lifecycle_pb
from satchel.api.store.v1 import memory_service_pb2 as memory_service
from satchel.api.types.v1 import memory_pb2

BECAUSE = memory_pb2.CAUSAL_RELATION_BECAUSE
UPDATES = memory_pb2.CAUSAL_RELATION_UPDATES
CONTRADICTS = memory_pb2.CAUSAL_RELATION_CONTRADICTS
NOBODY = "01890a5d-ac96-774b-bcce-b302099a8000"


async def stored(client: Client, *days: int, **fields: object) -> list[str]:
    """Store a memory for each day since 1970 and return their ids."""
    made = [
        await client.store(f"Day number {at}.", occurred_at=Timestamp(seconds=at * 86_400), **fields)
        for at in days
    ]
    return [one.id for one in made]


async def link(
    client: Client, cause: str, effect: str, relation: memory_pb2.CausalRelation.ValueType = BECAUSE
) -> pb.LinkMemoriesResponse:
    return await client.graph.LinkMemories(
        pb.LinkMemoriesRequest(cause_id=cause, effect_id=effect, relation=relation)
    )


async def trace(client: Client, memory_id: str, **fields: object) -> pb.TraceCausalChainResponse:
    return await client.graph.TraceCausalChain(pb.TraceCausalChainRequest(id=memory_id, **fields))  # type: ignore[arg-type]


@requirement("graph:given")
async def test_a_given_link_is_there_at_both_ends_and_giving_it_again_changes_nothing(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        cause, effect = await stored(client, 1, 2)
        first = await link(client, f"T0:{cause.upper()}", effect)
        again = await link(client, cause, effect)
        memory = await client.memories.GetMemory(memory_service.GetMemoryRequest(id=effect))
        status = await client.memories.GetStoreStatus(memory_service.GetStoreStatusRequest())

    assert (first.created, again.created) == (True, False)
    assert first.link == again.link == pb.CausalEdge(cause_id=cause, effect_id=effect, relation=BECAUSE)
    assert list(memory.memory.causal_links) == [memory_pb2.CausalLink(memory_id=cause, relation=BECAUSE)]
    assert (status.stats.causal_node_count, status.stats.causal_edge_count) == (2, 1)


@requirement("graph:given")
async def test_a_found_link_that_is_given_too_counts_as_given(running_store: RunningStore) -> None:
    async with running_store() as client:
        cause = await client.store("Redis lost its data.")
        effect = await client.store("We added replicas because Redis lost data.")
        given = await link(client, cause.id, effect.id)
        changed = memory_service.UpdateMemoryRequest(id=effect.id, content="Something else.")
        await client.memories.UpdateMemory(changed)
        listed = await client.graph.ListCausalLinks(pb.ListCausalLinksRequest(id=effect.id))

    assert not given.created
    assert list(listed.links) == [pb.CausalEdge(cause_id=cause.id, effect_id=effect.id, relation=BECAUSE)]


@requirement("graph:given")
async def test_links_are_removed_by_relation_or_all_at_once_and_only_in_their_direction(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        cause, effect = await stored(client, 1, 2)
        for relation in (BECAUSE, UPDATES, memory_pb2.CAUSAL_RELATION_RESOLVES):
            await link(client, cause, effect, relation)
        await link(client, effect, cause, memory_pb2.CAUSAL_RELATION_TRIGGERED)
        pair = {"cause_id": cause, "effect_id": effect}
        removed = [
            (await client.graph.UnlinkMemories(pb.UnlinkMemoriesRequest(**fields))).removed_count
            for fields in ({**pair, "relation": UPDATES}, {**pair, "relation": UPDATES}, pair, pair)
        ]
        listed = await client.graph.ListCausalLinks(pb.ListCausalLinksRequest(id=cause))

    assert removed == [1, 0, 2, 0]
    assert [(one.cause_id, one.effect_id) for one in listed.links] == [(effect, cause)]


@requirement("graph:given")
async def test_no_memory_is_cause_and_effect_of_another_by_one_relation(running_store: RunningStore) -> None:
    async with running_store() as client:
        cause, effect = await stored(client, 1, 2)
        await link(client, cause, effect)
        refused = await refusal(link(client, effect, cause))
        other = await link(client, effect, cause, UPDATES)
        pair = {"cause_id": cause, "effect_id": effect}
        await client.graph.UnlinkMemories(pb.UnlinkMemoriesRequest(**pair, relation=BECAUSE))
        swapped = await link(client, effect, cause)

    assert refused == (
        grpc.StatusCode.FAILED_PRECONDITION,
        "LINKED_BACKWARDS",
        {"cause_id": effect, "effect_id": cause},
    )
    assert (other.created, swapped.created) == (True, True)


@requirement("graph:given")
async def test_a_link_needs_two_memories_of_one_project(running_store: RunningStore) -> None:
    async with running_store() as client:
        (here,), (there,) = await stored(client, 1), await stored(client, 1, project="p")
        unlink = pb.UnlinkMemoriesRequest(cause_id=here, effect_id=NOBODY)
        foreign = pb.LinkMemoriesRequest(cause_id=here, effect_id=here, relation=BECAUSE, project="p")
        refusals = [
            await refusal(link(client, here, there)),
            await refusal(link(client, NOBODY, here)),
            await refusal(client.graph.UnlinkMemories(unlink)),
            await refusal(client.graph.ListCausalLinks(pb.ListCausalLinksRequest(id=NOBODY))),
            await refusal(client.graph.ListCausalLinks(pb.ListCausalLinksRequest(id=here, project="p"))),
            await refusal(trace(client, NOBODY)),
        ]
        same = await refusal(link(client, here, here))
        code, _, _ = await refusal(client.graph.LinkMemories(foreign))

    missing = [there, NOBODY, NOBODY, NOBODY, here, NOBODY]
    assert refusals == [
        (grpc.StatusCode.NOT_FOUND, "MEMORY_NOT_FOUND", {"memory_id": one}) for one in missing
    ]
    assert same[:2] == (grpc.StatusCode.INVALID_ARGUMENT, "FIELDS_CONFLICT")
    assert code is grpc.StatusCode.INVALID_ARGUMENT


@requirement("graph:listed")
async def test_links_are_listed_each_once_over_pages_in_one_order(running_store: RunningStore) -> None:
    async with running_store() as client:
        centre, *others = await stored(client, *range(6))
        for other in others:
            await link(client, centre, other)
            await link(client, other, centre, CONTRADICTS)
            await link(client, other, centre, UPDATES)
        pages, token = list[list[pb.CausalEdge]](), ""
        while not pages or token:
            request = pb.ListCausalLinksRequest(id=centre, page_size=4, page_token=token)
            page = await client.graph.ListCausalLinks(request)
            pages.append(list(page.links))
            token = page.next_page_token
        broken = pb.ListCausalLinksRequest(id=others[0], page_token=8 * "x")
        code, reason, _ = await refusal(client.graph.ListCausalLinks(broken))

    expected = [
        row
        for other in sorted(others)
        for row in ((centre, other, BECAUSE), (other, centre, UPDATES), (other, centre, CONTRADICTS))
    ]
    assert [(one.cause_id, one.effect_id, one.relation) for page in pages for one in page] == expected
    assert [len(page) for page in pages] == [4, 4, 4, 3]
    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "PAGE_TOKEN_MISMATCH")


@requirement("graph:traced")
async def test_a_trace_tells_what_led_to_a_memory_and_what_followed_with_all_that_is_known(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        root, cause, effect = await stored(client, 1, 2, 3)
        await link(client, root, cause, UPDATES)
        await link(client, cause, effect)
        archive = lifecycle_pb.ArchiveMemoriesRequest(ids=[root])
        await client.lifecycle.ArchiveMemories(archive)
        found = await trace(client, cause, include_consequences=True)
        alone = await trace(client, cause)
        far = await trace(client, effect)

    node = found.chain[0]
    assert [one.id for one in found.chain] == [root]
    assert (node.depth, node.relation, node.via_id) == (1, UPDATES, cause)
    assert (node.state, node.wing, node.room) == (memory_pb2.MEMORY_STATE_ARCHIVED, "w", "session")
    assert (node.timestamp.seconds, bool(node.summary)) == (86_400, True)
    assert [(one.id, one.depth, one.via_id) for one in found.consequences] == [(effect, 1, cause)]
    assert not alone.consequences
    assert [(one.id, one.depth, one.via_id) for one in far.chain] == [(cause, 1, effect), (root, 2, cause)]


@requirement("graph:traced")
async def test_a_trace_keeps_to_depth_relations_and_order_and_is_safe_in_a_cycle(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        start, late, early, far = await stored(client, 9, 5, 3, 1)
        for cause, effect in ((late, start), (early, start), (far, late), (start, far)):
            await link(client, cause, effect)
        await link(client, far, early, UPDATES)
        whole = await trace(client, start, include_consequences=True)
        near = await trace(client, start, max_depth=1)
        because = await trace(client, start, relations=[BECAUSE])
        updates = await trace(client, early, relations=[UPDATES])

    assert [one.id for one in whole.chain] == [early, late, far]
    assert [one.id for one in whole.consequences] == [far, early, late]
    assert [one.id for one in near.chain] == [early, late]
    assert because.chain[2].via_id == late
    assert [one.id for one in updates.chain] == [far]


@requirement("graph:traced")
async def test_a_trace_goes_five_links_deep_unless_told_and_refuses_more_than_twenty(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        ids = await stored(client, *range(25))
        for cause, effect in pairwise(ids):
            await link(client, cause, effect)
        usual = await trace(client, ids[-1])
        deepest = await trace(client, ids[-1], max_depth=20)
        code, reason, metadata = await refusal(trace(client, ids[-1], max_depth=21))

    assert [one.id for one in usual.chain] == ids[-2:-7:-1]
    assert len(deepest.chain) == 20
    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "FIELD_OUT_OF_RANGE")
    assert metadata["field"] == "max_depth"


@requirement("graph:bounded")
async def test_a_trace_ends_at_500_memories_and_says_so(running_store: RunningStore) -> None:
    async with running_store() as client:
        texts = [memory_service.StoreMemoryRequest(content=f"n{at}", wing="w") for at in range(500)]
        batch = memory_service.BatchStoreMemoriesRequest(memories=texts)
        causes = [one.id for one in (await client.memories.BatchStoreMemories(batch)).memories]
        links = [memory_pb2.CausalLink(memory_id=one, relation=BECAUSE) for one in causes]
        (effect,) = await stored(client, 40_000)
        (last,) = await stored(client, 41_000)
        for one in links:
            await link(client, one.memory_id, effect)
        full = await trace(client, effect, include_consequences=True)
        await link(client, effect, last)
        cut = await trace(client, effect, include_consequences=True)

    assert (len(full.chain), full.truncated) == (500, False)
    assert (len(cut.chain) + len(cut.consequences), cut.truncated) == (500, True)
