"""What reads, lists, the status and the change feed promise."""

import asyncio
import uuid

import grpc
import pytest
from contract.store.backends import Category, RunningStore, belongs_to
from contract.store.test_importing import import_all
from contract.store.test_storing import refusal
from unit.store.fakes import DIMENSION, Client, vector

from requirements import requirement
from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2


@requirement("read:by-id")
async def test_a_batch_keeps_the_order_of_the_ids_and_lists_what_is_missing(
    running_store: RunningStore,
) -> None:
    async with running_store() as client:
        ids = [(await client.store(f"text {n}")).id for n in range(3)]
        missing = "01890a5d-ac96-774b-bcce-b302099a8057"
        asked = [ids[2], f"T0:{ids[0].upper()}", missing, ids[2], f"fp:{missing}"]
        found = await client.memories.BatchGetMemories(pb.BatchGetMemoriesRequest(ids=asked))

    assert [one.id for one in found.memories] == [ids[2], ids[0]]
    assert list(found.missing_ids) == [missing]


@requirement("read:recall-view")
async def test_the_view_of_a_recall_leaves_out_what_a_recall_does_not_need(
    running_store: RunningStore,
) -> None:
    component = memory_pb2.Component(core=memory_pb2.CoreComponent(label="human"))
    async with running_store() as client:
        stored = await client.store("text", path="p", source="s", component=component, title="T")
        request = pb.BatchGetMemoriesRequest(ids=[stored.id], view=pb.MEMORY_VIEW_RECALL)
        found = (await client.memories.BatchGetMemories(request)).memories[0]

    assert (found.content, found.title, found.path, found.source) == ("text", "T", "", "")
    assert not found.HasField("component")
    assert found.fingerprint.type == found.type


@requirement("read:vectors")
async def test_vectors_come_with_their_passages_and_neighbours(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = [
            await client.store(text, session_id="s") for text in ("one", "two\n\nmore", "three", "four")
        ]
        request = pb.BatchGetMemoriesRequest(ids=[stored[1].id], include_vectors=True, neighbor_count=1)
        found = await client.memories.BatchGetMemories(request)

    own = found.vectors[0]
    assert (own.memory_id, list(own.starts), list(own.ends)) == (stored[1].id, [0, 5], [3, 9])
    assert own.vectors == vector("two") + vector("more")
    assert own.dimension == DIMENSION
    assert [one.content for one in found.neighbors] == ["one", "three"]
    assert [one.memory_id for one in found.vectors[1:]] == [stored[0].id, stored[2].id]


@requirement("read:neighbours")
async def test_neighbours_are_the_nearest_active_turns_of_the_same_session(
    running_store: RunningStore,
) -> None:
    def turn(number: int, *, state: memory_pb2.MemoryState.ValueType) -> memory_pb2.Memory:
        identity = f"01890a5d-ac96-774b-bcce-b302099a80{number:02x}"
        return memory_pb2.Memory(
            id=identity,
            content=f"turn {number}",
            wing="w",
            session_id="s",
            session_order=number * 10,
            state=state,
        )

    active, archived = memory_pb2.MEMORY_STATE_ACTIVE, memory_pb2.MEMORY_STATE_ARCHIVED
    turns = [turn(n, state=archived if n in (2, 5) else active) for n in range(1, 8)]
    async with running_store() as client:
        await import_all(client, turns)
        await client.store("elsewhere", session_id="t")
        await client.store("alone")
        request = pb.BatchGetMemoriesRequest(ids=[turns[3].id, turns[5].id], neighbor_count=2)
        found = await client.memories.BatchGetMemories(request)

    assert [one.content for one in found.neighbors] == ["turn 1", "turn 3", "turn 7"]


@requirement("list:pages")
async def test_pages_show_each_memory_once_newest_first(running_store: RunningStore) -> None:
    async with running_store() as client:
        ids = [(await client.store(f"text {n}", room="r")).id for n in range(7)]
        await client.store("elsewhere", room="q")
        seen, place = list[str](), ""
        while True:
            request = pb.ListMemoriesRequest(room="r", page_size=3, page_token=place)
            page = await client.memories.ListMemories(request)
            seen += [one.id for one in page.memories]
            if len(seen) == 3:
                await client.store("while listing", room="r")
            place = page.next_page_token
            if not place:
                break

    assert seen == ids[::-1]


@requirement("list:pages")
async def test_memories_of_one_moment_are_listed_by_id(running_store: RunningStore) -> None:
    ids = [f"01890a5d-ac96-774b-bcce-b302099a80{n:02x}" for n in range(5)]
    async with running_store(clock=lambda: 1_700_000_000_000_000) as client:
        records = [memory_pb2.Memory(id=one, content=one, wing="w") for one in reversed(ids)]
        for record in records:
            record.created_at.seconds = 5
        await import_all(client, records)
        first = await client.memories.ListMemories(pb.ListMemoriesRequest(page_size=2))
        request = pb.ListMemoriesRequest(page_size=2, page_token=first.next_page_token)
        second = await client.memories.ListMemories(request)

    assert [one.id for one in (*first.memories, *second.memories)] == ids[:4]


@requirement("list:token")
async def test_a_page_token_is_bound_to_its_listing(running_store: RunningStore) -> None:
    async with running_store() as client:
        for number in range(3):
            await client.store(f"text {number}")
        page = await client.memories.ListMemories(pb.ListMemoriesRequest(page_size=1))
        requests = [
            pb.ListMemoriesRequest(page_size=1, wing="w", page_token=page.next_page_token),
            pb.ListMemoriesRequest(page_size=1, page_token=page.next_page_token[:-4]),
            pb.ListMemoriesRequest(page_size=1, page_token="é"),  # noqa: S106  # no secret
        ]
        refusals = [await refusal(client.memories.ListMemories(request)) for request in requests]

    assert {(code, reason) for code, reason, _ in refusals} == {
        (grpc.StatusCode.INVALID_ARGUMENT, "PAGE_TOKEN_MISMATCH")
    }


@requirement("list:filters")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"type": memory_pb2.MEMORY_TYPE_FACT}, ["fact"]),
        ({"session_id": "s"}, ["fact"]),
        ({"tag": "SHARED  tag"}, ["note", "fact"]),
        ({"wing": "v"}, ["note"]),
        ({"project": "other"}, []),
        ({"state": memory_pb2.MEMORY_STATE_ARCHIVED}, ["old"]),
    ],
)
async def test_a_listing_is_filtered(
    running_store: RunningStore, fields: dict[str, object], expected: list[str]
) -> None:
    async with running_store() as client:
        await client.store("fact", type=memory_pb2.MEMORY_TYPE_FACT, session_id="s", tags=["Shared Tag"])
        await client.store("note", wing="v", tags=["shared tag"])
        old = memory_pb2.Memory(
            id="01890a5d-ac96-774b-bcce-b302099a8057",
            content="old",
            wing="w",
            state=memory_pb2.MEMORY_STATE_ARCHIVED,
        )
        await import_all(client, [old])
        page = await client.memories.ListMemories(pb.ListMemoriesRequest(**fields))  # type: ignore[arg-type]

    assert [one.content for one in page.memories] == expected


