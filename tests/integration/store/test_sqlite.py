"""The SQLite file itself: durability, schema, damage, full disks, and plans of the hot statements."""

import asyncio
import random
import shutil
import sqlite3
from pathlib import Path

import grpc
import pytest
from contract.store.test_changing import update
from contract.store.test_storing import refusal
from unit.store.fakes import Client, FakeEmbedder, codes_of, running_store

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.runtime.errors import Overloaded
from satchel.store.adapters.sqlite import candidates, feed, reading
from satchel.store.adapters.sqlite.group_commit import write_group
from satchel.store.adapters.sqlite.migrations import Migration, migrate, packaged
from satchel.store.adapters.sqlite.store import SqliteStore
from satchel.store.adapters.sqlite.sweeping import is_due
from satchel.store.errors import StoreUnavailable
from satchel.store.scope import Scope

NOW = 1_700_000_000_000_000


def sqlite_store(client: Client) -> SqliteStore:
    store = client.built.store
    assert isinstance(store, SqliteStore)
    return store


def check(path: Path) -> sqlite3.Connection:
    """Open a database file and check tables, full text, references and counts."""
    raw = sqlite3.connect(path)
    assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
    raw.execute("INSERT INTO stems (stems, rank) VALUES ('integrity-check', 1)")
    recounted = raw.execute(
        "SELECT project, wing, type, state, count(*), sum(verbatim_tokens), sum(passage_count), "
        "sum(passage_count = 0) "
        "FROM memories GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
    ).fetchall()
    assert raw.execute("SELECT * FROM tallies WHERE memories > 0 ORDER BY 1, 2, 3, 4").fetchall() == recounted
    raw.rollback()
    return raw


async def test_a_hundred_concurrent_writes_share_commits_and_none_is_lost(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        stored = await asyncio.gather(*(client.store(f"text {n}", session_id="s") for n in range(100)))
        raw = check(tmp_path / "store.db")
        ids = {row[0] for row in raw.execute("SELECT id FROM memories")}
        orders = {row[0] for row in raw.execute("SELECT session_order FROM memories")}
        raw.close()

    assert ids == {one.id for one in stored}
    assert {one.revision for one in stored} == orders == set(range(1, 101))


async def test_what_is_acknowledged_is_on_disk_when_the_process_dies(tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    async with running_store(tmp_path) as client:
        kept = [(await client.store(f"text {n}")).id for n in range(20)]
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=kept.pop()))
        for suffix in ("", "-wal"):  # what a killed process leaves behind: the log is not folded in
            shutil.copy(tmp_path / f"store.db{suffix}", f"{copy}{suffix}")
    check(copy).close()
    async with running_store(tmp_path, name="copy.db") as client:
        page = await client.memories.ListMemories(pb.ListMemoriesRequest())

    assert [one.id for one in page.memories] == kept[::-1]


async def test_any_order_of_changes_leaves_indexes_and_counts_whole(tmp_path: Path) -> None:
    chance = random.Random(7)  # a fixed sequence of steps
    embedder = FakeEmbedder()
    async with running_store(tmp_path, embedder=embedder, retry_first_s=5.0, retry_longest_s=5.0) as client:
        ids = list[str]()
        for number in range(150):
            embedder.is_down = chance.random() < 0.2
            if not ids or chance.random() < 0.5:
                text = " ".join(chance.choices(["one", "two", "Three", "ERR_4711-x", "東京", "é"], k=5))
                ids.append((await client.store(f"{text} {number}", wing=chance.choice("ab"), tags=["t"])).id)
            elif chance.random() < 0.6:
                await update(client, chance.choice(ids), content=f"changed {number}", title="T", wing="c")
            else:
                await client.memories.DeleteMemory(
                    pb.DeleteMemoryRequest(id=ids.pop(chance.randrange(len(ids))))
                )
    raw = check(tmp_path / "store.db")
    left = {
        table: raw.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
        for table in ("memories", "documents", "words")
    }
    raw.close()

    assert set(left.values()) == {len(ids)}


