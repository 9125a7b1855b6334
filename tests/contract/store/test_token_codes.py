"""The codes of tokens that a recall asks for, on every backend."""

import pytest
from contract.store.backends import RunningStore
from contract.store.test_importing import export, import_all
from contract.store.test_pending import until_embedded
from contract.store.test_reembedding import reembed
from unit.store.fakes import OTHER_MODEL, Client, FakeEmbedder, codes_of

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.store.v1 import search_service_pb2 as pb
from satchel.store.model import Passages

FAT = 100_000  # bytes of codes that a text has with `FatCodes`


class FatCodes(FakeEmbedder):
    """Gives every passage so many codes that an answer holds few memories."""

    def _passages(self, text: str) -> Passages:
        found = super()._passages(text)
        return Passages(
            found.model, 1, found.spans, found.vectors, FAT.to_bytes(4, "little"), bytes([len(text)]) * FAT
        )


async def fetch(client: Client, *ids: str, neighbor_count: int = 0) -> pb.FetchCandidatesResponse:
    return await client.search.FetchCandidates(
        pb.FetchCandidatesRequest(ids=ids, neighbor_count=neighbor_count, with_token_codes=True)
    )


async def codes_in(client: Client, memory_id: str) -> bytes:
    found = (await fetch(client, memory_id)).token_codes
    assert sum(found.counts) * found.bytes_per_token == len(found.codes)
    return found.codes


@requirement("codes:stored")
async def test_codes_follow_the_memories_passage_by_passage(running_store: RunningStore) -> None:
    async with running_store() as client:
        long = await client.store("one two\n\nthree four five")
        short = await client.store("six", session_id="s")
        beside = await client.store("seven eight", session_id="s")
        found = await fetch(client, short.id, long.id, neighbor_count=1)

    assert list(found.ids) == [short.id, long.id, beside.id]
    assert list(found.token_codes.counts) == [1, 2, 3, 2]
    assert found.token_codes.codes == codes_of("six one two three four five seven eight")
    assert found.token_codes.bytes_per_token == 1


@requirement("codes:optional")
async def test_codes_come_only_when_they_are_asked_for(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("one")
        without = await client.search.FetchCandidates(pb.FetchCandidatesRequest(ids=[stored.id]))
        found = await fetch(client, stored.id)

    assert not without.HasField("token_codes")
    found.ClearField("token_codes")
    assert found == without


@requirement("codes:optional")
async def test_memories_without_codes_stand_beside_those_that_have_some(running_store: RunningStore) -> None:
    async with running_store() as client:
        client.embedder.has_codes = False
        old = await client.store("one\n\ntwo")
        client.embedder.has_codes = True
        new = await client.store("three")
        client.embedder.is_down = True
        pending = await client.store("four")
        together = await fetch(client, old.id, pending.id, new.id)
        alone = await fetch(client, old.id)

    assert list(together.passage_counts) == [2, 0, 1]
    assert list(together.token_codes.counts) == [0, 0, 1]
    assert together.token_codes.codes == codes_of("three")
    assert (list(alone.token_codes.counts), alone.token_codes.bytes_per_token) == ([0, 0], 0)


@requirement("codes:stored")
async def test_an_update_renews_the_codes_of_a_text_that_changed_and_of_no_other(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        stored = await client.store("one")
        await client.memories.UpdateMemory(memory_pb.UpdateMemoryRequest(id=stored.id, tags=["t"]))
        same = await codes_in(client, stored.id)
        await client.memories.UpdateMemory(memory_pb.UpdateMemoryRequest(id=stored.id, content="two three"))
        changed = await codes_in(client, stored.id)
        client.embedder.has_codes = False
        await client.memories.UpdateMemory(memory_pb.UpdateMemoryRequest(id=stored.id, content="four"))
        without = await codes_in(client, stored.id)

    assert (same, changed, without) == (codes_of("one"), codes_of("two three"), b"")


@requirement("codes:stored")
async def test_a_memory_that_waited_for_its_vectors_gets_its_codes_with_them(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        client.embedder.is_down = True
        stored = await client.store("one two")
        client.embedder.is_down = False
        await until_embedded(client, stored.id, stored.revision)
        found = await codes_in(client, stored.id)

    assert found == codes_of("one two")


@requirement("codes:stored")
async def test_batches_and_imports_give_codes_too(running_store: RunningStore) -> None:
    async with running_store(name="first") as first:
        batch = [memory_pb.StoreMemoryRequest(content=text, wing="w") for text in ("one", "two three")]
        stored = await first.memories.BatchStoreMemories(memory_pb.BatchStoreMemoriesRequest(memories=batch))
        ids = [one.id for one in stored.memories]
        batched = await fetch(first, *ids)
        exported = await export(first)
    async with running_store(name="second") as second:
        await import_all(second, exported)
        imported = await fetch(second, *ids)

    assert batched.token_codes.codes == codes_of("one two three")
    assert imported.token_codes == batched.token_codes


@requirement("codes:stored")
@pytest.mark.parametrize("has_codes", [True, False])
async def test_a_reembedding_puts_the_new_codes_or_none_in_place_of_the_old(
    running_store: RunningStore, *, has_codes: bool
) -> None:
    async with running_store() as client:
        stored = await client.store("one two")
        client.embedder.model = OTHER_MODEL
        client.embedder.has_codes = has_codes
        await reembed(client)
        found = await fetch(client, stored.id)

    assert list(found.passage_counts) == [1]
    assert found.token_codes.codes == (codes_of("one two") if has_codes else b"")


@requirement("codes:stored", "candidates:rest")
async def test_codes_count_for_what_fits_into_an_answer(running_store: RunningStore) -> None:
    async with running_store(embedder=FatCodes(), message_bytes=30_000) as client:
        ids = [(await client.store("x" * (number + 1))).id for number in range(6)]
        whole = await client.search.FetchCandidates(pb.FetchCandidatesRequest(ids=ids))
        codes, asked, answers = b"", ids, 0
        while asked:
            found = await fetch(client, *asked)
            codes += found.token_codes.codes
            asked, answers = list(found.remaining_ids), answers + 1

    assert not whole.remaining_ids
    assert answers > 1
    assert codes == b"".join(bytes([number + 1]) * FAT for number in range(6))


@requirement("codes:stored")
async def test_a_memory_that_is_gone_leaves_no_codes(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("one", path="p")
        await client.memories.DeleteMemory(memory_pb.DeleteMemoryRequest(id=stored.id))
        found = await fetch(client, stored.id)
        client.embedder.has_codes = False
        again = await client.store("one", path="p")
        renewed = await codes_in(client, again.id)

    assert (list(found.ids), renewed) == ([], b"")
