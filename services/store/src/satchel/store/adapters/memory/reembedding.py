"""The port `ReembeddingStore` over tables in memory."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace as with_changes

from satchel.store.adapters.memory.entries import Entry
from satchel.store.adapters.memory.reading import to_pending
from satchel.store.adapters.memory.tables import Tables
from satchel.store.model import Embedded, ModelIdentity, Passages, Pending
from satchel.store.reembedding_ports import VectorCounts


class InMemoryReembedding:
    """See `satchel.store.reembedding_ports.ReembeddingStore`; ``tell`` is called after every change."""

    def __init__(self, tables: Tables, tell: Callable[[], None]) -> None:
        self._tables = tables
        self._tell = tell
        self._total = 0
        self._begun_at: int | None = None
        self._finished_at: int | None = None

    async def begin(self, model: ModelIdentity, *, now: int) -> None:
        """See the port."""
        in_use = self._tables.model
        if in_use is None or in_use.sha256 == model.sha256:
            return
        self._tables.use(model)
        self._total, self._begun_at, self._finished_at = len(self._tables.outdated), now, None
        self._tables.next_revision()
        self._tell()

    async def outdated(self, *, limit: int, max_code_points: int) -> tuple[Pending, ...]:
        """See the port."""
        found = (self._tables.entries[memory_id] for memory_id in self._tables.outdated)
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
            self._put(one.id, one.version, one.passages)
        self._tell()
        return True

    async def give_up(self, memory_id: str, *, version: int) -> None:
        """See the port."""
        self._put(memory_id, version, None)
        self._tell()

    async def finish(self, *, now: int) -> bool:
        """See the port."""
        if self._tables.outdated:
            return False
        if self._is_open:
            self._finished_at = now
            self._tables.next_revision()
            self._tell()
        return True

    async def counts(self) -> VectorCounts:
        """See the port."""
        without = sum(entry.passages is None for entry in self._tables.entries.values())
        return VectorCounts(
            model=self._tables.model,
            outdated=len(self._tables.outdated),
            pending=without - len(self._tables.outdated),
            total=self._total,
            begun_at=self._begun_at,
            finished_at=self._finished_at,
            is_open=self._is_open,
        )

    @property
    def _is_open(self) -> bool:
        return self._begun_at is not None and self._finished_at is None

    def _put(self, memory_id: str, version: int, passages: Passages | None) -> None:
        entry = self._outdated(memory_id, version)
        if entry is None:
            return
        del self._tables.outdated[memory_id]
        changed = self._tables.set_passages(entry, passages)
        memory = changed.memory._replace(revision=self._tables.next_revision())
        self._tables.put(with_changes(changed, memory=memory))

    def _outdated(self, memory_id: str, version: int) -> Entry | None:
        entry = self._tables.entries.get(memory_id)
        is_there = entry is not None and entry.memory.version == version
        return entry if is_there and memory_id in self._tables.outdated else None
