"""What `ImportMemories` and `ExportMemories` promise."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence

import grpc
import pytest
from contract.store.backends import RunningStore
from contract.store.test_storing import get, refusal
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unit.store.fakes import Client

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2
from satchel.runtime.status import from_rpc_status

CAUSE = "01890a5d-ac96-774b-bcce-b302099a8057"
EFFECT = "01890a5d-ac96-774b-bcce-b302099a8058"


async def export(client: Client, **fields: object) -> list[memory_pb2.Memory]:
    request = pb.ExportMemoriesRequest(**fields)  # type: ignore[arg-type]
    return [one async for response in client.memories.ExportMemories(request) for one in response.memories]


async def import_all(
    client: Client, records: Iterable[memory_pb2.Memory | pb.StoreMemoryRequest]
) -> list[pb.ImportMemoriesResponse]:
    async def requests() -> AsyncIterator[pb.ImportMemoriesRequest]:
        for number, record in enumerate(records):
            field = "memory" if isinstance(record, memory_pb2.Memory) else "new_memory"
            yield pb.ImportMemoriesRequest(sequence=number, **{field: record})  # type: ignore[arg-type]

    return [response async for response in client.memories.ImportMemories(requests())]


def unstored(memory: memory_pb2.Memory) -> memory_pb2.Memory:
    """Return a memory without what the receiving store gives: the revision."""
    copy = memory_pb2.Memory()
    copy.CopyFrom(memory)
    copy.ClearField("revision")
    return copy


texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=60
).filter(lambda text: bool(text.strip()))
json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def requests(draw: st.DrawFn) -> pb.StoreMemoryRequest:
    metadata = Struct()
    metadata.update(draw(st.dictionaries(texts, json_values, max_size=3)))
    occurred = draw(st.none() | st.integers(-62_135_596_800, 253_402_300_799))
    return pb.StoreMemoryRequest(
        content=draw(texts),
        wing=draw(st.sampled_from(["w", "v"])),
        room=draw(st.sampled_from(["", "own"])),
        type=draw(st.integers(0, 5)),  # type: ignore[arg-type]
        metadata=metadata,
        session_id=draw(st.sampled_from(["", "s", "t"])),
        occurred_at=None
        if occurred is None
        else Timestamp(seconds=occurred, nanos=draw(st.integers(0, 999)) * 1000),
        tags=draw(st.lists(texts, max_size=3)),
        title=draw(st.just("") | texts),
        source=draw(st.just("") | texts),
        sensitivity=draw(st.integers(0, 3)),  # type: ignore[arg-type]
    )


@requirement("import:lossless", "import:repeatable")
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(batch=st.lists(requests(), max_size=8))
def test_a_round_trip_loses_nothing(running_store: RunningStore, batch: list[pb.StoreMemoryRequest]) -> None:
    async def round_trip() -> None:
        async with running_store(name=str(uuid.uuid4())) as first:
            for answer in await import_all(first, batch):
                assert answer.HasField("stored"), answer
            exported = await export(first)
        async with running_store(name=str(uuid.uuid4())) as second:
            await import_all(second, exported)
            again = await export(second)
            repeated = await import_all(second, exported)
        assert [unstored(one) for one in again] == [unstored(one) for one in exported]
        assert all(one.stored.duplicate for one in repeated)

    asyncio.run(round_trip())


@requirement("import:lossless")
async def test_a_round_trip_keeps_given_apart_from_derived_and_declared_from_inferred(
    running_store: RunningStore,
) -> None:
    text = "The team decided to adopt Kubernetes for deployment."
    kinds = [memory_pb2.MEMORY_TYPE_UNSPECIFIED, memory_pb2.MEMORY_TYPE_DECISION, memory_pb2.MEMORY_TYPE_FACT]
    batch = [
        pb.StoreMemoryRequest(content=text, wing="w", session_id=f"{kind}{len(tags)}", type=kind, tags=tags)
        for kind in kinds
        for tags in ([], ["kubernetes"], ["Own", "kubernetes"])
    ]
    async with running_store(name="a") as first:
        await import_all(first, batch)
        exported = await export(first)
    async with running_store(name="b") as second:
        await import_all(second, exported)
        again = await export(second)

    assert [(one.type_declared, list(one.given_tags)) for one in exported] == [
        (bool(one.type), sorted(tag.lower() for tag in one.tags)) for one in batch
    ]
    assert [unstored(one) for one in again] == [unstored(one) for one in exported]


@requirement("import:lossless")
async def test_an_export_without_given_tags_and_declared_types_is_told_apart_by_its_text(
    running_store: RunningStore,
) -> None:
    async with running_store(name="a") as first:
        await first.store("The team decided to adopt Kubernetes.", tags=["own"])
        await first.store("Redis is in use.", type=memory_pb2.MEMORY_TYPE_PREFERENCE)
        exported = await export(first)
    older = [memory_pb2.Memory.FromString(one.SerializeToString()) for one in exported]
    for memory in older:
        memory.ClearField("given_tags")
        memory.ClearField("type_declared")
    async with running_store(name="b") as second:
        await import_all(second, older)
        again = await export(second)

    assert [unstored(one) for one in again] == [unstored(one) for one in exported]


@requirement("import:bad-record")
@pytest.mark.parametrize(
    ("record", "reason", "metadata"),
    [
        (
            memory_pb2.Memory(id=CAUSE, content="x", wing="w", given_tags=["a", "b" * 101]),
            "FIELD_TOO_LONG",
            {"field": "memory.given_tags[1]", "limit": "100", "actual": "101"},
        ),
        (
            memory_pb2.Memory(id=CAUSE, content="x", wing="w", given_tags=["a\0"]),
            "FIELD_INVALID_CHARACTER",
            {"field": "memory.given_tags[0]"},
        ),
        (
            memory_pb2.Memory(id=CAUSE, content="x", wing="w", tags=[f"t{n}" for n in range(65)]),
            "TOO_MANY_ITEMS",
            {"field": "memory.tags", "limit": "64", "actual": "65"},
        ),
        (
            memory_pb2.Memory(id=CAUSE, content="x", wing="w", version=-1),
            "FIELD_OUT_OF_RANGE",
            {"field": "memory.version", "actual": "-1"},
        ),
        (
            pb.StoreMemoryRequest(content="x" * 65_537, wing="w"),
            "FIELD_TOO_LONG",
            {"field": "new_memory.content", "limit": "65536", "actual": "65537"},
        ),
        (pb.StoreMemoryRequest(wing="w"), "FIELD_REQUIRED", {"field": "new_memory.content"}),
    ],
)
async def test_a_refused_record_names_its_field_its_limit_and_what_was_sent(
    running_store: RunningStore,
    record: memory_pb2.Memory | pb.StoreMemoryRequest,
    reason: str,
    metadata: dict[str, str],
) -> None:
    async with running_store() as client:
        answers = await import_all(client, [record])

    error = from_rpc_status(answers[0].error)
    assert error is not None
    assert error.reason == f"ERROR_REASON_{reason}"
    assert metadata.items() <= error.metadata.items()
    assert error.message.startswith(metadata["field"])


@requirement("store:same-once")
async def test_an_archived_memory_is_no_duplicate_of_what_is_stored_now(running_store: RunningStore) -> None:
    old = memory_pb2.Memory(
        id=CAUSE, content="text", wing="w", room="r", state=memory_pb2.MEMORY_STATE_ARCHIVED
    )
    async with running_store() as client:
        await import_all(client, [old])
        stored = await client.store("text", room="r")

    assert (stored.duplicate, stored.id == CAUSE) == (False, False)


@requirement("import:repeatable", "store:projects")
async def test_an_id_of_another_project_is_taken(running_store: RunningStore) -> None:
    async with running_store() as client:
        answers = [
            (await import_all(client, [memory_pb2.Memory(id=CAUSE, content="x", wing="w", project=name)]))[0]
            for name in ("a", "b")
        ]
        theirs = await export(client, project="b")

    error = from_rpc_status(answers[1].error)
    assert error is not None
    assert error.reason == "ERROR_REASON_MEMORY_ID_TAKEN"
    assert theirs == []


@requirement("import:bad-record")
async def test_a_record_without_any_memory_is_answered(running_store: RunningStore) -> None:
    async def requests() -> AsyncIterator[pb.ImportMemoriesRequest]:
        yield pb.ImportMemoriesRequest(sequence=3)

    async with running_store() as client:
        answers = [one async for one in client.memories.ImportMemories(requests())]

    error = from_rpc_status(answers[0].error)
    assert error is not None
    assert (answers[0].sequence, error.reason) == (3, "ERROR_REASON_FIELD_REQUIRED")


@requirement("import:repeatable")
async def test_equal_texts_of_one_moment_are_two_memories_under_two_ids(running_store: RunningStore) -> None:
    at = Timestamp(seconds=1)
    turns = [
        memory_pb2.Memory(id=one, content="yes", wing="w", session_id="s", occurred_at=at)
        for one in (CAUSE, EFFECT)
    ]
    async with running_store() as client:
        first = await import_all(client, turns)
        again = await import_all(client, turns)
        exported = await export(client)

    assert [(one.stored.id, one.stored.duplicate) for one in first] == [(CAUSE, False), (EFFECT, False)]
    assert [(one.stored.id, one.stored.duplicate) for one in again] == [(CAUSE, True), (EFFECT, True)]
    assert len(exported) == 2


@requirement("import:lossless")
async def test_a_memory_with_more_links_than_a_new_one_may_have_imports_back(
    running_store: RunningStore,
) -> None:
    async with running_store(name="a") as first:
        hub = await first.store("hub")
        link = memory_pb2.CausalLink(memory_id=hub.id, relation=memory_pb2.CAUSAL_RELATION_BECAUSE)
        await import_all(
            first,
            (pb.StoreMemoryRequest(content=f"t {n}", wing="w", causal_links=[link]) for n in range(1003)),
        )
        exported = await export(first)
    async with running_store(name="b") as second:
        answers = await import_all(second, exported)
        again = await export(second)
        status = await second.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert all(one.HasField("stored") for one in answers)
    assert len(exported[0].causal_links) == 1000
    assert status.stats.causal_edge_count == 1003
    assert [unstored(one) for one in again] == [unstored(one) for one in exported]


@requirement("import:lossless")
async def test_what_has_just_the_greatest_size_imports_back(running_store: RunningStore) -> None:
    metadata, metrics = Struct(), Struct()
    metrics.update({"m": "x" * 9_900})
    metadata.update({"k": "y" * 55_600})
    address = f"https://example.com/{'a' * 300}"
    request = pb.StoreMemoryRequest(
        content=f"We use {address} here.",
        wing="w",
        metadata=metadata,
        metrics=metrics,
        tags=["\u0130" * 100, *(f"tag {n}" for n in range(31))],
    )
    async with running_store(name="a") as first:
        stored = await import_all(first, [request])
        exported = await export(first)
    async with running_store(name="b") as second:
        answers = await import_all(second, exported)

    assert stored[0].HasField("stored")
    assert answers[0].HasField("stored")
    assert exported[0].metadata.fields["metrics"].struct_value == metrics


@requirement("contract:limits")
async def test_metadata_and_metrics_that_are_too_large_together_are_refused(
    running_store: RunningStore,
) -> None:
    metadata, metrics = Struct(), Struct()
    metrics.update({"m": "x" * 9_900})
    metadata.update({"k": "y" * 60_000})
    async with running_store() as client:
        code, reason, details = await refusal(client.store("x", metadata=metadata, metrics=metrics))

    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "FIELD_TOO_LONG")
    assert (details["field"], details["limit"]) == ("metadata", "65536")


@requirement("export:scope")
async def test_every_project_is_exported_where_that_is_asked_for(running_store: RunningStore) -> None:
    async with running_store() as client:
        ids = [
            (await client.store(f"text {number}", project=project)).id
            for number, project in enumerate(["b", "default", "a", "b"])
        ]
        exported = await export(client, all_projects=True)
        code, reason, metadata = await refusal(export(client, all_projects=True, project="a"))

    assert [one.id for one in exported] == ids
    assert [one.project for one in exported] == ["b", "default", "a", "b"]
    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "FIELDS_CONFLICT")
    assert metadata["field"] == "project"


@requirement("export:snapshot")
async def test_an_export_comes_in_messages_of_bounded_size(running_store: RunningStore) -> None:
    async with running_store(message_bytes=40_000) as client:
        ids = [(await client.store(f"{number} " + "x" * 9_000)).id for number in range(10)]
        large = await client.store("é" * 60_000)
        responses = [one async for one in client.memories.ExportMemories(pb.ExportMemoriesRequest())]

    assert [one.id for response in responses for one in response.memories] == [*ids, large.id]
    assert all(response.ByteSize() <= 40_000 for response in responses[:-1])
    assert max(len(response.memories) for response in responses) > 1


@requirement("import:answers")
async def test_every_record_is_answered_in_order_beyond_any_page(running_store: RunningStore) -> None:
    count = 450
    async with running_store(import_batch=7) as client:
        answers = await import_all(
            client,
            (pb.StoreMemoryRequest(content=f"text {n}", wing="w", session_id="s") for n in range(count)),
        )
        exported = await export(client)

    assert [one.sequence for one in answers] == list(range(count))
    assert [one.content for one in exported] == [f"text {n}" for n in range(count)]
    assert [one.session_order for one in exported] == list(range(1, count + 1))


@requirement("export:scope")
async def test_an_export_says_how_many_it_holds_and_takes_archived_ones_too(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        archived = memory_pb2.Memory(
            id=CAUSE, content="old", wing="w", state=memory_pb2.MEMORY_STATE_ARCHIVED
        )
        await import_all(client, [archived])
        await client.store("new", wing="v")
        totals = [one.total_count async for one in client.memories.ExportMemories(pb.ExportMemoriesRequest())]
        only = await export(client, wing="w")
        active = await export(client, states=[memory_pb2.MEMORY_STATE_ACTIVE])

    assert set(totals) == {2}
    assert [one.content for one in only] == ["old"]
    assert [one.content for one in active] == ["new"]


@requirement("export:snapshot")
async def test_an_export_shows_the_store_as_it_was_when_it_began(running_store: RunningStore) -> None:
    async with running_store() as client:
        await client.store("before")
        stream = client.memories.ExportMemories(pb.ExportMemoriesRequest()).__aiter__()
        first = await anext(stream)
        await client.store("during")
        rest = [memory.content async for response in stream for memory in response.memories]

    assert (first.total_count, rest) == (1, ["before"])


@requirement("import:bad-record")
async def test_a_bad_record_is_answered_and_the_stream_goes_on(running_store: RunningStore) -> None:
    taken = memory_pb2.Memory(id=CAUSE, content="one", wing="w", path="p")
    records: Sequence[memory_pb2.Memory] = [
        taken,
        memory_pb2.Memory(id=CAUSE, content="another", wing="w"),
        memory_pb2.Memory(id=EFFECT, content="two", wing="w", path="P"),
        memory_pb2.Memory(id=EFFECT, content="two", wing="not a wing"),
        memory_pb2.Memory(id=EFFECT, content=" ", wing="w"),
        memory_pb2.Memory(content="two", wing="w"),
        memory_pb2.Memory(id=EFFECT, content="x", wing="w", state=memory_pb2.MEMORY_STATE_DELETED),
        memory_pb2.Memory(id=EFFECT, content="x", wing="w", created_at=Timestamp(seconds=10**12)),
        memory_pb2.Memory(id=EFFECT, content="two", wing="w"),
    ]
    async with running_store() as client:
        answers = await import_all(client, records)

    errors = [from_rpc_status(one.error) for one in answers if one.HasField("error")]
    assert [error.reason.removeprefix("ERROR_REASON_") for error in errors if error] == [
        "MEMORY_ID_TAKEN",
        "PATH_TAKEN",
        "FIELD_PATTERN_MISMATCH",
        "FIELD_BLANK",
        "FIELD_REQUIRED",
        "FIELD_OUT_OF_RANGE",
        "FIELD_OUT_OF_RANGE",
    ]
    assert errors[2] is not None
    assert errors[2].metadata["field"] == "memory.wing"
    assert [one.sequence for one in answers if one.HasField("stored")] == [0, 8]


@requirement("import:bad-record")
async def test_a_new_memory_that_breaks_the_contract_fails_alone_and_names_its_field(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        answers = await import_all(
            client,
            [pb.StoreMemoryRequest(content="a", wing="a b"), pb.StoreMemoryRequest(content="a", wing="w")],
        )

    error = from_rpc_status(answers[0].error)
    assert error is not None
    assert (error.reason, error.metadata["field"]) == (
        "ERROR_REASON_FIELD_PATTERN_MISMATCH",
        "new_memory.wing",
    )
    assert answers[1].HasField("stored")


@requirement("import:late-links")
async def test_a_link_whose_other_end_comes_later_is_made_when_it_comes(running_store: RunningStore) -> None:
    link = memory_pb2.CausalLink(memory_id=CAUSE, relation=memory_pb2.CAUSAL_RELATION_UPDATES)
    async with running_store() as client:
        await import_all(
            client, [memory_pb2.Memory(id=EFFECT, content="effect", wing="w", causal_links=[link])]
        )
        before = await get(client, EFFECT)
        await import_all(client, [memory_pb2.Memory(id=CAUSE, content="cause", wing="w")])
        after, cause = await get(client, EFFECT), await get(client, CAUSE)

    assert list(before.causal_links) == []
    assert list(after.causal_links) == [link]
    assert [(one.memory_id, one.outgoing) for one in cause.causal_links] == [(EFFECT, True)]


@requirement("import:place", "store:session-order")
async def test_an_imported_memory_keeps_its_place_and_later_turns_follow_it(
    running_store: RunningStore,
) -> None:
    times = {"created_at": Timestamp(seconds=10), "updated_at": Timestamp(seconds=20)}
    memory = memory_pb2.Memory(
        id=CAUSE,
        content="turn",
        wing="w",
        session_id="s",
        session_order=7,
        version=4,
        **times,  # type: ignore[arg-type]
    )
    async with running_store() as client:
        await import_all(client, [memory])
        kept = await get(client, CAUSE)
        following = await client.store("next", session_id="s")
        order = (await get(client, following.id)).session_order

    assert (kept.session_order, kept.version, order) == (7, 4, 8)
    assert (kept.created_at.seconds, kept.updated_at.seconds) == (10, 20)


@requirement("import:repeatable")
async def test_a_deleted_memory_can_be_imported_again(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("text")
        exported = await export(client)
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=stored.id))
        answers = await import_all(client, exported)

    assert answers[0].stored.id == stored.id
    assert not answers[0].stored.duplicate


@requirement("import:answers")
async def test_a_client_may_wait_for_each_answer_before_it_sends_the_next_record(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        call = client.memories.ImportMemories()
        sequences = []
        for number in range(5):
            record = pb.StoreMemoryRequest(content=f"text {number}", wing="w", request_id=str(uuid.uuid4()))
            await call.write(pb.ImportMemoriesRequest(sequence=number, new_memory=record))
            answer = await call.read()
            assert isinstance(answer, pb.ImportMemoriesResponse)
            sequences.append(answer.sequence)
        await call.done_writing()

    assert sequences == list(range(5))
