"""The port `ConsolidationStore` over tables in memory."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace as with_changes

import numpy as np

from satchel.store.adapters.memory import writing
from satchel.store.adapters.memory.entries import Entry
from satchel.store.adapters.memory.tables import Tables
from satchel.store.consolidation.clustering import mean_vector
from satchel.store.consolidation_ports import Comparable, Merge
from satchel.store.errors import MemoryNotFound, VersionMismatch
from satchel.store.model import MemoryState, Stored
from satchel.store.scope import Scope


class InMemoryConsolidation:
    """See `satchel.store.consolidation_ports.ConsolidationStore`; ``tell`` is called after every change."""

    def __init__(self, tables: Tables, tell: Callable[[], None]) -> None:
        self._tables = tables
        self._tell = tell

    async def comparable(self, scope: Scope, *, limit: int) -> Comparable:
        """See the port."""
        inside = filter(_is_comparable, self._tables.inside(scope))
        newest = heapq.nsmallest(limit, inside, key=lambda entry: (-entry.effective_at, entry.id))
        vectors = [
            mean_vector(entry.passages.vectors, entry.passages.model.dimension)
            for entry in newest
            if entry.passages is not None
        ]
        together = np.stack(vectors) if vectors else np.empty((0, 0), np.float32)
        return Comparable(tuple(entry.id for entry in newest), together)

    async def merge(self, merges: Sequence[Merge], *, batch: str, now: int) -> tuple[Stored, ...]:
        """See the port."""
        for source in (source for one in merges for source in one.sources):
            self._check(source.id, source.version)
        stored = tuple(self._merge(one, batch) for one in merges)
        for one in merges:
            for source in one.sources:
                archive(self._tables, self._tables.entries[source.id], batch=batch, now=now)
        self._tell()
        return stored

    def _check(self, memory_id: str, version: int) -> None:
        try:
            entry = writing.current(self._tables, memory_id, version=version)
        except MemoryNotFound as error:
            raise VersionMismatch(memory_id=memory_id, expected=version, actual=0) from error
        if not entry.is_active:
            raise VersionMismatch(memory_id=memory_id, expected=version, actual=0)

    def _merge(self, merge: Merge, batch: str) -> Stored:
        stored = writing.insert(self._tables, merge.memory)
        links = self._tables.links
        sources = {source.id for source in merge.sources}
        for source in sorted(sources):
            for link in tuple(links.every(source)):
                if link.memory_id not in sources and link.memory_id != stored.id:
                    links.add(stored.id, link)
        self._tables.merged.setdefault(batch, []).append(stored.id)
        return stored


def archive(tables: Tables, entry: Entry, *, batch: str, now: int) -> None:
    """Archive a memory under a batch, at the next revision."""
    memory = entry.memory._replace(
        state=MemoryState.ARCHIVED, archived_at=now, archive_batch=batch, revision=tables.next_revision()
    )
    tables.put(with_changes(entry, memory=memory))


def archive_merged(tables: Tables, batch: str, project: str, *, now: int) -> None:
    """Archive what memories of a batch became, each under its own id as that of the batch."""
    merged = tables.merged.get(batch, [])
    found = tables.by_id(merged, project)
    tables.merged[batch] = [one for one in merged if one not in {entry.id for entry in found}]
    for entry in found:
        if entry.is_active:
            archive(tables, entry, batch=entry.id, now=now)


def _is_comparable(entry: Entry) -> bool:
    plain = entry.memory.component is None and entry.identity.path_key is None
    return plain and entry.passages is not None