async def test_twenty_replaced_versions_are_kept(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        stored = await client.store("text")
        for number in range(25):
            await update(client, stored.id, title=f"title {number}")
    raw = sqlite3.connect(tmp_path / "store.db")
    versions = [row[0] for row in raw.execute("SELECT version FROM versions ORDER BY version")]
    raw.close()

    assert versions == list(range(6, 26))


def test_one_failing_write_fails_alone() -> None:
    raw = sqlite3.connect(":memory:", isolation_level=None)
    migrate(raw, NOW)

    def note(number: int) -> object:
        def work(connection: sqlite3.Connection) -> int:
            connection.execute("INSERT INTO sessions VALUES ('p', ?, 1)", (str(number),))
            if number == 1:
                raise StoreUnavailable
            return number

        return work

    results, _ = write_group(raw, [note(0), note(1), note(2)])  # type: ignore[list-item]
    names = [row[0] for row in raw.execute("SELECT session_id FROM sessions")]
    raw.close()

    assert (results[0], type(results[1]), results[2]) == (0, StoreUnavailable, 2)
    assert names == ["0", "2"]


async def test_a_full_queue_of_writes_is_an_error_and_not_a_longer_queue(tmp_path: Path) -> None:
    async with running_store(tmp_path, max_waiting_writes=5) as client:
        answers = await asyncio.gather(
            *(client.store(f"text {n}") for n in range(60)), return_exceptions=True
        )
        page = await client.memories.ListMemories(pb.ListMemoriesRequest())

    refused = [one for one in answers if isinstance(one, grpc.aio.AioRpcError)]
    assert len(page.memories) == len(answers) - len(refused)
    assert {one.code() for one in refused} <= {grpc.StatusCode.RESOURCE_EXHAUSTED}


async def test_too_many_exports_at_once_are_refused(tmp_path: Path) -> None:
    async with running_store(tmp_path, max_exports=1) as client:
        store = sqlite_store(client)
        async with store.export(Scope(), max_bytes=1 << 20):
            with pytest.raises(Overloaded):
                async with store.export(Scope(), max_bytes=1 << 20):
                    raise AssertionError("The second export began.")


async def test_a_full_disk_is_said_and_reading_goes_on(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        stored = await client.store("text")
        connection = sqlite_store(client)._writer._connection
        pages = await connection.run(lambda raw: raw.execute("PRAGMA page_count").fetchone()[0])
        await connection.run(lambda raw: raw.execute(f"PRAGMA max_page_count = {pages}").fetchone())
        code, reason, metadata = await refusal(client.store("x" * 60_000))
        await connection.run(lambda raw: raw.execute("PRAGMA max_page_count = 1000000").fetchone())
        found = await client.memories.GetMemory(pb.GetMemoryRequest(id=stored.id))
        later = await client.store("y" * 60_000)
    check(tmp_path / "store.db").close()

    assert (code, reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
    assert "remedy" in metadata
    assert found.memory.content == "text"
    assert later.id != stored.id


async def test_a_file_that_is_no_database_is_refused_without_its_content(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"secret text, no database" * 100)

    with pytest.raises(StoreUnavailable) as caught:
        async with running_store(tmp_path):
            raise AssertionError("The store opened.")

    assert "secret" not in caught.value.message


async def test_a_damaged_database_answers_unavailable_with_neutral_text(tmp_path: Path) -> None:
    async with running_store(tmp_path, mmap_mib=0) as client:
        await client.store("text")
        connection = sqlite_store(client)._writer._connection
        await connection.run(lambda raw: raw.execute("DROP TABLE memory_tags"))
        code, reason, metadata = await refusal(client.store("another"))

    assert (code, reason, metadata) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", {})


def test_migrations_are_numbered_without_gaps_and_applied_once() -> None:
    raw = sqlite3.connect(":memory:", isolation_level=None)
    versions = [migrate(raw, NOW), migrate(raw, NOW)]
    applied = raw.execute("SELECT version, name FROM schema_migrations").fetchall()
    raw.close()

    assert versions == [len(packaged())] * 2
    assert applied == [(number + 1, one.name) for number, one in enumerate(packaged())]


def test_a_database_of_a_newer_version_is_refused() -> None:
    raw = sqlite3.connect(":memory:", isolation_level=None)
    migrate(raw, NOW, (*packaged(), Migration(999, "0999_later.sql", "CREATE TABLE later (x)")))

    with pytest.raises(StoreUnavailable, match="schema version 999"):
        migrate(raw, NOW)
    raw.close()


def test_a_changed_migration_is_refused() -> None:
    raw = sqlite3.connect(":memory:", isolation_level=None)
    migrate(raw, NOW)
    changed = tuple(one._replace(sql=one.sql + "\n-- changed") for one in packaged())

    with pytest.raises(StoreUnavailable, match="Migration 1"):
        migrate(raw, NOW, changed)
    raw.close()


def test_a_migration_that_fails_leaves_nothing_behind() -> None:
    raw = sqlite3.connect(":memory:", isolation_level=None)
    bad = Migration(1, "0001_bad.sql", "CREATE TABLE made (x); CREATE TABLE broken (")

    with pytest.raises(sqlite3.Error):
        migrate(raw, NOW, (bad,))
    tables = {row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    raw.close()

    assert tables == {"schema_migrations"}


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        (reading._NEIGHBORS, ("[1]", 1)),
        (feed._CHANGES.format(vectors="e.vectors"), (0, 10, "")),
        (feed._TOMBSTONES, (0, 10, "")),
        (candidates._ASKED.format(join="m.id", **candidates._CODES_SQL[True]), ("[]", "", "[1]")),
        (candidates._BESIDE.format(join="m.key", **candidates._CODES_SQL[True]), ("[1]",)),
    ],
)
def test_hot_statements_read_no_table_from_end_to_end(sql: str, parameters: tuple[object, ...]) -> None:
    raw = sqlite3.connect(":memory:", isolation_level=None)
    migrate(raw, NOW)
    plan = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
    raw.close()

    scans = {step for step in plan if step.startswith("SCAN") and "VIRTUAL" not in step and "(" not in step}
    assert scans <= {"SCAN models"}  # which has one row
    assert not any("AUTOMATIC" in step for step in plan)


async def test_deleted_and_replaced_words_leave_the_file_with_the_next_sweep(tmp_path: Path) -> None:
    words = [b"quokkaword", b"wombatword"]
    async with running_store(tmp_path) as client:
        for number in range(40):
            await client.store(f"filler {number}")
            if number % 2:
                continue
            gone = await client.store(f"the quokkaword {number}")
            await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=gone.id))
        changed = await client.store("the wombatword")
        await update(client, changed.id, content="nothing of it", path="p")
        await sqlite_store(client)._sweeper.sweep()
        left = [(tmp_path / f"store.db{suffix}").read_bytes() for suffix in ("", "-wal")]
    raw = check(tmp_path / "store.db")
    versions = raw.execute("SELECT count(*) FROM versions WHERE snapshot LIKE '%wombatword%'").fetchone()[0]
    raw.close()

    assert not any(words[0] in data for data in left)
    assert versions == 1  # kept on purpose: the replaced version


