"""What `SearchService` promises."""

import struct

import grpc
import pytest
from contract.store.backends import Category, RunningStore, belongs_to
from contract.store.test_importing import import_all
from contract.store.test_storing import refusal
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store.fakes import Client, vector

from requirements import requirement
from satchel.api.store.v1 import search_service_pb2 as pb
from satchel.api.store.v1.memory_service_pb2 import DeleteMemoryRequest, UpdateMemoryRequest
from satchel.api.types.v1 import memory_pb2, scope_pb2


async def search(client: Client, query: str, **fields: object) -> pb.SearchTextResponse:
    return await client.search.SearchText(pb.SearchTextRequest(query=query, **fields))  # type: ignore[arg-type]


@requirement("search:words")
async def test_words_are_found_in_every_field_and_by_their_stem(running_store: RunningStore) -> None:
    component = memory_pb2.Component(
        semantic=memory_pb2.SemanticComponent(name="Quokka", details="a marsupial")
    )
    async with running_store() as client:
        stored = await client.store(
            "The dogs were running.",
            title="Kennel",
            summary="Exercise",
            tags=["outdoors"],
            component=component,
        )
        await client.store("nothing of it")
        queries = ("run", "dog", "kennels", "exercises", "OUTDOOR", "quokka", "marsupials")
        found = [[hit.memory_id for hit in (await search(client, query)).hits] for query in queries]

    assert found == [[stored.id]] * len(queries)


@requirement("search:all-words")
async def test_memories_with_all_words_are_marked_and_others_follow(running_store: RunningStore) -> None:
    async with running_store() as client:
        both = await client.store("blue whales sing")
        one = await client.store("blue skies")
        for number in range(8):
            await client.store(f"filler {number}")
        found = await search(client, "blue whale")

    assert [(hit.memory_id, hit.all_words) for hit in found.hits] == [(both.id, True), (one.id, False)]
    assert found.hits[0].score > found.hits[1].score > 0
    assert found.revision == 10


@requirement("search:exact-words")
async def test_an_exact_word_ranks_before_another_word_of_the_same_stem(running_store: RunningStore) -> None:
    async with running_store() as client:
        for number in range(20):
            await client.store(f"filler {number}")
        await client.store("we organize things here")
        exact = await client.store("an organization of things")
        found = await search(client, "organization")

    assert found.hits[0].memory_id == exact.id


@requirement("search:any-script")
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("failed with ERR_4711-x today", "ERR_4711-x"),
        ("failed with ERR_4711-x today", "what is err_4711-x?"),
        ("call getUserName first", "getUserName"),
        ("call getUserName first", "user name"),
        ("write to jean.dupont@example.com", "jean.dupont@example.com"),
        ("see https://example.com/a?b=c", "https://example.com/a?b=c"),
        ("we use C++ and C# here", "C++"),
        ("Les règles de la société", "regle societe"),
        ("東京で会議をした", "会議"),
        ("東京で会議をした", "会"),
        ("서울에서 회의", "회의"),
        ("it's a don't-care", "don't"),
    ],
)
async def test_identifiers_accents_and_scripts_are_found(
    running_store: RunningStore, text: str, query: str
) -> None:
    async with running_store() as client:
        stored = await client.store(text)
        await client.store("something else entirely")
        found = await search(client, query)

    assert [hit.memory_id for hit in found.hits] == [stored.id]


@requirement("search:no-syntax")
@pytest.mark.parametrize(
    "query",
    [
        '"',
        "AND",
        "a OR b",
        "NEAR(a b)",
        "col:x",
        "(x",
        "x*",
        "-x",
        "^x",
        "'; DROP TABLE memories; --",
        "…",
        "%_",
        "\\",
    ],
)
async def test_no_text_is_syntax(running_store: RunningStore, query: str) -> None:
    async with running_store() as client:
        stored = await client.store("whales")
        await search(client, query)
        found = await search(client, "whales")

    assert [hit.memory_id for hit in found.hits] == [stored.id]


FILTERS = [
    ({"wings": ["v"]}, {"b"}),
    ({"wings": ["w", "v"]}, {"a", "b"}),
    ({"rooms": ["own"]}, {"b"}),
    ({"types": [memory_pb2.MEMORY_TYPE_FACT]}, {"a"}),
    ({"session_ids": ["s"]}, {"a"}),
    ({"tags": ["Red", "BIG  car"]}, {"a"}),
    ({"since": Timestamp(seconds=200)}, {"b"}),
    ({"until": Timestamp(seconds=200)}, {"a"}),
    ({"project": "p"}, {"c"}),
    ({"states": [memory_pb2.MEMORY_STATE_ARCHIVED]}, set()),
]


@requirement("search:scope", "store:projects")
@pytest.mark.parametrize(("fields", "expected"), FILTERS)
async def test_a_search_sees_only_its_scope(
    running_store: RunningStore, fields: dict[str, object], expected: set[str]
) -> None:
    scope = scope_pb2.MemoryFilter(**fields)  # type: ignore[arg-type]
    async with running_store() as client:
        ids = {
            "a": await client.store("shared a", type=memory_pb2.MEMORY_TYPE_FACT, session_id="s",
                                    tags=["red", "big car", "shared"], occurred_at=Timestamp(seconds=100)),
            "b": await client.store("shared b", wing="v", room="own", tags=["red", "shared"],
                                    occurred_at=Timestamp(seconds=200)),
            "c": await client.store("shared c", project="p", tags=["shared"]),
        }  # fmt: skip
        names = {stored.id: name for name, stored in ids.items()}
        found = await search(client, "shared", filter=scope)
        near = await client.search.SearchStoredVectors(
            pb.SearchStoredVectorsRequest(vector=vector("shared"), filter=scope)
        )

    assert {names[hit.memory_id] for hit in found.hits} == expected
    assert {names[hit.memory_id] for hit in found.tag_hits} == expected
    assert {names[hit.memory_id] for hit in near.hits} == expected


