"""Causal links that the store finds in texts."""

from itertools import count

import pytest
from contract.store.backends import RunningStore
from contract.store.test_importing import import_all
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store.fakes import Client

from requirements import requirement
from satchel.api.store.v1 import graph_service_pb2 as graph_pb
from satchel.api.store.v1 import lifecycle_service_pb2 as lifecycle_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2

DAY = 24 * 3600
OUTAGE = "The payment service was down: Redis lost its data."
LUNCH = "Lunch was served on the terrace."
FOUND = (
    ("Following the Redis failure we added replicas.", memory_pb2.CAUSAL_RELATION_TRIGGERED, "following"),
    ("We added replicas because Redis lost data.", memory_pb2.CAUSAL_RELATION_BECAUSE, "because"),
    ("The log contradicts the report on Redis.", memory_pb2.CAUSAL_RELATION_CONTRADICTS, "contradicts"),
    ("Version 7 updates the Redis cluster.", memory_pb2.CAUSAL_RELATION_UPDATES, "updates"),
    ("The replica resolves the Redis failure.", memory_pb2.CAUSAL_RELATION_RESOLVES, "resolves"),
    ("Suite à la panne de Redis, nous ajoutons un serveur.", memory_pb2.CAUSAL_RELATION_TRIGGERED, "suite a"),
    ("Un serveur de plus parce que Redis perd tout.", memory_pb2.CAUSAL_RELATION_BECAUSE, "parce que"),
    ("Le journal contredit le rapport sur Redis.", memory_pb2.CAUSAL_RELATION_CONTRADICTS, "contredit"),
    ("La version 7 met à jour Redis.", memory_pb2.CAUSAL_RELATION_UPDATES, "met a jour"),
    ("Le serveur résout la panne de Redis.", memory_pb2.CAUSAL_RELATION_RESOLVES, "resout"),
)
Edges = list[tuple[str, str, int, str]]


async def edges(client: Client, memory_id: str) -> Edges:
    listed = await client.graph.ListCausalLinks(graph_pb.ListCausalLinksRequest(id=memory_id))
    assert all(link.detected == bool(link.phrase) for link in listed.links)
    return [(link.cause_id, link.effect_id, link.relation, link.phrase) for link in listed.links]


async def causes(client: Client, memory_id: str) -> list[str]:
    return [cause for cause, effect, *_ in await edges(client, memory_id) if effect == memory_id]


@requirement("graph:found")
@pytest.mark.parametrize(("text", "relation", "phrase"), FOUND)
async def test_a_memory_on_the_same_subject_is_linked_from_the_earlier_to_the_later_by_what_it_says(
    running_store: RunningStore, text: str, relation: int, phrase: str
) -> None:
    async with running_store() as client:
        earlier = await client.store(OUTAGE)
        later = await client.store(text)

        assert await edges(client, later.id) == [(earlier.id, later.id, relation, phrase)]
        assert await edges(client, earlier.id) == await edges(client, later.id)


