"""The port `LifecycleStore` over tables in memory. Every call is one piece, so nothing can cut it off."""

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace as with_changes

from satchel.store.adapters.memory import writing
from satchel.store.adapters.memory.entries import Entry
from satchel.store.adapters.memory.merging import archive_merged
from satchel.store.adapters.memory.sizing import leading
from satchel.store.adapters.memory.tables import Tables
from satchel.store.errors import BatchNotFound, CountMismatch, MemoryNotFound, VersionNotFound
from satchel.store.lifecycle import (
    Cleared,
    Moved,
    Shelved,
    Timeline,
    TimelineItem,
    ToArchive,
    ToUnarchive,
    Version,
    Versions,
    moved,
    size_of,
)
from satchel.store.model import Memory, MemoryState
from satchel.store.preparing import is_hidden, searchable_text
from satchel.store.scope import Place, Scope
from satchel.store.summaries import summary_of
from satchel.store.webhooks.model import ARCHIVED, UNARCHIVED


class InMemoryLifecycle:
    """See `satchel.store.lifecycle_ports.LifecycleStore`; ``tell`` is called after every change."""

    def __init__(self, tables: Tables, tell: Callable[[], None]) -> None:
        self._tables = tables
        self._tell = tell

    async def timeline(self, scope: Scope, *, after: Place | None, limit: int) -> Timeline:
        """See the port."""
        inside = self._tables.inside(scope)
        if after is not None:
            inside = (entry for entry in inside if _moment(entry) > (-after.created_at, after.id))
        first = heapq.nsmallest(limit + 1, inside, key=_moment)
        return Timeline(tuple(map(_item, first[:limit])), len(first) > limit)

    async def archivable(self, wanted: ToArchive) -> Moved:
        """See the port."""
        return moved(map(_shelved, self._to_archive(wanted)), 0)

    async def archive(self, wanted: ToArchive, *, batch: str, now: int) -> Moved:
        """See the port."""
        found = self._to_archive(wanted)
        for entry in found:
            self._put(
                entry,
                entry.memory._replace(state=MemoryState.ARCHIVED, archived_at=now, archive_batch=batch),
            )
        self._tell()
        return moved(map(_shelved, found), self._tables.head)

    async def unarchive(self, wanted: ToUnarchive, *, now: int) -> Moved:
        """See the port."""
        if not wanted.ids and not self._of_batch(wanted):
            raise BatchNotFound(wanted.batch)
        archive_merged(self._tables, wanted.batch, wanted.project, now=now)
        found = [entry for entry in self._to_unarchive(wanted) if not entry.is_active]
        for entry in found:
            back = entry.memory._replace(archived_at=None, unarchived_at=now)
            self._put(entry, back._replace(state=MemoryState.ACTIVE))
        self._tell()
        return moved(map(_shelved, found), self._tables.head)

    async def count(self, scope: Scope) -> int:
        """See the port."""
        return sum(1 for _ in self._tables.inside(scope))

    async def clear(self, scope: Scope, *, expected: int | None, now: int) -> Cleared:
        """See the port."""
        found = sorted(self._tables.inside(scope), key=_arrival)
        if expected is not None and expected != len(found):
            raise CountMismatch(expected=expected, actual=len(found))
        for entry in found:
            writing.remove(self._tables, entry, now=now)
        self._tables.forget_sessions(scope.project)
        self._tell()
        return Cleared(len(found), self._tables.head if found else 0)

    async def versions(
        self, memory_id: str, *, project: str, below: int | None, limit: int, max_bytes: int
    ) -> Versions:
        """See the port."""
        entry = writing.current(self._tables, memory_id, version=0, project=project)
        now = Version(entry.shown(self._tables.links.of(memory_id)), None)
        every = (now, *self._tables.history.of(memory_id))
        older = (one for one in every if below is None or one.memory.version < below)
        taken, has_more = leading(
            ((one, size_of(one.memory)) for one in older), max_bytes=max_bytes, limit=limit
        )
        return Versions(tuple(taken), has_more)

    async def version(self, memory_id: str, number: int) -> Memory:
        """See the port."""
        for one in self._tables.history.of(memory_id):
            if one.memory.version == number:
                return one.memory
        raise VersionNotFound(memory_id=memory_id, version=number)

    def _to_archive(self, wanted: ToArchive) -> list[Entry]:
        if wanted.ids:
            return [entry for entry in self._named(wanted.ids, wanted.scope.project) if entry.is_active]
        due = (entry for entry in self._tables.inside(wanted.scope) if _is_due(entry, wanted))
        return sorted(due, key=lambda entry: (entry.memory.type, _age_from(entry), entry.id))

    def _to_unarchive(self, wanted: ToUnarchive) -> Iterable[Entry]:
        if wanted.ids:
            return self._named(wanted.ids, wanted.project)
        return self._of_batch(wanted)

    def _of_batch(self, wanted: ToUnarchive) -> list[Entry]:
        entries = (entry for entry in self._tables.entries.values() if entry.is_of(wanted.project))
        return sorted((one for one in entries if one.memory.archive_batch == wanted.batch), key=_arrival)

    def _named(self, ids: Sequence[str], project: str) -> list[Entry]:
        found = self._tables.by_id(ids, project)
        missing = set(ids).difference(entry.id for entry in found)
        if missing:
            raise MemoryNotFound(next(one for one in ids if one in missing))
        return found

    def _put(self, entry: Entry, memory: Memory) -> None:
        revised = memory._replace(revision=self._tables.next_revision())
        self._tables.put(with_changes(entry, memory=revised))
        self._tables.outbox.told(ARCHIVED if revised.state is MemoryState.ARCHIVED else UNARCHIVED, revised)


def _arrival(entry: Entry) -> int:
    return entry.number


def _moment(entry: Entry) -> tuple[int, str]:
    return -entry.effective_at, entry.id


def _age_from(entry: Entry) -> int:
    memory = entry.memory
    return memory.created_at if memory.unarchived_at is None else memory.unarchived_at


def _is_due(entry: Entry, wanted: ToArchive) -> bool:
    until = wanted.until.get(entry.memory.type)
    return entry.is_active and until is not None and _age_from(entry) <= until


def _shelved(entry: Entry) -> Shelved:
    memory = entry.memory
    return Shelved(memory.id, memory.type, memory.costs.verbatim)


def _item(entry: Entry) -> TimelineItem:
    memory = entry.memory
    text = searchable_text(title=memory.title, content=memory.content, component=memory.component)
    title = "" if is_hidden(memory.component) else memory.title
    summary = summary_of(text, title=title)
    return TimelineItem(memory.id, entry.effective_at, memory.type, summary, memory.wing, memory.room)
