"""The port `ReembeddingStore` on one SQLite file."""

import sqlite3
from collections.abc import Sequence
from functools import partial

from satchel.store.adapters.sqlite.connection import ReaderPool
from satchel.store.adapters.sqlite.feed import to_pending
from satchel.store.adapters.sqlite.group_commit import GroupCommit
from satchel.store.adapters.sqlite.inserting import next_revision, write_passages
from satchel.store.adapters.sqlite.rows import SOURCE, Row, is_reembedding, model_of
from satchel.store.model import Embedded, ModelIdentity, Pending
from satchel.store.reembedding_ports import VectorCounts

_COLUMNS = "sha256, name, revision, dimension, max_tokens, number"
_IS_OUTDATED = "e.model IN (SELECT number FROM former_models)"
_OUTDATED = f"""
SELECT m.id, m.version, d.title, d.body, d.component
FROM stored_embeddings e CROSS JOIN {SOURCE}
WHERE m.key = e.memory AND {_IS_OUTDATED} ORDER BY e.memory LIMIT ?
"""  # noqa: S608  # only texts of ours are put in
_FROM_UNCODED = "FROM without_codes w CROSS JOIN stored_embeddings e"
_IS_UNCODED = "e.memory = w.memory AND e.model = (SELECT number FROM models)"
UNCODED = f"""
SELECT m.id, m.version, d.title, d.body, d.component
{_FROM_UNCODED} CROSS JOIN {SOURCE}
WHERE m.key = e.memory AND {_IS_UNCODED} ORDER BY w.memory LIMIT ?
"""  # the same
_KEY = f"""
SELECT m.key, {_IS_OUTDATED} FROM memories m JOIN stored_embeddings e ON e.memory = m.key
WHERE m.id = ? AND m.version = ?
AND ({_IS_OUTDATED} OR EXISTS (SELECT 1 FROM without_codes w WHERE w.memory = m.key))
"""  # noqa: S608  # the same
_IS_OPEN = "finished_at IS NULL AND cancelled_at IS NULL"


class SqliteReembedding:
    """See `satchel.store.reembedding_ports.ReembeddingStore`."""

    def __init__(self, writer: GroupCommit, readers: ReaderPool) -> None:
        self._writer = writer
        self._readers = readers

    async def begin(self, model: ModelIdentity, *, with_codes: bool, now: int) -> None:
        """See the port."""
        await self._writer.run(partial(_begin, model=model, with_codes=with_codes, now=now))

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

    async def cancel(self, *, now: int) -> None:
        """See the port."""
        await self._writer.run(partial(_cancel, now=now))

    async def counts(self, project: str = "") -> VectorCounts:
        """See the port."""
        return await self._readers.run(partial(_counts, project=project))


def count_outdated(raw: sqlite3.Connection, project: str = "") -> int:
    """Count the memories of a project whose vectors are outdated; an empty project means every one."""
    if not is_reembedding(raw):
        return 0
    return _count(raw, "FROM stored_embeddings e", _IS_OUTDATED, project)


def _count_uncoded(raw: sqlite3.Connection, project: str = "") -> int:
    return _count(raw, _FROM_UNCODED, _IS_UNCODED, project)


def _count(raw: sqlite3.Connection, source: str, condition: str, project: str) -> int:
    if not project:
        count: int = raw.execute(f"SELECT count(*) {source} WHERE {condition}").fetchone()[0]
        return count
    of_project: int = raw.execute(
        f"SELECT count(*) {source} JOIN memories m ON m.key = e.memory WHERE {condition} AND m.project = ?",
        (project,),
    ).fetchone()[0]
    return of_project


def _begin(raw: sqlite3.Connection, *, model: ModelIdentity, with_codes: bool, now: int) -> None:
    in_use = model_of(raw)
    if in_use is None:
        return
    if in_use.sha256 != model.sha256:
        _put_to_use(raw, model)
        next_revision(raw)  # those who follow the store learn of the model at once
    elif _is_open(raw, with_codes=with_codes) or not _is_left(raw, with_codes=with_codes):
        return
    total = count_outdated(raw) + (_count_uncoded(raw) if with_codes else 0)
    raw.execute(
        "INSERT OR REPLACE INTO reembedding (id, total, begun_at, codes) VALUES (1, ?, ?, ?)",
        (total, now, int(with_codes)),
    )