@requirement("graph:only-related")
async def test_no_link_is_found_to_another_subject_wing_or_project_or_without_a_word_for_it(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        await client.store(LUNCH)
        await client.store(OUTAGE, wing="v")
        await client.store(OUTAGE, project="p")
        effect = await client.store("We added replicas because Redis lost data.")
        contrast = await client.store("However, Redis is fast.")
        denied = await client.store("It is slow, but not because of Redis.")

        assert [await edges(client, one.id) for one in (effect, contrast, denied)] == [[], [], []]


@requirement("graph:only-related")
async def test_no_link_is_found_to_a_memory_of_which_only_the_type_is_the_same(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        await client.store("ok", type="MEMORY_TYPE_FACT")
        effect = await client.store("It is so because it is.", type="MEMORY_TYPE_FACT")

        assert await edges(client, effect.id) == []


@requirement("graph:best")
async def test_the_memory_that_shares_most_names_is_the_cause_and_the_newest_of_equals(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        most = await client.store("Marie moved Redis and Kafka to Lyon.")
        await client.store("Redis is slow.")
        newest = await client.store("Redis is slower.")
        both = await client.store("We moved back because Redis and Kafka are slow in Lyon.")
        alone = await client.store("We tuned it because Redis is slow.", room="other")
        several = await client.store("After Kafka broke, it replaces the queue, because Kafka is old.")

        assert await causes(client, both.id) == [most.id]
        assert newest.id not in await causes(client, both.id)
        assert await causes(client, alone.id) == [both.id]
        assert await causes(client, several.id) == [both.id] * 3


@requirement("graph:lookback")
async def test_the_cause_is_looked_for_among_the_newest_and_no_older_than_set(
    running_store: RunningStore,
) -> None:
    now = count(1_700_000_000_000_000, 60_000_000)
    effect = "We added replicas because Redis lost data."
    async with running_store(clock=lambda: next(now), causal_lookback=2, causal_max_days=1.0) as client:
        seconds = 1_700_000_000
        cause = await client.store("Redis failed long ago.", occurred_at=Timestamp(seconds=seconds - DAY))
        too_late = await client.store(effect, occurred_at=Timestamp(seconds=seconds + 1))
        just = await client.store(effect, occurred_at=Timestamp(seconds=seconds))
        await client.store(OUTAGE)
        for text in ("Bread.", "Butter."):
            await client.store(text)
        beyond = await client.store("We added replicas because of Redis.")
        await client.store("Milk.")
        within = await client.store("We added more because of Redis.")

        assert await causes(client, just.id) == [cause.id]
        assert await causes(client, too_late.id) == []
        assert await causes(client, beyond.id) == []
        assert await causes(client, within.id) == [beyond.id]


@requirement("graph:lookback")
async def test_without_lookback_no_link_is_found(running_store: RunningStore) -> None:
    for name, settings in (("a", {"causal_lookback": 0}), ("b", {"causal_max_days": 0.0})):
        async with running_store(name=name, **settings) as client:
            await client.store(OUTAGE)
            effect = await client.store(FOUND[0][0])

            assert await edges(client, effect.id) == []


@requirement("graph:found")
async def test_what_happened_earlier_is_the_cause_whichever_was_stored_first(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        late = await client.store(OUTAGE, occurred_at=Timestamp(seconds=3 * DAY))
        effect = await client.store(FOUND[0][0], occurred_at=Timestamp(seconds=2 * DAY))
        early = await client.store(OUTAGE, occurred_at=Timestamp(seconds=DAY), room="other")
        second = await client.store(FOUND[1][0], occurred_at=Timestamp(seconds=2 * DAY - 1))

        assert await edges(client, late.id) == await edges(client, effect.id) == []
        assert await causes(client, second.id) == [early.id]


@requirement("graph:found")
async def test_memories_of_one_batch_are_linked_to_earlier_ones_of_it(running_store: RunningStore) -> None:
    batch = [pb.StoreMemoryRequest(content=text, wing="w") for text in (OUTAGE, FOUND[0][0])]
    async with running_store() as client:
        stored = await client.memories.BatchStoreMemories(pb.BatchStoreMemoriesRequest(memories=batch))
        first, second = stored.memories

        assert await causes(client, second.id) == [first.id]


@requirement("graph:survives")
async def test_a_new_text_has_its_links_found_anew_and_keeps_those_that_were_given(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        redis, kafka, given = [await client.store(text) for text in (OUTAGE, "Kafka lost messages.", LUNCH)]
        effect = await client.store(FOUND[1][0])
        await link(client, given.id, effect.id, memory_pb2.CAUSAL_RELATION_TRIGGERED)
        await client.memories.UpdateMemory(pb.UpdateMemoryRequest(id=effect.id, title="New"))
        same_text = await causes(client, effect.id)
        content = "We added replicas because Kafka lost messages."
        await client.memories.UpdateMemory(pb.UpdateMemoryRequest(id=effect.id, content=content))

        assert same_text == sorted([redis.id, given.id])
        assert await causes(client, effect.id) == sorted([kafka.id, given.id])


@requirement("graph:survives")
async def test_a_found_link_goes_when_the_cause_is_moved_to_another_wing_or_behind_its_effect(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        for fields in ({"wing": "v"}, {"occurred_at": Timestamp(seconds=2**33)}):
            cause = await client.store(OUTAGE)
            effect = await client.store(FOUND[0][0])
            before = await causes(client, effect.id)
            await client.memories.UpdateMemory(pb.UpdateMemoryRequest(id=cause.id, **fields))

            assert before == [cause.id]
            assert await edges(client, effect.id) == []
            await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=effect.id))


@requirement("graph:survives")
async def test_export_and_import_keep_links_and_the_words_by_which_they_were_found(
    running_store: RunningStore,
) -> None:
    async with running_store(name="a") as client:
        cause, effect = await client.store(OUTAGE), await client.store(FOUND[0][0])
        await link(client, cause.id, effect.id, memory_pb2.CAUSAL_RELATION_BECAUSE)
        before = await edges(client, effect.id)
        exported = [
            one
            async for part in client.memories.ExportMemories(pb.ExportMemoriesRequest())
            for one in part.memories
        ]
    for name, records in (("b", exported), ("c", exported[::-1])):
        async with running_store(name=name) as client:
            await import_all(client, records)

            assert len(before) == 2
            assert await edges(client, effect.id) == before


@requirement("graph:survives")
async def test_an_archived_cause_stays_linked_and_a_deleted_one_does_not(running_store: RunningStore) -> None:
    async with running_store() as client:
        cause, effect = await client.store(OUTAGE), await client.store(FOUND[0][0])
        await client.lifecycle.ArchiveMemories(lifecycle_pb.ArchiveMemoriesRequest(ids=[cause.id]))
        archived = await causes(client, effect.id)
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=cause.id))
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

        assert archived == [cause.id]
        assert await edges(client, effect.id) == []
        assert (status.stats.causal_node_count, status.stats.causal_edge_count) == (0, 0)


async def link(
    client: Client, cause: str, effect: str, relation: memory_pb2.CausalRelation.ValueType
) -> None:
    await client.graph.LinkMemories(
        graph_pb.LinkMemoriesRequest(cause_id=cause, effect_id=effect, relation=relation)
    )