async def test_a_store_that_closes_soon_after_a_deletion_sweeps_before(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        gone = await client.store("the quokkaword")
        await client.store("another")
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=gone.id))

    assert b"quokkaword" not in (tmp_path / "store.db").read_bytes()


async def test_a_sweep_comes_by_itself_after_a_while(tmp_path: Path) -> None:
    async with running_store(tmp_path, sweep_after_s=0.01) as client, asyncio.timeout(10):
        gone = await client.store("the quokkaword")
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=gone.id))
        readers = sqlite_store(client)._readers
        while await readers.run(is_due):
            pass
        swept = not await readers.run(is_due)

    assert swept


async def test_where_nothing_can_be_written_memories_are_still_read(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        stored = await client.store("whales")
    (tmp_path / "store.db-shm").mkdir()  # as on a full disk: no place for the index of the log
    async with running_store(tmp_path) as client:
        found = await client.memories.GetMemory(pb.GetMemoryRequest(id=stored.id))
        exported = [one async for one in client.memories.ExportMemories(pb.ExportMemoriesRequest())]
        words = await client.search.SearchText(search_pb.SearchTextRequest(query="whale"))
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.store("more")

    assert found.memory.content == "whales"
    assert exported[0].total_count == status.stats.verbatim_count == 1
    assert [hit.memory_id for hit in words.hits] == [stored.id]
    assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
    assert "can only be read" in str(caught.value.details())


async def test_a_damaged_file_is_called_so_without_a_traceback_for_each_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running_store(tmp_path) as client:
        for number in range(50):
            await client.store(f"text {number} " + "x" * 2_000)
    path = tmp_path / "store.db"
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xa5" * (len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(StoreUnavailable, match="damaged: run 'satchel doctor'") as caught:
        async with running_store(tmp_path, mmap_mib=0) as client:
            raise AssertionError("The store opened.")

    assert caught.value.retry_after_s is None
    assert [record.exc_info for record in caplog.records if record.message == "store.sqlite_failed"] == [None]


async def test_a_damage_that_is_met_later_is_called_so_too(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    async with running_store(tmp_path) as client:
        stored = await client.store("text")
    raw = sqlite3.connect(path)
    root, size = raw.execute(
        "SELECT s.rootpage, p.page_size FROM sqlite_master s, pragma_page_size p WHERE s.name = 'documents'"
    ).fetchone()
    raw.close()
    data = bytearray(path.read_bytes())
    data[(root - 1) * size : root * size] = b"\xa5" * size
    path.write_bytes(data)
    async with running_store(tmp_path, mmap_mib=0) as client:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.memories.GetMemory(pb.GetMemoryRequest(id=stored.id))

    assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
    assert "damaged: run 'satchel doctor'" in str(caught.value.details())


async def test_a_database_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    raw = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    migrate(raw, NOW, packaged()[:1])
    raw.close()
    async with running_store(tmp_path) as client:
        stored = await client.store("text")
        await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=stored.id))
    check(tmp_path / "store.db").close()