@requirement("status:counts")
async def test_the_status_counts_what_is_there(running_store: RunningStore) -> None:
    async with running_store() as client:
        empty = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())
        stored = await client.store("one two\n\nthree", wing="a")
        await client.store("four", wing="b", project="p")
        await client.store("five", wing="b")
        await client.store("six", wing="b", type=memory_pb2.MEMORY_TYPE_FACT)
        every = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())
        one = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest(project="p"))
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=stored.id))
        after = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert not empty.HasField("model")
    assert empty.head_revision == 0
    assert (every.stats.verbatim_count, every.stats.embedding_count) == (4, 5)
    assert dict(every.stats.type_counts) == {"session_note": 3, "fact": 1}
    assert list(every.stats.active_wings) == ["b", "a"]
    assert every.model.sha256 == "a" * 64
    assert (one.stats.verbatim_count, list(one.stats.active_wings)) == (1, ["b"])
    assert (after.stats.verbatim_count, after.stats.embedding_count, after.head_revision) == (3, 3, 5)
    assert after.stats.total_tokens == every.stats.total_tokens - stored.token_count


@requirement("status:database")
@belongs_to(Category.ON_DISK)
async def test_the_status_tells_the_size_and_the_schema_of_the_database(running_store: RunningStore) -> None:
    async with running_store() as client:
        empty = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())
        for number in range(20):
            await client.store(f"{number} " + "x" * 60_000)
        full = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert full.schema_version == empty.schema_version > 0
    assert full.database_bytes > empty.database_bytes + 20 * 60_000


