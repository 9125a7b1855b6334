"""The port `ReembeddingStore` over tables in memory."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace as with_changes

from satchel.store.adapters.memory.entries import Entry
from satchel.store.adapters.memory.reading import to_pending
from satchel.store.adapters.memory.tables import Tables
from satchel.store.model import Embedded, ModelIdentity, Passages, Pending
from satchel.store.reembedding_ports import VectorCounts

_INT_BYTES = 4


class InMemoryReembedding:
    """See `satchel.store.reembedding_ports.ReembeddingStore`; ``tell`` is called after every change."""

    def __init__(self, tables: Tables, tell: Callable[[], None]) -> None:
        self._tables = tables
        self._tell = tell
        self._run = VectorCounts(model=None, outdated=0, pending=0, uncoded=0)

    async def begin(self, model: ModelIdentity, *, with_codes: bool, now: int) -> None:
        """See the port."""
        tables, run = self._tables, self._run
        if tables.model is None:
            return
        if tables.model.sha256 != model.sha256:
            tables.use(model)
            tables.next_revision()
            self._tell()
        elif (run.is_open and run.with_codes >= with_codes) or not self._is_left(with_codes=with_codes):
            return
        total = len(tables.outdated) + (len(self._uncoded()) if with_codes else 0)
        self._run = VectorCounts(
            model=None, outdated=0, pending=0, uncoded=0, total=total, begun_at=now, with_codes=with_codes
        )

    async def outdated(self, *, limit: int, max_code_points: int) -> tuple[Pending, ...]:
        """See the port."""
        found = [self._tables.entries[memory_id] for memory_id in self._tables.outdated]
        if not found and self._run.with_codes:
            found = self._uncoded()
        taken: list[Pending] = []
        for one in map(to_pending, heapq.nsmallest(limit, found, key=lambda entry: entry.number)):
            max_code_points -= len(one.text)
            if taken and max_code_points < 0:
                break
            taken.append(one)
        return tuple(taken)

    async def renew(self, embedded: Sequence[Embedded]) -> bool:
        """See the port."""
        in_use = self._tables.model
        if in_use is None or any(one.passages.model.sha256 != in_use.sha256 for one in embedded):
            return in_use is None
        for one in embedded:
            entry = self._to_be_done(one.id, one.version)
            if entry is not None:
                self._put(entry, one.passages)
        if not all(one.passages.code_counts for one in embedded):
            self._run = with_changes(self._run, with_codes=False)
        self._tell()
        return True

    async def give_up(self, memory_id: str, *, version: int) -> None:
        """See the port."""
        entry = self._to_be_done(memory_id, version)
        if entry is None:
            return
        if entry.passages is None:
            self._put(entry, None)
            self._tell()
        else:
            none = bytes(_INT_BYTES * entry.passages.count)
            self._tables.set_passages(entry, with_changes(entry.passages, code_counts=none))

    async def finish(self, *, now: int) -> bool:
        """See the port."""
        if self._is_left(with_codes=self._run.with_codes):
            return not self._run.is_open
        if self._run.begun_at is not None and self._run.finished_at is None:
            self._run = with_changes(self._run, finished_at=now)
            self._tables.next_revision()
            self._tell()
        return True

    async def cancel(self, *, now: int) -> None:
        """See the port."""
        if self._run.is_open:
            self._run = with_changes(self._run, cancelled_at=now)

    async def counts(self, project: str = "") -> VectorCounts:
        """See the port."""
        own = [entry for entry in self._tables.entries.values() if entry.is_of(project)]
        outdated = sum(entry.id in self._tables.outdated for entry in own)
        return with_changes(
            self._run,
            model=self._tables.model,
            outdated=outdated,
            pending=sum(entry.passages is None for entry in own) - outdated,
            uncoded=sum(entry.is_of(project) for entry in self._uncoded()),
            total=0 if project else self._run.total,
        )

    def _is_left(self, *, with_codes: bool) -> bool:
        return bool(self._tables.outdated) or (with_codes and bool(self._uncoded()))

    def _uncoded(self) -> list[Entry]:
        entries = self._tables.entries.values()
        return [one for one in entries if one.passages is not None and not one.passages.code_counts]

    def _put(self, entry: Entry, passages: Passages | None) -> None:
        self._tables.outdated.pop(entry.id, None)
        changed = self._tables.set_passages(entry, passages)
        memory = changed.memory._replace(revision=self._tables.next_revision())
        self._tables.put(with_changes(changed, memory=memory))

    def _to_be_done(self, memory_id: str, version: int) -> Entry | None:
        entry = self._tables.entries.get(memory_id)
        if entry is None or entry.memory.version != version:
            return None
        lacks_codes = entry.passages is not None and not entry.passages.code_counts
        return entry if lacks_codes or memory_id in self._tables.outdated else None
