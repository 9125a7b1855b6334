"""What `ListTimeline` promises."""

import grpc
import pytest
from contract.store.backends import RunningStore
from contract.store.test_importing import import_all
from contract.store.test_storing import refusal
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store.fakes import Client

from requirements import requirement
from satchel.api.store.v1 import lifecycle_service_pb2 as life_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2
from satchel.store.cursors import encode_token
from satchel.store.scope import Place

IDS = [f"01890a5d-ac96-774b-bcce-b302099a80{n:02x}" for n in range(8)]


async def timeline(client: Client, **fields: object) -> pb.ListTimelineResponse:
    return await client.memories.ListTimeline(pb.ListTimelineRequest(**fields))  # type: ignore[arg-type]


async def whole_timeline(client: Client, **fields: object) -> list[str]:
    """Return the ids of every page, in order."""
    seen, cursor = list[str](), ""
    while True:
        page = await timeline(client, cursor=cursor, **fields)
        seen += [item.id for item in page.items]
        if not (cursor := page.next_cursor):
            return seen


def micros(at: int) -> Timestamp:
    stamp = Timestamp()
    stamp.FromMicroseconds(at)
    return stamp


@requirement("timeline:order")
async def test_the_timeline_goes_by_when_it_happened_else_by_when_it_was_stored(
    running_store: RunningStore,
) -> None:
    async with running_store(clock=lambda: 1_000_000_000) as client:
        stored = await client.store("stored in between")
        old = await client.store("long ago", occurred_at=micros(999_999_999))
        new = await client.store("to come", occurred_at=micros(1_000_000_001))
        page = await timeline(client)

    assert [item.id for item in page.items] == [new.id, stored.id, old.id]
    assert [item.timestamp.ToMicroseconds() for item in page.items] == [
        1_000_000_001, 1_000_000_000, 999_999_999,
    ]  # fmt: skip
    assert (page.items[1].wing, page.items[1].room, page.items[1].type) == ("w", stored.room, stored.type)
    assert page.next_cursor == ""


@requirement("timeline:order", "timeline:once")
async def test_memories_of_one_moment_come_by_id_and_none_is_lost_between_pages(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        records = [
            memory_pb2.Memory(id=one, content=one, wing="w", occurred_at=micros(5)) for one in reversed(IDS)
        ]
        await import_all(client, records)
        seen = await whole_timeline(client, limit=3)

    assert seen == IDS


@requirement("timeline:once")
async def test_each_memory_appears_once_while_others_are_stored_and_deleted(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        ids = [(await client.store(f"text {n}", occurred_at=micros(n))).id for n in range(9)]
        first = await timeline(client, limit=3)
        await client.store("newer", occurred_at=micros(100))
        await client.store("older", occurred_at=micros(-1))
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=ids[6]))
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=ids[4]))
        second = await timeline(client, limit=3, cursor=first.next_cursor)
        third = await timeline(client, limit=3, cursor=second.next_cursor)

    assert [item.id for item in first.items] == ids[8:5:-1]
    assert [item.id for item in second.items] == [ids[5], ids[3], ids[2]]
    assert [item.id for item in third.items][:2] == [ids[1], ids[0]]
    assert (len(third.items), third.next_cursor) == (3, "")


@requirement("timeline:once")
async def test_a_last_page_that_is_full_has_no_cursor(running_store: RunningStore) -> None:
    async with running_store() as client:
        for number in range(4):
            await client.store(f"text {number}")
        page = await timeline(client, limit=4)

    assert (len(page.items), page.next_cursor) == (4, "")


@requirement("timeline:filters")
async def test_the_timeline_shows_what_meets_every_condition(running_store: RunningStore) -> None:
    fact = memory_pb2.MEMORY_TYPE_FACT
    async with running_store() as client:
        wanted = await client.store("a", wing="v", room="r", type=fact, occurred_at=micros(10))
        for fields in (
            {"wing": "u"}, {"room": "q"}, {"type": memory_pb2.MEMORY_TYPE_DECISION}, {"project": "p"},
            {"occurred_at": micros(9)}, {"occurred_at": micros(20)},
        ):  # fmt: skip
            given = {"wing": "v", "room": "r", "type": fact, "occurred_at": micros(10)}
            await client.store("b", **{**given, **fields})
        seen = await whole_timeline(client, wing="v", room="r", type=fact, since=micros(10), until=micros(20))

    assert seen == [wanted.id]


