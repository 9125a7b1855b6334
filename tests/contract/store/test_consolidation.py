"""Similar memories become one, and can be brought back."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import grpc
from contract.store.backends import RunningStore
from contract.store.test_storing import refusal
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store.fakes import Client

from requirements import requirement
from satchel.api.store.v1 import consolidation_service_pb2 as pb
from satchel.api.store.v1 import graph_service_pb2 as graph_pb
from satchel.api.store.v1 import lifecycle_service_pb2 as lifecycle_pb
from satchel.api.store.v1 import memory_service_pb2 as memory_service
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.types.v1 import memory_pb2
from satchel.store.model import Passages

NOTE: Mapping[str, Any] = {"type": memory_pb2.MEMORY_TYPE_SESSION_NOTE}
ALIKE = (
    "Talked with Marie about the login page and the slow tests of the billing service on Monday.",
    "Talked with Marie about the login page and the slow tests of the billing service on Wednesday.",
    "Talked with Marie about the login page and the slow tests of the billing service on Friday.",
)
OTHER = "Cooked soup."
ARCHIVED, ACTIVE = memory_pb2.MEMORY_STATE_ARCHIVED, memory_pb2.MEMORY_STATE_ACTIVE
UPDATES, BECAUSE = memory_pb2.CAUSAL_RELATION_UPDATES, memory_pb2.CAUSAL_RELATION_BECAUSE


async def notes(client: Client, *texts: str, **fields: Any) -> list[str]:  # noqa: ANN401  # fields of a request
    return [(await client.store(text, **{**NOTE, **fields})).id for text in texts]


async def consolidate(client: Client, **fields: Any) -> pb.ConsolidateMemoriesResponse:  # noqa: ANN401
    return await client.consolidation.ConsolidateMemories(
        pb.ConsolidateMemoriesRequest(**{"wing": "w", **fields})
    )


async def get(client: Client, memory_id: str) -> memory_pb2.Memory:
    return (await client.memories.GetMemory(memory_service.GetMemoryRequest(id=memory_id))).memory


async def active(client: Client) -> set[str]:
    listed = await client.memories.ListMemories(memory_service.ListMemoriesRequest(page_size=1000))
    return {memory.id for memory in listed.memories}


def counts(done: pb.ConsolidateMemoriesResponse) -> tuple[int, int]:
    return done.consolidated_count, done.removed_count


@requirement("merge:similar", "merge:keeps-everything")
async def test_similar_notes_become_one_fact_that_says_all_of_it_and_the_others_stay(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        alike = await notes(client, *ALIKE, tags=["team"])
        other, elsewhere = (await notes(client, OTHER)) + (await notes(client, *ALIKE[:1], wing="v"))
        done = await consolidate(client)
        (cluster,) = done.clusters
        made = await get(client, cluster.id)
        sources = [await get(client, one) for one in alike]
        again = await consolidate(client)

        assert counts(done) == (1, 3)
        assert counts(again) == (0, 0)
        assert (again.batch_id, again.revision) == ("", 0)
        assert await active(client) == {other, elsewhere, made.id}
    assert list(cluster.source_ids) == alike
    assert cluster.similarity >= 0.92
    assert made.content == cluster.content == "\n".join(ALIKE)
    assert (made.type, made.room, made.wing) == (memory_pb2.MEMORY_TYPE_FACT, "consolidated", "w")
    assert made.occurred_at == sources[-1].created_at
    assert list(made.given_tags) == ["team"]
    assert made.embedding == memory_pb2.EMBEDDING_STATE_EMBEDDED
    assert [(one.state, one.archive_batch_id) for one in sources] == [(ARCHIVED, done.batch_id)] * 3


@requirement("merge:similar")
async def test_what_became_of_notes_is_found_and_the_notes_are_not(running_store: RunningStore) -> None:
    async with running_store() as client:
        alike = await notes(client, *ALIKE)
        done = await consolidate(client)
        found = await client.search.SearchText(search_pb.SearchTextRequest(query="slow tests of Friday"))

    assert [hit.memory_id for hit in found.hits] == [done.clusters[0].id]
    assert done.revision == done_revision(alike)


def done_revision(sources: list[str]) -> int:
    """Return the revision after each source was stored, one memory was made and each source archived."""
    return len(sources) + 1 + len(sources)


@requirement("merge:tried-first")
async def test_a_dry_run_says_what_would_be_done_and_changes_nothing(running_store: RunningStore) -> None:
    async with running_store() as client:
        alike = await notes(client, *ALIKE)
        before = await client.memories.GetStoreStatus(memory_service.GetStoreStatusRequest())
        tried = await consolidate(client, dry_run=True)
        after = await client.memories.GetStoreStatus(memory_service.GetStoreStatusRequest())
        done = await consolidate(client)

        assert await active(client) == {done.clusters[0].id}
    assert before.head_revision == after.head_revision
    assert counts(tried) == counts(done) == (1, 3)
    assert (tried.batch_id, tried.clusters[0].id) == ("", "")
    assert list(tried.clusters[0].source_ids) == list(done.clusters[0].source_ids) == alike
    assert tried.clusters[0].content == done.clusters[0].content


@requirement("merge:undone")
async def test_bringing_the_batch_back_undoes_it(running_store: RunningStore) -> None:
    async with running_store() as client:
        alike = await notes(client, *ALIKE)
        before = [(await get(client, one)).content for one in alike]
        done = await consolidate(client)
        request = lifecycle_pb.UnarchiveMemoriesRequest(batch_id=done.batch_id)
        await client.lifecycle.UnarchiveMemories(request)
        first = await active(client)
        await client.lifecycle.UnarchiveMemories(request)
        second = await active(client)
        made = await get(client, done.clusters[0].id)
        again = await consolidate(client)

        assert [(await get(client, one)).content for one in alike] == before
    assert first == second == set(alike)
    assert made.state == ARCHIVED
    assert counts(again) == (1, 3)
    assert again.clusters[0].id != made.id


@requirement("merge:keeps-everything", "graph:survives")
async def test_links_of_the_sources_are_those_of_what_they_became_and_lead_to_it(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        alike = await notes(client, *ALIKE)
        cause, effect = await notes(client, OTHER, "Washed up.")
        for pair in ((cause, alike[0]), (cause, alike[1]), (alike[2], effect), (alike[0], alike[1])):
            request = graph_pb.LinkMemoriesRequest(cause_id=pair[0], effect_id=pair[1], relation=BECAUSE)
            await client.graph.LinkMemories(request)
        made = (await consolidate(client)).clusters[0].id
        listed = await client.graph.ListCausalLinks(graph_pb.ListCausalLinksRequest(id=made))
        links = {(one.cause_id, one.effect_id, one.relation) for one in listed.links}
        traced = await client.graph.TraceCausalChain(graph_pb.TraceCausalChainRequest(id=effect, max_depth=1))

    assert links == {
        (cause, made, BECAUSE),
        (made, effect, BECAUSE),
        *((one, made, UPDATES) for one in alike),
    }
    assert {one.id for one in traced.chain} == {made, alike[2]}


@requirement("merge:keeps-everything")
async def test_no_link_is_looked_for_in_the_text_of_what_notes_became(running_store: RunningStore) -> None:
    async with running_store() as client:
        await client.store("Redis lost its data on Sunday in the cluster of the shop.")
        alike = await notes(
            client,
            "We met and talked of the broken Redis cluster of the shop because Redis lost data on Monday.",
            "We met and talked of the broken Redis cluster of the shop because Redis lost data on Friday.",
        )
        before = [
            await client.graph.ListCausalLinks(graph_pb.ListCausalLinksRequest(id=one)) for one in alike
        ]
        made = (await consolidate(client)).clusters[0].id
        listed = await client.graph.ListCausalLinks(graph_pb.ListCausalLinksRequest(id=made))

    outside = {one.cause_id for part in before for one in part.links} - set(alike)
    assert {one.cause_id for one in listed.links} == outside | set(alike)
    assert [one.phrase for one in listed.links if one.cause_id in outside] == ["because"]


@requirement("merge:similar")
async def test_threshold_room_and_type_choose_what_is_compared(running_store: RunningStore) -> None:
    async with running_store() as client:
        here, there = await notes(client, *ALIKE[:2], room="r"), await notes(client, *ALIKE[:2], room="s")
        facts = await notes(client, *ALIKE[:2], type=memory_pb2.MEMORY_TYPE_FACT)
        strict = await consolidate(client, similarity_threshold=1.0, room="r", dry_run=True)
        room = await consolidate(client, room="r")
        typed = await consolidate(client, type=memory_pb2.MEMORY_TYPE_FACT, room="facts")
        codes = [await refusal(consolidate(client, similarity_threshold=one)) for one in (-0.1, 1.1)]
        missing = await refusal(consolidate(client, wing=""))

    assert counts(strict) == (0, 0)
    assert list(room.clusters[0].source_ids) == here
    assert list(typed.clusters[0].source_ids) == facts
    assert there
    assert [(code, reason) for code, reason, _ in codes] == [
        (grpc.StatusCode.INVALID_ARGUMENT, "FIELD_OUT_OF_RANGE")
    ] * 2
    assert missing[:2] == (grpc.StatusCode.INVALID_ARGUMENT, "FIELD_REQUIRED")


@requirement("merge:similar")
async def test_secrets_typed_and_filed_memories_and_those_without_vectors_are_left_alone(
    running_store: RunningStore,
) -> None:
    vault = memory_pb2.Component(vault=memory_pb2.VaultComponent(caption=ALIKE[0]))
    episodic = memory_pb2.Component(episodic=memory_pb2.EpisodicComponent(actor="me"))
    async with running_store(retry_first_s=60.0, retry_longest_s=60.0) as client:
        await notes(client, ALIKE[0], component=vault)
        await notes(client, ALIKE[1], component=vault)
        await notes(client, ALIKE[0], component=episodic)
        await notes(client, ALIKE[1], path="a")
        client.embedder.is_down = True
        await notes(client, *ALIKE)
        client.embedder.is_down = False

        assert counts(await consolidate(client, dry_run=True)) == (0, 0)


@requirement("merge:atomic")
async def test_a_note_that_is_changed_meanwhile_is_looked_at_again(running_store: RunningStore) -> None:
    async with running_store() as client:
        alike = await notes(client, *ALIKE)
        embed = client.embedder.embed
        is_first = True

        async def changing(texts: Sequence[str], *, timeout_s: float) -> tuple[Passages, ...]:
            nonlocal is_first
            if is_first:
                is_first = False
                request = memory_service.UpdateMemoryRequest(id=alike[0], content=OTHER)
                await client.memories.UpdateMemory(request)
            return await embed(texts, timeout_s=timeout_s)

        client.embedder.embed = changing  # type: ignore[method-assign]  # an embedder that takes its time
        done = await consolidate(client)

        assert counts(done) == (1, 2)
        assert list(done.clusters[0].source_ids) == alike[1:]
        assert await active(client) == {alike[0], done.clusters[0].id}


@requirement("merge:atomic")
async def test_a_note_that_is_changed_all_the_time_leaves_everything_as_it_is(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        alike = await notes(client, *ALIKE)
        embed = client.embedder.embed

        async def changing(texts: Sequence[str], *, timeout_s: float) -> tuple[Passages, ...]:
            tag = f"n{len(client.embedder.texts)}"
            await client.memories.UpdateMemory(memory_service.UpdateMemoryRequest(id=alike[0], tags=[tag]))
            return await embed(texts, timeout_s=timeout_s)

        client.embedder.embed = changing  # type: ignore[method-assign]  # an embedder that takes its time
        code, reason, metadata = await refusal(consolidate(client))

        assert (code, reason) == (grpc.StatusCode.ABORTED, "VERSION_MISMATCH")
        assert metadata["memory_id"] == alike[0]
        assert await active(client) == set(alike)


@requirement("merge:atomic")
async def test_two_runs_at_once_merge_each_note_once(running_store: RunningStore) -> None:
    async with running_store() as client:
        alike = await notes(client, *ALIKE)
        one, other = await asyncio.gather(consolidate(client), consolidate(client))

        assert sorted([counts(one), counts(other)]) == [(0, 0), (1, 3)]
        assert len(await active(client)) == 1
    assert alike


@requirement("merge:similar")
async def test_what_an_answer_does_not_hold_is_left_for_the_next_call(running_store: RunningStore) -> None:
    words = ("alpha", "bravo", "delta")
    async with running_store(message_bytes=500) as client:
        for word in words:
            await notes(client, f"{word} {word} {word} one.", f"{word} {word} {word} two.")
        first = await consolidate(client, similarity_threshold=0.8)
        rest = first
        calls = 1
        while rest.has_more:
            rest = await consolidate(client, similarity_threshold=0.8)
            calls += 1

        assert first.has_more
        assert calls > 1
        assert counts(await consolidate(client, similarity_threshold=0.8)) == (0, 0)


@requirement("merge:keeps-everything")
async def test_the_time_is_that_of_the_newest_source(running_store: RunningStore) -> None:
    async with running_store() as client:
        for at, text in enumerate(ALIKE):
            await notes(client, text, occurred_at=Timestamp(seconds=100 - at))
        done = await consolidate(client)
        made = await get(client, done.clusters[0].id)

    assert made.occurred_at == Timestamp(seconds=100)
    assert made.content == "\n".join(reversed(ALIKE))
