"""The life of memories in the SQLite file: plans of the statements, work in parts, and what was cut off."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from contract.store.test_archiving import Pauses, archive
from contract.store.test_clearing import clear, store_many
from integration.store.test_sqlite import check, sqlite_store
from unit.store.fakes import Client, running_store

from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import lifecycle_service_pb2 as life_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2
from satchel.store.adapters.sqlite import archiving, clearing, history
from satchel.store.engine.archiving import Archiving, Schedule, archive_regularly
from satchel.store.factory import open_store
from satchel.store.ids import Stamps
from satchel.store.lifecycle import ToArchive, ToUnarchive
from satchel.store.model import MemoryType
from satchel.store.scope import Place, Scope
from satchel.store.settings import StoreSettings

NOW = 1_700_000_000_000_000
EVERYTHING = {MemoryType.SESSION_NOTE: NOW, MemoryType.DEBUG_LOG: NOW}


def plans(raw: sqlite3.Connection, work: Callable[[sqlite3.Connection], object]) -> str:
    """Return the query plans of the SELECT statements that a unit of work runs."""
    statements: list[str] = []
    raw.set_trace_callback(statements.append)
    work(raw)
    raw.set_trace_callback(None)
    return "\n".join(
        str(step[3])
        for statement in statements
        if statement.lstrip().startswith("SELECT")
        for step in raw.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    )


@asynccontextmanager
async def changed_once(client: Client) -> AsyncIterator[None]:
    """Wait at the end of the block until something was committed since its begin."""
    store = sqlite_store(client)
    head = (await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())).head_revision
    yield
    await asyncio.wait_for(store.wait_beyond(head), 10)


async def test_the_timeline_reads_only_what_it_shows(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        await store_many(client, 3)
    raw = sqlite3.connect(tmp_path / "store.db")
    scope, after = Scope(wings=("w",), since=1, until=NOW * 2), Place(NOW, "0")

    plan = plans(raw, lambda raw: history.timeline(raw, scope, after, 10))
    raw.close()

    assert "memories_by_moment (project=? AND effective_at>? AND effective_at<?)" in plan
    assert "TEMP B-TREE" not in plan


async def test_what_is_due_is_found_without_reading_the_rest(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        await store_many(client, 3)
    raw = sqlite3.connect(tmp_path / "store.db")
    wanted = ToArchive(scope=Scope(wings=("w",)), until=EVERYTHING)

    aged = plans(raw, lambda raw: archiving.archivable(raw, wanted))
    raw.execute("UPDATE memories SET archive_batch = 'b'")
    batch = plans(raw, lambda raw: archiving.unarchive_batch(ToUnarchive("default", batch="b"), NOW, raw))
    raw.close()

    assert "memories_by_age (type=? AND <expr><?)" in aged
    assert "TEMP B-TREE" not in aged
    assert "memories_by_batch (archive_batch=?)" in batch


async def test_a_clearing_reads_on_from_where_it_was(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        await store_many(client, 3)
    raw = sqlite3.connect(tmp_path / "store.db")

    plan = plans(raw, lambda raw: clearing.delete_some(raw, Scope(), after=1, upto=9, now=NOW))
    raw.close()

    assert "SEARCH m USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)" in plan


async def test_a_cleared_project_leaves_nothing_but_its_deletions(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        link = memory_pb2.CausalLink(relation=memory_pb2.CAUSAL_RELATION_UPDATES)
        for number in range(3):
            stored = await client.store(
                f"elephants {number}", session_id="s", tags=["t"], causal_links=[link] if number else []
            )
            link.memory_id = stored.id
            await client.memories.UpdateMemory(
                pb.UpdateMemoryRequest(id=stored.id, content=f"zebras {number}")
            )
        await clear(client, mode=life_pb.CLEAR_MODE_GLOBAL)
    raw = check(tmp_path / "store.db")
    tables = [
        "memories", "documents", "words", "memory_tags", "embeddings", "links", "awaited_links", "versions",
        "sessions", "tallies", "requests",
    ]  # fmt: skip
    counts = {table: raw.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}  # noqa: S608
    found = raw.execute("SELECT count(*) FROM stems WHERE stems MATCH 'zebras OR elephants'").fetchone()[0]
    gone = raw.execute("SELECT count(*) FROM tombstones").fetchone()[0]
    raw.close()

    assert counts == dict.fromkeys(tables, 0)
    assert (found, gone) == (0, 3)
    assert b"zebra" not in (tmp_path / "store.db").read_bytes()


async def test_a_clearing_that_is_cut_off_leaves_whole_memories_and_a_repeat_finishes_it(
    tmp_path: Path,
) -> None:
    async with running_store(tmp_path) as client:
        ids = await store_many(client, 5 * clearing.CHUNK)
        async with changed_once(client):
            call = asyncio.ensure_future(clear(client, mode=life_pb.CLEAR_MODE_GLOBAL))
        call.cancel()
        await asyncio.wait([call], timeout=10)
        check(tmp_path / "store.db").close()
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())
        rest = await clear(client, mode=life_pb.CLEAR_MODE_GLOBAL)
        again = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert call.cancelled()
    assert 0 < status.stats.verbatim_count < len(ids)
    assert rest.deleted_count <= status.stats.verbatim_count
    assert again.stats.verbatim_count == 0


async def test_others_read_and_write_while_a_place_is_cleared(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        await store_many(client, 10 * clearing.CHUNK)
        async with changed_once(client):
            call = asyncio.ensure_future(clear(client, mode=life_pb.CLEAR_MODE_GLOBAL))
        stored = await client.store("meanwhile", wing="v")
        seen = await client.memories.GetMemory(pb.GetMemoryRequest(id=stored.id))
        was_busy = not call.done()
        done = await call
        rest = await client.memories.ListMemories(pb.ListMemoriesRequest())

    assert was_busy
    assert seen.memory.content == "meanwhile"
    assert done.deleted_count == 10 * clearing.CHUNK
    assert [one.id for one in rest.memories] == [stored.id]


async def test_an_archiving_that_is_cut_off_may_be_repeated(tmp_path: Path) -> None:
    async with running_store(tmp_path, archive_session_note_days=0.0, archive_debug_log_days=0.0) as client:
        number = 4 * archiving.CHUNK
        await store_many(client, number)
        async with changed_once(client):
            call = asyncio.ensure_future(archive(client))
        call.cancel()
        await asyncio.wait([call], timeout=10)
        check(tmp_path / "store.db").close()
        rest = await archive(client)
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert 0 < rest.archived_count < number
    assert status.stats.archived_count == number


async def test_a_follower_sees_archived_memories_move_both_ways(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        stored = await client.store("elephants")
        request = changes_pb.WatchChangesRequest(after_revision=stored.revision, include_vectors=True)
        watching = client.changes.WatchChanges(request)
        seen = watching.__aiter__()
        await anext(seen)
        run = await archive(client, ids=[stored.id])
        shelved = await anext(seen)
        await client.lifecycle.UnarchiveMemories(life_pb.UnarchiveMemoriesRequest(batch_id=run.batch_id))
        back = await anext(seen)
        watching.cancel()

    states = [one.state for batch in (shelved, back) for one in batch.changes]
    assert states == [memory_pb2.MEMORY_STATE_ARCHIVED, memory_pb2.MEMORY_STATE_ACTIVE]
    assert shelved.changes[0].vectors == back.changes[0].vectors != b""


async def test_a_regular_run_that_fails_does_not_end_the_later_ones(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store(StoreSettings(url=f"sqlite:{tmp_path / 'store.db'}"), now=NOW) as store:
        days = {MemoryType.SESSION_NOTE: 30.0}
        closed = Archiving(store, Stamps(lambda: NOW), days=days, clock=lambda: NOW)
    pauses = Pauses()
    task = asyncio.ensure_future(archive_regularly(closed, Schedule(first_s=1, interval_s=2, pause=pauses)))
    waits = [await pauses.pass_one() for _ in range(3)]
    task.cancel()
    await asyncio.wait([task], timeout=10)

    assert waits == [1, 2, 2]
    assert "store.archiving_failed" in caplog.text
