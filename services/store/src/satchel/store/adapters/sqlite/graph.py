"""The port `GraphStore` on one SQLite file."""

from functools import partial

from satchel.store.adapters.sqlite import tracing
from satchel.store.adapters.sqlite.connection import ReaderPool
from satchel.store.adapters.sqlite.group_commit import GroupCommit
from satchel.store.graph import CauseAndEffect, Linked, LinkSlice, Trace, TraceQuery
from satchel.store.model import Link, Relation


class SqliteGraph:
    """See `satchel.store.graph_ports.GraphStore`."""

    def __init__(self, writer: GroupCommit, readers: ReaderPool) -> None:
        self._writer = writer
        self._readers = readers

    async def link(self, pair: CauseAndEffect, relation: Relation, *, project: str) -> Linked:
        """See the port."""
        return await self._writer.run(partial(tracing.link, pair=pair, relation=relation, project=project))

    async def unlink(self, pair: CauseAndEffect, relation: Relation | None, *, project: str) -> int:
        """See the port."""
        return await self._writer.run(partial(tracing.unlink, pair=pair, relation=relation, project=project))

    async def links(self, memory_id: str, *, project: str, after: Link | None, limit: int) -> LinkSlice:
        """See the port."""
        return await self._readers.run(
            partial(tracing.links, memory_id=memory_id, project=project, after=after, limit=limit)
        )

    async def trace(self, query: TraceQuery) -> Trace:
        """See the port."""
        return await self._readers.run(partial(tracing.trace, query=query))