@requirement("search:tags")
async def test_tag_hits_count_the_words_that_are_tags(running_store: RunningStore) -> None:
    async with running_store() as client:
        two = await client.store("x", tags=["alpha", "Béta"])
        one = await client.store("y", tags=["alpha"])
        found = await search(client, "alpha beta gamma")

    assert [(hit.memory_id, hit.matches) for hit in found.tag_hits] == [(two.id, 2), (one.id, 1)]


@requirement("search:order")
async def test_at_most_top_k_hits_come_back_in_a_fixed_order(running_store: RunningStore) -> None:
    async with running_store() as client:
        ids = [f"01890a5d-ac96-774b-bcce-b302099a80{number:02x}" for number in range(6)]
        await import_all(
            client, [memory_pb2.Memory(id=one, content="same words", wing="w") for one in ids[::-1]]
        )
        first = await search(client, "same words", top_k=6)
        few = await search(client, "same words", top_k=2)

    assert [hit.memory_id for hit in first.hits] == ids
    assert len(few.hits) == len(few.tag_hits) == 2


@requirement("search:all-words")
async def test_a_large_store_is_searched_by_the_rarest_words(running_store: RunningStore) -> None:
    async with running_store(search_entries=3) as client:
        for number in range(10):
            await client.store(f"common {number}")
        rare = await client.store("rare thing")
        found = await search(client, "common rare missing")

    assert [hit.memory_id for hit in found.hits] == [rare.id]


@requirement("search:scope")
async def test_better_memories_outside_the_scope_do_not_displace_those_in_it(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        for number in range(20):
            await client.store(f"whales {number}", title="whales whales", tags=["whales"], project="other")
        ids = [(await client.store(f"far too many words about whales {number}")).id for number in range(20)]
        found = await search(client, "whales", top_k=5)

    assert [hit.memory_id for hit in found.hits] == ids[:5]
    assert [hit.memory_id for hit in found.tag_hits] == ids[:5]


@requirement("search:vectors")
async def test_vectors_are_compared_by_their_best_passage(running_store: RunningStore) -> None:
    async with running_store() as client:
        long = await client.store("one\n\ntwo\n\nthree")
        await client.store("four")
        request = pb.SearchStoredVectorsRequest(vector=vector("three"), model_sha256="a" * 64, top_k=1)
        found = await client.search.SearchStoredVectors(request)

    assert [(hit.memory_id, hit.passage) for hit in found.hits] == [(long.id, 2)]
    assert found.hits[0].score == pytest.approx(1.0, abs=1e-6)
    assert (found.model.sha256, found.revision) == ("a" * 64, 2)


BAD_VECTORS = [
    (b"", "", "FIELD_REQUIRED"),
    (b"abc", "", "VECTOR_MALFORMED"),
    (struct.pack("<8f", *[0.0] * 8), "", "VECTOR_MALFORMED"),
    (struct.pack("<8f", *[1.0] * 7, float("nan")), "", "VECTOR_MALFORMED"),
    (struct.pack("<8f", *[1.0] * 7, float("inf")), "", "VECTOR_MALFORMED"),
    (struct.pack("<4f", *[1.0] * 4), "", "DIMENSION_MISMATCH"),
    (vector("x"), "b" * 64, "MODEL_MISMATCH"),
]


@requirement("search:vector-checked")
@pytest.mark.parametrize(("packed", "model", "reason"), BAD_VECTORS)
async def test_a_bad_vector_is_refused(
    running_store: RunningStore, packed: bytes, model: str, reason: str
) -> None:
    async with running_store() as client:
        await client.store("x")
        request = pb.SearchStoredVectorsRequest(vector=packed, model_sha256=model)
        code, found, _ = await refusal(client.search.SearchStoredVectors(request))

    expected = (
        grpc.StatusCode.FAILED_PRECONDITION
        if reason == "MODEL_MISMATCH"
        else grpc.StatusCode.INVALID_ARGUMENT
    )
    assert (code, found) == (expected, reason)


@requirement("search:order")
async def test_an_empty_store_finds_nothing(running_store: RunningStore) -> None:
    async with running_store() as client:
        words = await search(client, "anything")
        near = await client.search.SearchStoredVectors(pb.SearchStoredVectorsRequest(vector=vector("x")))

    assert (list(words.hits), list(words.tag_hits), list(near.hits)) == ([], [], [])
    assert not near.HasField("model")


@requirement("search:stable-scores")
@belongs_to(Category.LASTING)
async def test_a_restart_changes_no_score(running_store: RunningStore) -> None:
    async def scores(client: Client) -> list[tuple[str, float]]:
        found = await search(client, "common rare topic 7 late", top_k=60)
        return [(hit.memory_id, hit.score) for hit in found.hits]

    before, after = [], []
    for step in range(4):
        async with running_store(search_entries=30) as client:
            after.append(await scores(client))
            for number in range(7):
                kind = "rare" if number % 3 == step % 3 else "common"
                stored = await client.store(f"{kind} topic {number} of step {step}")
                await scores(client)
            if step == 2:
                await client.memories.DeleteMemory(DeleteMemoryRequest(id=stored.id))
                late = await client.store("late rare topic")
                await scores(client)
                await client.memories.UpdateMemory(UpdateMemoryRequest(id=late.id, content="late common"))
            before.append(await scores(client))

    assert before[:-1] == after[1:]
    assert len(before[-1]) > 20