@requirement("feed:follows")
async def test_the_feed_answers_at_once_and_then_follows(running_store: RunningStore) -> None:
    async with running_store() as client, asyncio.timeout(10):
        stored = await client.store("first\n\nsecond", tags=["t"], session_id="s")
        stream = client.changes.WatchChanges(changes_pb.WatchChangesRequest(include_vectors=True)).__aiter__()
        first = await anext(stream)
        following = asyncio.ensure_future(anext(stream))
        await client.store("third")
        second = await following
        ahead = client.changes.WatchChanges(changes_pb.WatchChangesRequest(after_revision=2)).__aiter__()
        empty = await anext(ahead)

    change = first.changes[0]
    assert (change.memory_id, change.revision, change.passage_count) == (stored.id, 1, 2)
    assert change.vectors == vector("first") + vector("second")
    assert (change.dimension, change.model_sha256, change.session_id) == (DIMENSION, "a" * 64, "s")
    assert "t" in change.tags
    assert (first.head_revision, first.through_revision, first.model.dimension) == (1, 1, DIMENSION)
    assert [one.revision for one in second.changes] == [2]
    assert (list(empty.changes), empty.head_revision, empty.through_revision) == ([], 2, 2)


@requirement("feed:follows")
async def test_a_follower_that_falls_behind_reads_on_from_where_it_was(running_store: RunningStore) -> None:
    async with running_store(message_bytes=20_000) as client, asyncio.timeout(10):
        stream = client.changes.WatchChanges(changes_pb.WatchChangesRequest(batch_size=3)).__aiter__()
        seen = [(await anext(stream)).head_revision]
        for number in range(40):
            await client.store(f"text {number}")
        while seen[-1] < 40:
            seen += [change.revision for change in (await anext(stream)).changes]

    assert seen == [0, *range(1, 41)]


@requirement("feed:covers")
async def test_the_feed_comes_in_batches_that_cover_everything(running_store: RunningStore) -> None:
    async with running_store() as client:
        for number in range(5):
            await client.store(f"text {number}", project="p" if number % 2 else "q")
        request = changes_pb.WatchChangesRequest(batch_size=2, stop_at_head=True)
        batches = [batch async for batch in client.changes.WatchChanges(request)]
        own = changes_pb.WatchChangesRequest(project="p", stop_at_head=True)
        filtered = [batch async for batch in client.changes.WatchChanges(own)]

    assert [[one.revision for one in batch.changes] for batch in batches] == [[1, 2], [3, 4], [5]]
    assert [batch.through_revision for batch in batches] == [2, 4, 5]
    assert all(not one.vectors for batch in batches for one in batch.changes)
    assert [one.revision for batch in filtered for one in batch.changes] == [2, 4]
    assert filtered[-1].through_revision == 5


@requirement("feed:covers")
async def test_the_feed_is_cut_by_size_and_still_covers_everything(running_store: RunningStore) -> None:
    text = "\n\n".join(f"word{n}" for n in range(200))  # 200 passages of 32 bytes
    async with running_store(message_bytes=20_000) as client:
        ids = [(await client.store(f"{number}\n\n{text}")).id for number in range(5)]
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=ids.pop(1)))
        ids += [(await client.store("last")).id]
        request = changes_pb.WatchChangesRequest(include_vectors=True, stop_at_head=True)
        batches = [batch async for batch in client.changes.WatchChanges(request)]
        bare = changes_pb.WatchChangesRequest(stop_at_head=True)
        light = [batch async for batch in client.changes.WatchChanges(bare)]

    found = [one.revision for batch in batches for one in batch.changes]
    assert found == [1, 3, 4, 5, 6, 7]
    assert len(batches) > 2
    assert all(batch.ByteSize() <= 20_000 for batch in batches)
    assert [batch.through_revision for batch in batches] == [batch.changes[-1].revision for batch in batches]
    assert [one.revision for batch in light for one in batch.changes] == found


async def names_of(client: Client) -> list[str]:
    request = changes_pb.WatchChangesRequest(stop_at_head=True)
    return [batch.store_id async for batch in client.changes.WatchChanges(request)]


@requirement("feed:store-id")
async def test_the_feed_names_the_database(running_store: RunningStore) -> None:
    async with running_store(name="a") as first, running_store(name="b") as second:
        names = [*await names_of(first), *await names_of(first), *await names_of(second)]

    assert names[0] == names[1] != names[2]
    assert [uuid.UUID(name).version for name in names] == [4, 4, 4]


@requirement("feed:store-id")
@belongs_to(Category.LASTING)
async def test_a_database_keeps_its_name_over_a_restart(running_store: RunningStore) -> None:
    names = list[str]()
    for _ in range(2):
        async with running_store() as client:
            names += await names_of(client)

    assert names[0] == names[1]


@requirement("feed:tags")
async def test_the_feed_sends_tags_as_they_are_compared(running_store: RunningStore) -> None:
    async with running_store() as client:
        await client.store(
            "x", type=memory_pb2.MEMORY_TYPE_FACT, tags=["Café  Noir", "STRASSE", "straße", "ﬁne"]
        )
        request = changes_pb.WatchChangesRequest(stop_at_head=True)
        changes = [one async for batch in client.changes.WatchChanges(request) for one in batch.changes]

    assert list(changes[0].tags) == sorted(set(changes[0].tags))
    assert {"cafe noir", "fine", "strasse"} < set(changes[0].tags)
    assert all(tag.isascii() for tag in changes[0].tags)


