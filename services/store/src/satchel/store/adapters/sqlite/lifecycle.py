"""The port `LifecycleStore` on one SQLite file."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial

from satchel.store.adapters.sqlite import archiving, clearing, history, merging
from satchel.store.adapters.sqlite.archiving import Shelving
from satchel.store.adapters.sqlite.clearing import Progress
from satchel.store.adapters.sqlite.connection import ReaderPool
from satchel.store.adapters.sqlite.group_commit import GroupCommit
from satchel.store.lifecycle import (
    Cleared,
    Moved,
    Shelved,
    Timeline,
    ToArchive,
    ToUnarchive,
    Versions,
    moved,
)
from satchel.store.model import Memory
from satchel.store.scope import Place, Scope


class SqliteLifecycle:
    """See `satchel.store.lifecycle_ports.LifecycleStore`.

    ``on_removal`` is called after words were removed from the full-text index.
    """

    def __init__(self, writer: GroupCommit, readers: ReaderPool, *, on_removal: Callable[[], None]) -> None:
        self._writer = writer
        self._readers = readers
        self._on_removal = on_removal

    async def timeline(self, scope: Scope, *, after: Place | None, limit: int) -> Timeline:
        """See the port."""
        return await self._readers.run(lambda raw: history.timeline(raw, scope, after, limit))

    async def archivable(self, wanted: ToArchive) -> Moved:
        """See the port."""
        return moved(await self._readers.run(lambda raw: archiving.archivable(raw, wanted)), 0)

    async def archive(self, wanted: ToArchive, *, batch: str, now: int) -> Moved:
        """See the port."""
        if wanted.ids:
            return moved(*await self._writer.run(partial(archiving.archive_ids, wanted, batch, now)))
        works = [partial(archiving.archive_aged, wanted, kind, batch, now) for kind in sorted(wanted.until)]
        return await self._in_chunks(works)

    async def unarchive(self, wanted: ToUnarchive, *, now: int) -> Moved:
        """See the port."""
        if wanted.ids:
            return moved(*await self._writer.run(partial(archiving.unarchive_ids, wanted, now)))
        return await self._in_chunks([partial(merging.unarchive_batch, wanted, now)])

    async def _in_chunks(self, works: Sequence[Callable[[sqlite3.Connection], Shelving]]) -> Moved:
        """Do each work again and again until it finds less than a chunk, each time in a write of its own."""
        done: list[Shelved] = []
        newest = 0
        for work in works:
            size = archiving.CHUNK
            while size == archiving.CHUNK:
                found, revision = await self._writer.run(work)
                size, newest = len(found), max(newest, revision)
                done += found
        return moved(done, newest)

    async def count(self, scope: Scope) -> int:
        """See the port."""
        return await self._readers.run(lambda raw: clearing.count(raw, scope))

    async def clear(self, scope: Scope, *, expected: int | None, now: int) -> Cleared:
        """See the port."""
        try:
            upto, part = await self._writer.run(partial(clearing.begin, scope, expected, now))
            count, revision = part.deleted, part.revision
            while part.deleted == clearing.CHUNK:
                part = await self._writer.run(partial(_delete_more, scope, part, upto, now))
                count, revision = count + part.deleted, max(revision, part.revision)
            await self._writer.run(lambda raw: clearing.forget_places(raw, scope.project))
        finally:
            self._on_removal()
        return Cleared(count, revision)

    async def versions(
        self, memory_id: str, *, project: str, below: int | None, limit: int, max_bytes: int
    ) -> Versions:
        """See the port."""
        return await self._readers.run(
            lambda raw: history.versions(
                raw, memory_id, project=project, below=below, limit=limit, max_bytes=max_bytes
            )
        )

    async def version(self, memory_id: str, number: int) -> Memory:
        """See the port."""
        return await self._readers.run(lambda raw: history.version(raw, memory_id, number))


def _delete_more(scope: Scope, part: Progress, upto: int, now: int, raw: sqlite3.Connection) -> Progress:
    return clearing.delete_some(raw, scope, after=part.key, upto=upto, now=now)
