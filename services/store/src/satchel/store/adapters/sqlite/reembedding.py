"""The port `ReembeddingStore` on one SQLite file."""

import sqlite3
from collections.abc import Sequence
from functools import partial

from satchel.store.adapters.sqlite.connection import ReaderPool
from satchel.store.adapters.sqlite.feed import to_pending
from satchel.store.adapters.sqlite.group_commit import GroupCommit
from satchel.store.adapters.sqlite.inserting import next_revision, write_passages
from satchel.store.adapters.sqlite.rows import SOURCE, is_reembedding, model_of
from satchel.store.model import Embedded, ModelIdentity, Pending
from satchel.store.reembedding_ports import VectorCounts

_COLUMNS = "sha256, name, revision, dimension, max_tokens, number"
_IS_OUTDATED = "e.model IN (SELECT number FROM former_models)"
_OUTDATED = f"""
SELECT m.id, m.version, d.title, d.body, d.component
FROM stored_embeddings e CROSS JOIN {SOURCE}
WHERE m.key = e.memory AND {_IS_OUTDATED} ORDER BY e.memory LIMIT ?
"""  # noqa: S608  # only texts of ours are put in
_COUNT = f"SELECT count(*) FROM stored_embeddings e WHERE {_IS_OUTDATED}"  # noqa: S608  # the same
_ANY = f"SELECT 1 FROM stored_embeddings e WHERE {_IS_OUTDATED} LIMIT 1"  # noqa: S608  # the same
_KEY = f"""
SELECT m.key FROM memories m JOIN stored_embeddings e ON e.memory = m.key
WHERE m.id = ? AND m.version = ? AND {_IS_OUTDATED}
"""  # noqa: S608  # the same


class SqliteReembedding:
    """See `satchel.store.reembedding_ports.ReembeddingStore`."""

    def __init__(self, writer: GroupCommit, readers: ReaderPool) -> None:
        self._writer = writer
        self._readers = readers

    async def begin(self, model: ModelIdentity, *, now: int) -> None:
        """See the port."""
        await self._writer.run(partial(_begin, model=model, now=now))

    async def outdated(self, *, limit: int, max_code_points: int) -> tuple[Pending, ...]:
        """See the port."""
        return await self._readers.run(partial(_outdated, limit=limit, max_code_points=max_code_points))

    async def renew(self, embedded: Sequence[Embedded]) -> bool:
        """See the port."""
        return await self._writer.run(partial(_renew, embedded=embedded))

    async def give_up(self, memory_id: str, *, version: int) -> None:
        """See the port."""
        await self._writer.run(partial(_give_up, memory_id=memory_id, version=version))

    async def finish(self, *, now: int) -> bool:
        """See the port."""
        return await self._writer.run(partial(_finish, now=now))

    async def counts(self) -> VectorCounts:
        """See the port."""
        return await self._readers.run(_counts)


def count_outdated(raw: sqlite3.Connection, project: str = "") -> int:
    """Count the memories of a project whose vectors are outdated; an empty project means every one."""
    if not is_reembedding(raw):
        return 0
    if not project:
        count: int = raw.execute(_COUNT).fetchone()[0]
        return count
    of_project: int = raw.execute(
        f"SELECT count(*) FROM stored_embeddings e JOIN memories m ON m.key = e.memory "  # noqa: S608
        f"WHERE {_IS_OUTDATED} AND m.project = ?",
        (project,),
    ).fetchone()[0]
    return of_project


def _begin(raw: sqlite3.Connection, *, model: ModelIdentity, now: int) -> None:
    in_use = model_of(raw)
    if in_use is None or in_use.sha256 == model.sha256:
        return
    former = raw.execute("SELECT number FROM former_models WHERE sha256 = ?", (model.sha256,)).fetchone()
    raw.execute(f"INSERT INTO former_models ({_COLUMNS}) SELECT {_COLUMNS} FROM models")  # noqa: S608
    number = raw.execute("SELECT max(number) + 1 FROM former_models").fetchone() if former is None else former
    raw.execute("DELETE FROM models")
    raw.execute("DELETE FROM former_models WHERE sha256 = ?", (model.sha256,))
    raw.execute(
        f"INSERT INTO models ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
        (model.sha256, model.name, model.revision, model.dimension, model.max_tokens, number[0]),
    )
    raw.execute(
        f"INSERT OR REPLACE INTO reembedding (id, total, begun_at) VALUES (1, ({_COUNT}), ?)",  # noqa: S608
        (now,),
    )
    next_revision(raw)  # those who follow the store learn of the model at once


def _outdated(raw: sqlite3.Connection, *, limit: int, max_code_points: int) -> tuple[Pending, ...]:
    taken: list[Pending] = []
    for one in map(to_pending, raw.execute(_OUTDATED, (limit,))):
        max_code_points -= len(one.text)
        if taken and max_code_points < 0:
            break
        taken.append(one)
    return tuple(taken)


def _renew(raw: sqlite3.Connection, *, embedded: Sequence[Embedded]) -> bool:
    in_use = model_of(raw)
    if in_use is None or any(one.passages.model.sha256 != in_use.sha256 for one in embedded):
        return in_use is None  # without any vector nothing is outdated
    for one in embedded:
        row = raw.execute(_KEY, (one.id, one.version)).fetchone()
        if row is not None:
            write_passages(raw, row[0], one.passages)
            _count_passages(raw, row[0], one.passages.count)
    return True


def _give_up(raw: sqlite3.Connection, *, memory_id: str, version: int) -> None:
    row = raw.execute(_KEY, (memory_id, version)).fetchone()
    if row is not None:
        raw.execute("DELETE FROM stored_embeddings WHERE memory = ?", row)
        _count_passages(raw, row[0], 0)


def _count_passages(raw: sqlite3.Connection, key: int, count: int) -> None:
    raw.execute(
        "UPDATE memories SET passage_count = ?, revision = ? WHERE key = ?", (count, next_revision(raw), key)
    )


def _finish(raw: sqlite3.Connection, *, now: int) -> bool:
    if raw.execute(_ANY).fetchone() is not None:
        return False
    raw.execute("DELETE FROM former_models")
    closed = raw.execute("UPDATE reembedding SET finished_at = ? WHERE finished_at IS NULL", (now,))
    if closed.rowcount:
        next_revision(raw)  # those who follow the store learn that it is whole again
    return True


def _counts(raw: sqlite3.Connection) -> VectorCounts:
    run = raw.execute("SELECT total, begun_at, finished_at FROM reembedding").fetchone()
    total, begun_at, finished_at = run or (0, None, None)
    pending: int = raw.execute("SELECT ifnull(sum(pending), 0) FROM tallies").fetchone()[0]
    return VectorCounts(
        model=model_of(raw),
        outdated=count_outdated(raw),
        pending=pending,
        total=total,
        begun_at=begun_at,
        finished_at=finished_at,
        is_open=begun_at is not None and finished_at is None,
    )