@requirement("list:pages", "read:bounded")
async def test_a_page_of_large_memories_is_shorter_and_the_listing_complete(
    running_store: RunningStore,
) -> None:
    async with running_store(message_bytes=40_000) as client:
        ids = [(await client.store(f"{number} " + "x" * 9_000)).id for number in range(7)]
        seen, sizes, place = list[str](), list[tuple[int, int]](), ""
        while True:
            request = pb.ListMemoriesRequest(page_size=5, page_token=place)
            page = await client.memories.ListMemories(request)
            seen += [one.id for one in page.memories]
            sizes.append((len(page.memories), page.ByteSize()))
            if not (place := page.next_page_token):
                break

    assert seen == ids[::-1]
    assert all(1 <= count < 5 and size <= 40_000 for count, size in sizes)
    assert max(count for count, _ in sizes) > 1


@requirement("read:bounded")
async def test_ids_whose_memories_do_not_fit_are_left_for_another_call(running_store: RunningStore) -> None:
    missing = str(uuid.uuid4())
    async with running_store(message_bytes=10_000) as client:
        ids = [(await client.store(f"{number} " + "x" * 9_000)).id for number in range(7)]
        wanted = [*ids[:3], missing, *ids[3:]]
        answers, left = list[pb.BatchGetMemoriesResponse](), wanted
        while left:
            answers.append(await client.memories.BatchGetMemories(pb.BatchGetMemoriesRequest(ids=left)))
            left = list(answers[-1].remaining_ids)

    assert [one.id for answer in answers for one in answer.memories] == ids
    assert [one for answer in answers for one in answer.missing_ids] == [missing]
    assert len(answers) > 1
    assert all(answer.ByteSize() <= 40_000 for answer in answers)


@requirement("read:bounded")
async def test_neighbours_and_vectors_count_too_but_one_memory_always_comes(
    running_store: RunningStore,
) -> None:
    text = "\n\n".join(f"word{n}" for n in range(400))  # 400 passages of 32 bytes
    async with running_store(message_bytes=2_000) as client:
        ids = [(await client.store(f"{n}\n\n{text}", session_id="s")).id for n in range(6)]
        request = pb.BatchGetMemoriesRequest(ids=ids[:4], include_vectors=True, neighbor_count=1)
        found = await client.memories.BatchGetMemories(request)

    assert [one.id for one in found.memories] == ids[:1]
    assert [one.id for one in found.neighbors] == ids[1:2]
    assert list(found.remaining_ids) == ids[1:4]


@requirement("read:bounded")
async def test_an_answer_has_room_for_the_neighbours_of_all_its_memories(running_store: RunningStore) -> None:
    async with running_store(message_bytes=40_000) as client:
        ids = [(await client.store(f"{n} " + "x" * 9_000, session_id="s")).id for n in range(9)]
        request = pb.BatchGetMemoriesRequest(ids=[ids[1], ids[4], ids[7]], neighbor_count=1)
        found = await client.memories.BatchGetMemories(request)

    assert [one.id for one in found.memories] == [ids[1]]
    assert [one.id for one in found.neighbors] == [ids[0], ids[2]]
    assert list(found.remaining_ids) == [ids[4], ids[7]]
    assert found.ByteSize() <= 40_000


@requirement("read:secrets")
async def test_the_view_of_a_recall_holds_no_secret(running_store: RunningStore) -> None:
    component = memory_pb2.Component(vault=memory_pb2.VaultComponent(caption="the door's code"))
    async with running_store() as client:
        stored = await client.store("hunter2 hunter2", title="Door", component=component, session_id="s")
        other = await client.store("open", session_id="s")
        whole = await client.memories.BatchGetMemories(pb.BatchGetMemoriesRequest(ids=[stored.id]))
        request = pb.BatchGetMemoriesRequest(
            ids=[other.id], view=pb.MEMORY_VIEW_RECALL, neighbor_count=1, include_vectors=True
        )
        near = await client.memories.BatchGetMemories(request)

    secret = near.neighbors[0]
    assert whole.memories[0].content == "hunter2 hunter2"
    assert (secret.content, secret.title, secret.token_count, secret.token_costs.verbatim) == (
        "",
        "Door",
        0,
        0,
    )
    assert secret.token_costs.header == whole.memories[0].token_costs.header
    assert b"hunter2" not in near.SerializeToString()
    assert near.memories[0].content == "open"
