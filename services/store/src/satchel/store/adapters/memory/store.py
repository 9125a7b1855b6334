"""The port `MemoryStore` over tables in memory.

No method waits before it is done, but for `wait_beyond`: a call sees one state of the store and leaves one.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from satchel.runtime.errors import ServiceError
from satchel.store.adapters.memory import candidates, feed, reading, searching, writing
from satchel.store.adapters.memory.enrichment import InMemoryEnrichment
from satchel.store.adapters.memory.graph import InMemoryGraph
from satchel.store.adapters.memory.identities import InMemoryIdentities
from satchel.store.adapters.memory.lifecycle import InMemoryLifecycle
from satchel.store.adapters.memory.merging import InMemoryConsolidation
from satchel.store.adapters.memory.reembedding import InMemoryReembedding
from satchel.store.adapters.memory.tables import Tables
from satchel.store.adapters.memory.webhooks import InMemoryWebhooks
from satchel.store.candidates import CandidateQuery, Candidates
from satchel.store.model import (
    Changes,
    Deleted,
    Embedded,
    Fetched,
    Memory,
    Pending,
    Prepared,
    RequestKey,
    Slice,
    Status,
    Stored,
)
from satchel.store.ports import Attached, Export, FetchQuery, TextQuery, VectorQuery
from satchel.store.scope import Place, Scope, TextFound, VectorsFound


class InMemoryStore:
    """See `satchel.store.ports.MemoryStore`.

    ``search_entries`` is the number of occurrences that the looser pass of a search by words may look at;
    ``versions_kept`` how many replaced versions of a memory are kept.
    """

    def __init__(self, *, search_entries: int, versions_kept: int) -> None:
        self._tables = Tables(versions_kept=versions_kept)
        self._search_entries = search_entries
        self._changed = asyncio.Event()
        self.identities = InMemoryIdentities(self._tables.requests)
        self.lifecycle = InMemoryLifecycle(self._tables, self._tell)
        self.webhooks = InMemoryWebhooks(self._tables)
        self.graph = InMemoryGraph(self._tables)
        self.consolidation = InMemoryConsolidation(self._tables, self._tell)
        self.enrichment = InMemoryEnrichment(self._tables, self._tell)
        self.reembedding = InMemoryReembedding(self._tables, self._tell)

    async def add(self, batch: Sequence[Prepared], *, key: RequestKey | None, now: int) -> tuple[Stored, ...]:
        """See the port."""
        stored = self._tables.requests.once(key, now, lambda: writing.add_all(self._tables, batch))
        self._tell()
        return stored

    async def import_(self, records: Sequence[Prepared]) -> tuple[Stored | ServiceError, ...]:
        """See the port."""
        answers = tuple(self._import_one(record) for record in records)
        self._tell()
        return answers

    def _import_one(self, record: Prepared) -> Stored | ServiceError:
        try:
            return writing.import_one(self._tables, record)
        except ServiceError as error:
            return error

    async def replace(
        self, memory: Prepared, *, base_version: int, keep_passages: bool, key: RequestKey | None, now: int
    ) -> Memory:
        """See the port."""

        def work() -> Memory:
            writing.replace(
                self._tables, memory, base_version=base_version, keep_passages=keep_passages, now=now
            )
            return self._shown(memory.id)

        changed = self._tables.requests.once(key, now, work, memory_id=memory.id)
        self._tell()
        return changed

    async def keep_unchanged(self, memory_id: str, *, base_version: int, key: RequestKey, now: int) -> Memory:
        """See the port."""

        def work() -> Memory:
            writing.current(self._tables, memory_id, version=base_version)
            return self._shown(memory_id)

        return self._tables.requests.once(key, now, work, memory_id=memory_id)

    async def delete(
        self, memory_id: str, *, project: str, expected_version: int, key: RequestKey | None, now: int
    ) -> Deleted:
        """See the port."""

        def work() -> Deleted:
            return writing.delete(
                self._tables, memory_id, project=project, expected_version=expected_version, now=now
            )

        deleted = self._tables.requests.once(key, now, work)
        self._tell()
        return deleted

    async def attach(self, embedded: Sequence[Embedded]) -> Attached:
        """See the port."""
        attached = writing.attach(self._tables, embedded)
        self._tell()
        return attached

    async def are_stored(self, memories: Sequence[Prepared]) -> tuple[bool, ...]:
        """See the port."""
        return tuple(writing.is_stored(self._tables, memory) for memory in memories)

    async def stored_answer(self, key: RequestKey, now: int) -> tuple[Stored, ...] | None:
        """See the port."""
        answer: tuple[Stored, ...] | None = self._tables.requests.answer(key, now)
        return answer

    async def updated_answer(self, key: RequestKey, now: int) -> Memory | None:
        """See the port."""
        answer: Memory | None = self._tables.requests.answer(key, now)
        return answer

    async def fetch(self, query: FetchQuery) -> Fetched:
        """See the port."""
        return reading.fetch(self._tables, query)

    async def fetch_candidates(self, query: CandidateQuery) -> Candidates:
        """See the port."""
        return candidates.fetch_candidates(self._tables, query)

    async def page(self, scope: Scope, *, after: Place | None, limit: int, max_bytes: int) -> Slice:
        """See the port."""
        return reading.page(self._tables, scope, after, limit, max_bytes)

    @asynccontextmanager
    async def export(self, scope: Scope, *, max_bytes: int) -> AsyncIterator[Export]:
        """See the port."""
        snapshot = reading.Snapshot(self._tables, scope)
        yield Export(snapshot.total, _each(snapshot, max_bytes))

    async def pending(self, *, skip: frozenset[str], limit: int) -> tuple[Pending, ...]:
        """See the port."""
        return reading.pending(self._tables, skip, limit)

    async def search_text(self, query: TextQuery) -> TextFound:
        """See the port."""
        return searching.search_text(self._tables, query, max_entries=self._search_entries)

    async def search_vectors(self, query: VectorQuery) -> VectorsFound:
        """See the port."""
        return searching.search_vectors(self._tables, query)

    async def changes(
        self, after: int, *, limit: int, max_bytes: int, project: str, with_vectors: bool
    ) -> Changes:
        """See the port."""
        return feed.changes(
            self._tables, after, limit=limit, max_bytes=max_bytes, project=project, with_vectors=with_vectors
        )

    async def wait_beyond(self, revision: int) -> None:
        """See the port."""
        while self._tables.head <= revision:
            await self._changed.wait()

    async def status(self, project: str) -> Status:
        """See the port."""
        return reading.status(self._tables, project)

    def _shown(self, memory_id: str) -> Memory:
        return self._tables.entries[memory_id].shown(self._tables.links.of(memory_id))

    def _tell(self) -> None:
        """Wake those who wait for a revision."""
        self._changed.set()
        self._changed = asyncio.Event()


async def _each(snapshot: reading.Snapshot, max_bytes: int) -> AsyncIterator[tuple[Memory, ...]]:
    for batch in snapshot.batches(max_bytes):
        yield batch