@requirement("timeline:filters")
async def test_an_archived_memory_is_not_on_the_timeline(running_store: RunningStore) -> None:
    async with running_store() as client:
        shelved, kept = await client.store("a"), await client.store("b")
        await client.lifecycle.ArchiveMemories(life_pb.ArchiveMemoriesRequest(ids=[shelved.id]))
        seen = await whole_timeline(client)

    assert seen == [kept.id]


@requirement("timeline:filters")
async def test_a_limit_is_a_hundred_unless_given_and_a_thousand_at_most(running_store: RunningStore) -> None:
    async with running_store() as client:
        batch = [pb.StoreMemoryRequest(content=f"text {n}", wing="w") for n in range(500)]
        for start in range(3):
            for one in batch:
                one.room = f"r{start}"
            await client.memories.BatchStoreMemories(pb.BatchStoreMemoriesRequest(memories=batch))
        sizes = [len((await timeline(client, limit=limit)).items) for limit in (0, 7, 5000)]
        code, reason, metadata = await refusal(timeline(client, limit=-1))

    assert sizes == [100, 7, 1000]
    assert (code, reason, metadata["field"]) == (
        grpc.StatusCode.INVALID_ARGUMENT, "FIELD_OUT_OF_RANGE", "limit",
    )  # fmt: skip


@requirement("timeline:once", "list:token")
@pytest.mark.parametrize(
    "cursor", ["nonsense", "AAAA", encode_token(Place(1, IDS[0]), b"elsewhere"), "2026-01-01T00:00:00Z"]
)
async def test_a_cursor_that_is_damaged_or_of_another_timeline_is_refused(
    running_store: RunningStore, cursor: str
) -> None:
    async with running_store() as client:
        code, reason, metadata = await refusal(timeline(client, cursor=cursor))

    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "PAGE_TOKEN_MISMATCH")
    assert metadata["field"] == "cursor"
    assert "next_cursor" in metadata["remedy"]


@requirement("timeline:once", "list:token")
async def test_a_cursor_is_bound_to_the_conditions_of_its_timeline(running_store: RunningStore) -> None:
    async with running_store() as client:
        for number in range(3):
            await client.store(f"text {number}")
        page = await timeline(client, limit=1)
        _, reason, _ = await refusal(timeline(client, limit=1, wing="w", cursor=page.next_cursor))

    assert reason == "PAGE_TOKEN_MISMATCH"


@requirement("timeline:summary")
@pytest.mark.parametrize(
    ("content", "summary"),
    [
        (
            "We decided to use PostgreSQL for the ledger. It needs ACID.",
            "We decided to use PostgreSQL for the ledger.",
        ),
        ("# Meeting on the ledger\nBob was there.", "Meeting on the ledger"),
        ("it is\n\n what  it\tis", "it is what it is"),
        ("la " * 100, f"{('la ' * 67)[:199].rstrip()}…"),
    ],
)
async def test_a_summary_is_the_first_header_or_sentence_on_one_line(
    running_store: RunningStore, content: str, summary: str
) -> None:
    async with running_store() as client:
        await client.store(content)
        page = await timeline(client)

    assert [item.summary for item in page.items] == [summary]


@requirement("timeline:summary")
async def test_a_title_is_the_summary(running_store: RunningStore) -> None:
    async with running_store() as client:
        await client.store("We chose PostgreSQL.", title="The  ledger")
        page = await timeline(client)

    assert [item.summary for item in page.items] == ["The ledger"]


@requirement("timeline:summary", "read:secrets")
async def test_a_summary_shows_no_secret(running_store: RunningStore) -> None:
    vault = memory_pb2.Component(vault=memory_pb2.VaultComponent(caption="the door of the shed"))
    async with running_store() as client:
        await client.store("hunter2", component=vault, title="key")
        page = await timeline(client)

    assert [item.summary for item in page.items] == ["key the door of the shed"]