async def test_vectors_from_before_there_were_codes_serve_without_them(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        old = await client.store("whales")
    raw = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    for statement in (
        "DROP TABLE token_codes",
        "DROP TABLE without_codes",
        "ALTER TABLE reembedding DROP COLUMN codes",
        "ALTER TABLE reembedding DROP COLUMN cancelled_at",
        "DELETE FROM schema_migrations WHERE version >= 9",
    ):
        raw.execute(statement)
    raw.close()
    async with running_store(tmp_path) as client:
        new = await client.store("songs")
        found = await client.search.FetchCandidates(
            search_pb.FetchCandidatesRequest(ids=[old.id, new.id], with_token_codes=True)
        )

    assert list(found.passage_counts) == [1, 1]
    assert (list(found.token_codes.counts), found.token_codes.codes) == ([0, 1], codes_of("songs"))


async def test_a_sweep_that_a_reader_holds_up_is_due_again(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client:
        gone = await client.store("the quokkaword")
        store = sqlite_store(client)
        async with store.export(Scope(), max_bytes=1 << 20) as export:
            await client.memories.DeleteMemory(pb.DeleteMemoryRequest(id=gone.id))
            await store._sweeper.sweep()
            is_due_again = store._sweeper._due.is_set()
            seen = [one.content async for batch in export.batches for one in batch]
        await store._sweeper.sweep()
        left = [(tmp_path / f"store.db{suffix}").read_bytes() for suffix in ("", "-wal")]

    assert is_due_again
    assert seen == ["the quokkaword"]
    assert not any(b"quokkaword" in data for data in left)
