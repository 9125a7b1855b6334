"""The port `MemoryStore` on one SQLite file."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Self

from satchel.runtime.background import running
from satchel.runtime.errors import Overloaded, ServiceError
from satchel.runtime.metrics.queues import count_rejection, watch_queue
from satchel.runtime.metrics.scraping import read_at_scrape
from satchel.runtime.telemetry import span
from satchel.store.adapters.sqlite import changing, counting, feed, inserting, reading
from satchel.store.adapters.sqlite.candidates import fetch_candidates
from satchel.store.adapters.sqlite.connection import Connection, Options, ReaderPool, open_connection
from satchel.store.adapters.sqlite.consolidation import SqliteConsolidation
from satchel.store.adapters.sqlite.enrichment import SqliteEnrichment
from satchel.store.adapters.sqlite.exporting import ExportReader
from satchel.store.adapters.sqlite.gauges import show_files
from satchel.store.adapters.sqlite.graph import SqliteGraph
from satchel.store.adapters.sqlite.group_commit import GroupCommit
from satchel.store.adapters.sqlite.identities import SqliteIdentities
from satchel.store.adapters.sqlite.lifecycle import SqliteLifecycle
from satchel.store.adapters.sqlite.migrations import migrate
from satchel.store.adapters.sqlite.reembedding import SqliteReembedding
from satchel.store.adapters.sqlite.requests import recall_answer
from satchel.store.adapters.sqlite.rows import head_of
from satchel.store.adapters.sqlite.sweeping import Sweeper, is_due
from satchel.store.adapters.sqlite.text_search import TextSearch
from satchel.store.adapters.sqlite.vector_search import search_vectors
from satchel.store.adapters.sqlite.webhooks import SqliteWebhooks
from satchel.store.candidates import CandidateQuery, Candidates
from satchel.store.metrics import FILES
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
from satchel.store.snapshots import load_memory, load_stored

_EXPORTS = "store.exports"


class SqliteStore:
    """See `satchel.store.ports.MemoryStore`; `open` makes one."""

    def __init__(
        self,
        *,
        options: Options,
        writer: GroupCommit,
        readers: ReaderPool,
        search: TextSearch,
        sweeper: Sweeper,
        schema_version: int,
        versions_kept: int,
        max_exports: int,
    ) -> None:
        self._options = options
        self._writer = writer
        self._readers = readers
        self._search = search
        self._sweeper = sweeper
        self.identities = SqliteIdentities(writer, readers)
        self.lifecycle = SqliteLifecycle(writer, readers, on_removal=sweeper.note)
        self.webhooks = SqliteWebhooks(writer, readers)
        self.graph = SqliteGraph(writer, readers)
        self.consolidation = SqliteConsolidation(writer, readers)
        self.enrichment = SqliteEnrichment(writer, readers)
        self.reembedding = SqliteReembedding(writer, readers)
        self._schema_version = schema_version
        self._versions_kept = versions_kept
        self._max_exports = max_exports
        self._exports = 0
        self._head = 0
        self._committed = asyncio.Event()
        watch_queue(self, _EXPORTS, limit=max_exports, depth=lambda store: store.exports)

    @property
    def exports(self) -> int:
        """Number of exports under way."""
        return self._exports

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        options: Options,
        *,
        now: int,
        readers: int = 4,
        max_waiting_reads: int = 1024,
        max_waiting_writes: int = 4096,
        max_group: int = 256,
        search_entries: int = 3000,
        versions_kept: int = 20,
        max_exports: int = 4,
        sweep_after_s: float = 600,
    ) -> AsyncIterator[Self]:
        """Open or create the file, bring its schema up to date, and close everything at the end.

        Raises:
            StoreUnavailable: the file cannot be used, or is of a newer version.
        """
        async with AsyncExitStack() as stack:
            writing = await _opened(stack, options, read_only=False)
            version = await writing.run(lambda raw: migrate(raw, now))
            pool = [await _opened(stack, options, read_only=True) for _ in range(readers)]
            writer = GroupCommit(writing, max_waiting=max_waiting_writes, max_group=max_group)
            sweeper = Sweeper(writer, writing, after_s=sweep_after_s)
            store = cls(
                options=options,
                writer=writer,
                readers=ReaderPool(pool, max_waiting_reads),
                search=TextSearch(search_entries),
                sweeper=sweeper,
                schema_version=version,
                versions_kept=versions_kept,
                max_exports=max_exports,
            )
            store._head = await writing.run(head_of)
            if await writing.run(is_due):
                sweeper.note()
            stack.enter_context(read_at_scrape("files", FILES, lambda: show_files(options.path)))
            async with running(writer.serve(store._on_commit), stop=writer.close):
                async with running(sweeper.run()):
                    yield store
                await sweeper.finish()

    def _on_commit(self, revision: int) -> None:
        if revision > self._head:
            self._head = revision
            self._committed.set()
            self._committed = asyncio.Event()

    async def add(self, batch: Sequence[Prepared], *, key: RequestKey | None, now: int) -> tuple[Stored, ...]:
        """See the port."""
        return await self._writer.run(lambda raw: inserting.add_all(raw, batch, key, now))

    async def import_(self, records: Sequence[Prepared]) -> tuple[Stored | ServiceError, ...]:
        """See the port."""
        results = await self._writer.run_all([partial(_import_one, record) for record in records])
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, ServiceError):
                raise result
        return tuple(
            result
            for result in results
            if not isinstance(result, Exception) or isinstance(result, ServiceError)
        )

    async def replace(
        self, memory: Prepared, *, base_version: int, keep_passages: bool, key: RequestKey | None, now: int
    ) -> Memory:
        """See the port."""
        changed = await self._writer.run(
            lambda raw: changing.replace(
                raw,
                memory,
                base_version=base_version,
                keep_passages=keep_passages,
                key=key,
                now=now,
                versions_kept=self._versions_kept,
            )
        )
        self._sweeper.note()
        return changed

    async def keep_unchanged(self, memory_id: str, *, base_version: int, key: RequestKey, now: int) -> Memory:
        """See the port."""
        return await self._writer.run(
            lambda raw: changing.keep_unchanged(raw, memory_id, base_version=base_version, key=key, now=now)
        )

    async def delete(
        self, memory_id: str, *, project: str, expected_version: int, key: RequestKey | None, now: int
    ) -> Deleted:
        """See the port."""
        deleted = await self._writer.run(
            lambda raw: changing.delete(
                raw, memory_id, project=project, expected_version=expected_version, key=key, now=now
            )
        )
        self._sweeper.note()
        return deleted

    async def attach(self, embedded: Sequence[Embedded]) -> Attached:
        """See the port."""
        return await self._writer.run(lambda raw: changing.attach(raw, embedded))

    async def are_stored(self, memories: Sequence[Prepared]) -> tuple[bool, ...]:
        """See the port."""
        return await self._readers.run(
            lambda raw: tuple(inserting.is_stored(raw, memory) for memory in memories)
        )

    async def stored_answer(self, key: RequestKey, now: int) -> tuple[Stored, ...] | None:
        """See the port."""
        answer = await self._readers.run(lambda raw: recall_answer(raw, key, now))
        return None if answer is None else load_stored(answer)

    async def updated_answer(self, key: RequestKey, now: int) -> Memory | None:
        """See the port."""
        answer = await self._readers.run(lambda raw: recall_answer(raw, key, now))
        return None if answer is None else load_memory(answer)

    async def fetch(self, query: FetchQuery) -> Fetched:
        """See the port."""
        with span("satchel.store.fetch", **{"satchel.store.ids": len(query.ids)}):
            return await self._readers.run(lambda raw: reading.fetch(raw, query))

    async def fetch_candidates(self, query: CandidateQuery) -> Candidates:
        """See the port."""
        with span("satchel.store.fetch", **{"satchel.store.ids": len(query.ids)}):
            return await self._readers.run(lambda raw: fetch_candidates(raw, query))

    async def page(self, scope: Scope, *, after: Place | None, limit: int, max_bytes: int) -> Slice:
        """See the port."""
        return await self._readers.run(lambda raw: reading.page(raw, scope, after, limit, max_bytes))

    @asynccontextmanager
    async def export(self, scope: Scope, *, max_bytes: int) -> AsyncIterator[Export]:
        """See the port. An export has a connection of its own, whose snapshot lasts as long as it does."""
        if self._exports >= self._max_exports:
            count_rejection(_EXPORTS)
            raise Overloaded(queue=_EXPORTS, limit=self._max_exports, retry_after_s=5.0)
        self._exports += 1
        try:
            async with AsyncExitStack() as stack:
                connection = await _opened(stack, self._options, read_only=True)
                reader = await connection.run(lambda raw: ExportReader(raw, scope, max_bytes))
                yield Export(reader.total, _export_batches(connection, reader))
        finally:
            self._exports -= 1

    async def pending(self, *, skip: frozenset[str], limit: int) -> tuple[Pending, ...]:
        """See the port."""
        return await self._readers.run(lambda raw: feed.pending(raw, skip, limit))

    async def search_text(self, query: TextQuery) -> TextFound:
        """See the port."""
        with span("satchel.store.search_text", **{"satchel.store.terms": len(query.terms)}):
            return await self._readers.run(lambda raw: self._search.search(raw, query))

    async def search_vectors(self, query: VectorQuery) -> VectorsFound:
        """See the port."""
        with span("satchel.store.search_vectors"):
            return await self._readers.run(lambda raw: search_vectors(raw, query))

    async def changes(
        self, after: int, *, limit: int, max_bytes: int, project: str, with_vectors: bool
    ) -> Changes:
        """See the port."""
        return await self._readers.run(
            lambda raw: feed.changes(
                raw, after, limit=limit, max_bytes=max_bytes, project=project, with_vectors=with_vectors
            )
        )

    async def wait_beyond(self, revision: int) -> None:
        """See the port."""
        while self._head <= revision:
            await self._committed.wait()

    async def status(self, project: str) -> Status:
        """See the port."""
        size = _size_of(self._options)
        return await self._readers.run(
            lambda raw: counting.status(
                raw, project, schema_version=self._schema_version, database_bytes=size
            )
        )


async def _opened(stack: AsyncExitStack, options: Options, *, read_only: bool) -> Connection:
    connection = await open_connection(options, read_only=read_only)
    stack.push_async_callback(connection.close)
    return connection


def _import_one(record: Prepared, raw: sqlite3.Connection) -> Stored:
    return inserting.import_one(raw, record)


async def _export_batches(connection: Connection, reader: ExportReader) -> AsyncIterator[tuple[Memory, ...]]:
    while batch := await connection.run(reader.read):
        yield batch


def _size_of(options: Options) -> int:
    """Return the bytes of the database and of its log on disk."""
    files = (options.path, options.path.with_name(options.path.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