def _put_to_use(raw: sqlite3.Connection, model: ModelIdentity) -> None:
    former = raw.execute("SELECT number FROM former_models WHERE sha256 = ?", (model.sha256,)).fetchone()
    raw.execute(f"INSERT INTO former_models ({_COLUMNS}) SELECT {_COLUMNS} FROM models")  # noqa: S608
    number = raw.execute("SELECT max(number) + 1 FROM former_models").fetchone() if former is None else former
    raw.execute("DELETE FROM models")
    raw.execute("DELETE FROM former_models WHERE sha256 = ?", (model.sha256,))
    raw.execute(
        f"INSERT INTO models ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
        (model.sha256, model.name, model.revision, model.dimension, model.max_tokens, number[0]),
    )


def _is_open(raw: sqlite3.Connection, *, with_codes: bool) -> bool:
    """Tell whether a run is open that takes all that is asked for."""
    found = raw.execute(f"SELECT 1 FROM reembedding WHERE {_IS_OPEN} AND codes >= ?", (int(with_codes),))  # noqa: S608
    return found.fetchone() is not None


def _is_left(raw: sqlite3.Connection, *, with_codes: bool) -> bool:
    return is_reembedding(raw) or (with_codes and raw.execute(UNCODED, (1,)).fetchone() is not None)


def _outdated(raw: sqlite3.Connection, *, limit: int, max_code_points: int) -> tuple[Pending, ...]:
    taken: list[Pending] = []
    for one in map(to_pending, _next(raw, limit)):
        max_code_points -= len(one.text)
        if taken and max_code_points < 0:
            break
        taken.append(one)
    return tuple(taken)


def _next(raw: sqlite3.Connection, limit: int) -> list[Row]:
    found = raw.execute(_OUTDATED, (limit,)).fetchall()
    return found or (raw.execute(UNCODED, (limit,)).fetchall() if _wants_codes(raw) else [])


def _wants_codes(raw: sqlite3.Connection) -> bool:
    return raw.execute("SELECT 1 FROM reembedding WHERE codes").fetchone() is not None


def _renew(raw: sqlite3.Connection, *, embedded: Sequence[Embedded]) -> bool:
    in_use = model_of(raw)
    if in_use is None or any(one.passages.model.sha256 != in_use.sha256 for one in embedded):
        return in_use is None  # without any vector nothing is outdated
    for one in embedded:
        row = raw.execute(_KEY, (one.id, one.version)).fetchone()
        if row is not None:
            write_passages(raw, row[0], one.passages)
            _count_passages(raw, row[0], one.passages.count)
    if not all(one.passages.code_counts for one in embedded):
        raw.execute("UPDATE reembedding SET codes = 0")
    return True


def _give_up(raw: sqlite3.Connection, *, memory_id: str, version: int) -> None:
    row = raw.execute(_KEY, (memory_id, version)).fetchone()
    if row is None:
        return
    key, is_outdated = row
    if is_outdated:
        raw.execute("DELETE FROM stored_embeddings WHERE memory = ?", (key,))
        _count_passages(raw, key, 0)
    else:
        raw.execute("DELETE FROM without_codes WHERE memory = ?", (key,))


def _count_passages(raw: sqlite3.Connection, key: int, count: int) -> None:
    raw.execute(
        "UPDATE memories SET passage_count = ?, revision = ? WHERE key = ?", (count, next_revision(raw), key)
    )


def _finish(raw: sqlite3.Connection, *, now: int) -> bool:
    if _is_left(raw, with_codes=_wants_codes(raw)):
        return not _is_open(raw, with_codes=False)
    raw.execute("DELETE FROM former_models")
    closed = raw.execute("UPDATE reembedding SET finished_at = ? WHERE finished_at IS NULL", (now,))
    if closed.rowcount:
        next_revision(raw)  # those who follow the store learn that it is whole again
    return True


def _cancel(raw: sqlite3.Connection, *, now: int) -> None:
    raw.execute(f"UPDATE reembedding SET cancelled_at = ? WHERE {_IS_OPEN}", (now,))  # noqa: S608


def _counts(raw: sqlite3.Connection, *, project: str) -> VectorCounts:
    run = raw.execute("SELECT total, begun_at, finished_at, cancelled_at, codes FROM reembedding").fetchone()
    total, begun_at, finished_at, cancelled_at, codes = run or (0, None, None, None, 0)
    pending: int = raw.execute(
        "SELECT ifnull(sum(pending), 0) FROM tallies WHERE ?1 IN ('', project)", (project,)
    ).fetchone()[0]
    return VectorCounts(
        model=model_of(raw),
        outdated=count_outdated(raw, project),
        pending=pending,
        uncoded=_count_uncoded(raw, project),
        total=0 if project else total,
        begun_at=begun_at,
        finished_at=finished_at,
        cancelled_at=cancelled_at,
        with_codes=codes == 1,
    )
