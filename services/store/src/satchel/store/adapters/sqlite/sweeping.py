"""Removes from the file what deleted and replaced memories left in the full-text index.

FTS5 notes a deletion beside the old entries and drops both when segments are merged, which may be never.
A sweep merges all of them into one, some pages at a time with other writes in between, and folds the log
into the database. Source: sqlite.org/fts5.html, sections 6.7 and 6.8.
"""

import asyncio
import sqlite3

from satchel.runtime.errors import ServiceError
from satchel.store.adapters.sqlite.connection import Connection
from satchel.store.adapters.sqlite.group_commit import GroupCommit

_PAGES = 256  # pages merged in one write: some ten milliseconds
_LEAST_CHANGES = 2  # a merge that has nothing to do makes fewer
_LAST_S = 0.5  # a sweep when the store closes may take this long
_TRIES = 5  # to fold the log, which readers may hold up
_PAUSE_S = 0.2


class Sweeper:
    """Sweeps ``after_s`` seconds after words were removed, and when the store closes."""

    def __init__(self, writer: GroupCommit, connection: Connection, *, after_s: float) -> None:
        self._writer = writer
        self._connection = connection
        self._after_s = after_s
        self._due = asyncio.Event()

    def note(self) -> None:
        """Tell that words were removed."""
        self._due.set()

    async def run(self) -> None:
        """Work for ever; to be run as a task and cancelled."""
        while True:
            await self._due.wait()
            await asyncio.sleep(self._after_s)
            await self._sweep_quietly()

    async def finish(self) -> None:
        """Sweep once more if that is due, as far as it comes in half a second; the rest is for next time."""
        if not self._due.is_set():
            return
        try:
            async with asyncio.timeout(_LAST_S):
                await self._sweep_quietly()
        except TimeoutError:
            return

    async def sweep(self) -> None:
        """Rewrite the full-text index without what was removed up to now.

        Raises:
            ServiceError: the database cannot be written now.
        """
        self._due.clear()
        try:
            removed = await self._writer.run(_begin)
            while await self._writer.run(_merge_more):
                pass
            await self._writer.run(lambda raw: _note_swept(raw, removed))
        except BaseException:
            self._due.set()
            raise
        await self._fold_log()

    async def _sweep_quietly(self) -> None:
        try:
            await self.sweep()
        except ServiceError:
            return  # logged where it arose; tried again after the next pause

    async def _fold_log(self) -> None:
        """Fold and empty the log; while readers hold it up, that is due with the next sweep."""
        for _ in range(_TRIES):
            if await self._connection.run(_fold):
                return
            await asyncio.sleep(_PAUSE_S)
        self._due.set()


def is_due(raw: sqlite3.Connection) -> bool:
    """Tell whether words were removed since the last sweep."""
    found: int = raw.execute("SELECT words_removed > words_swept FROM properties").fetchone()[0]
    return found == 1


def _begin(raw: sqlite3.Connection) -> int:
    """Begin to merge all segments into one; return how many removals this will cover."""
    removed: int = raw.execute("SELECT words_removed FROM properties").fetchone()[0]
    _merge(raw, -_PAGES)
    return removed


def _merge_more(raw: sqlite3.Connection) -> bool:
    """Merge some pages; return whether there was anything to do."""
    return _merge(raw, _PAGES) >= _LEAST_CHANGES


def _merge(raw: sqlite3.Connection, pages: int) -> int:
    before = raw.total_changes
    raw.execute("INSERT INTO stems (stems, rank) VALUES ('merge', ?)", (pages,))
    return raw.total_changes - before


def _note_swept(raw: sqlite3.Connection, removed: int) -> None:
    raw.execute("UPDATE properties SET words_swept = ?", (removed,))


def _fold(raw: sqlite3.Connection) -> bool:
    """Move the log into the database and empty it, without waiting; return whether that was possible."""
    (waits,) = raw.execute("PRAGMA busy_timeout").fetchone()
    raw.execute("PRAGMA busy_timeout = 0")
    try:
        busy: int = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        raw.execute(f"PRAGMA busy_timeout = {waits}")
    return not busy
