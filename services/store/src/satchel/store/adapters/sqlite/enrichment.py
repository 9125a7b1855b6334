"""The port `EnrichmentStore` on one SQLite file."""

import sqlite3
from functools import partial

from satchel.store.adapters.sqlite.connection import ReaderPool
from satchel.store.adapters.sqlite.group_commit import GroupCommit
from satchel.store.adapters.sqlite.inserting import next_revision
from satchel.store.adapters.sqlite.rows import FULL, SOURCE, head_of, to_memory
from satchel.store.enrichment_ports import Enriched, Unread

_UNREAD = "m.enrichment = 0 AND m.state = 1 AND m.sensitivity < 3"


class SqliteEnrichment:
    """See `satchel.store.enrichment_ports.EnrichmentStore`."""

    def __init__(self, writer: GroupCommit, readers: ReaderPool) -> None:
        self._writer = writer
        self._readers = readers

    async def unread(self, *, limit: int) -> Unread:
        """See the port."""
        return await self._readers.run(partial(_unread, limit=limit))

    async def enrich(self, enriched: Enriched) -> bool:
        """See the port."""
        return await self._writer.run(partial(_enrich, enriched=enriched))

    async def settle(self, memory_id: str, *, version: int) -> None:
        """See the port."""
        await self._writer.run(partial(_settle, memory_id=memory_id, version=version))

    async def unread_count(self, project: str) -> int:
        """See the port."""
        return await self._readers.run(partial(_count, project=project))


def _unread(raw: sqlite3.Connection, *, limit: int) -> Unread:
    rows = raw.execute(
        f"SELECT {FULL} FROM {SOURCE} WHERE {_UNREAD} ORDER BY m.key LIMIT ?",  # noqa: S608
        (limit,),
    ).fetchall()
    return Unread(tuple(to_memory(row) for row in rows), head_of(raw))


def _count(raw: sqlite3.Connection, *, project: str) -> int:
    count: int = raw.execute(
        f"SELECT count(*) FROM memories m WHERE {_UNREAD} AND ?1 IN ('', m.project)",  # noqa: S608
        (project,),
    ).fetchone()[0]
    return count


def _enrich(raw: sqlite3.Connection, *, enriched: Enriched) -> bool:
    row = raw.execute(
        f"SELECT m.key FROM memories m WHERE m.id = ? AND m.version = ? AND {_UNREAD}",  # noqa: S608
        (enriched.id, enriched.version),
    ).fetchone()
    if row is None:
        return False
    raw.execute("UPDATE documents SET fingerprint = ? WHERE memory = ?", (enriched.fingerprint, row[0]))
    raw.execute(
        "UPDATE memories SET enrichment = 1, fact_count = ?, fingerprint_tokens = ?, revision = ? "
        "WHERE key = ?",
        (enriched.fact_count, enriched.fingerprint_tokens, next_revision(raw), row[0]),
    )
    return True


def _settle(raw: sqlite3.Connection, *, memory_id: str, version: int) -> None:
    raw.execute(
        "UPDATE memories SET enrichment = 1 WHERE id = ? AND version = ? AND enrichment = 0",
        (memory_id, version),
    )
