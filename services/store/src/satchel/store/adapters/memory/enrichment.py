"""The port `EnrichmentStore` over tables in memory."""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import replace as with_changes

from satchel.store.adapters.memory.entries import Entry
from satchel.store.adapters.memory.tables import Tables
from satchel.store.enrichment_ports import Enriched, Unread
from satchel.store.model import Sensitivity


class InMemoryEnrichment:
    """See `satchel.store.enrichment_ports.EnrichmentStore`; ``tell`` is called after every change."""

    def __init__(self, tables: Tables, tell: Callable[[], None]) -> None:
        self._tables = tables
        self._tell = tell

    async def unread(self, *, limit: int) -> Unread:
        """See the port."""
        oldest = heapq.nsmallest(limit, self._unread(""), key=lambda entry: entry.number)
        return Unread(tuple(entry.memory for entry in oldest), self._tables.head)

    async def enrich(self, enriched: Enriched) -> bool:
        """See the port."""
        entry = self._tables.entries.get(enriched.id)
        if entry is None or entry.memory.version != enriched.version or not _is_unread(entry):
            return False
        memory = entry.memory._replace(
            fingerprint=enriched.fingerprint,
            fact_count=enriched.fact_count,
            costs=entry.memory.costs._replace(fingerprint=enriched.fingerprint_tokens),
            revision=self._tables.next_revision(),
        )
        self._tables.put(with_changes(entry, memory=memory, is_read=True))
        self._tell()
        return True

    async def settle(self, memory_id: str, *, version: int) -> None:
        """See the port."""
        entry = self._tables.entries.get(memory_id)
        if entry is not None and entry.memory.version == version:
            self._tables.entries[memory_id] = with_changes(entry, is_read=True)

    async def unread_count(self, project: str) -> int:
        """See the port."""
        return sum(1 for _ in self._unread(project))

    def _unread(self, project: str) -> Iterator[Entry]:
        return (
            entry for entry in self._tables.entries.values() if entry.is_of(project) and _is_unread(entry)
        )


def _is_unread(entry: Entry) -> bool:
    is_shown = entry.is_active and not entry.hidden and entry.memory.sensitivity is not Sensitivity.HIGH
    return is_shown and not entry.is_read
