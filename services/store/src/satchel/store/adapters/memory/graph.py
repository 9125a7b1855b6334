"""The port `GraphStore` over tables in memory."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import islice

from satchel.store.adapters.memory import writing
from satchel.store.adapters.memory.entries import Entry
from satchel.store.adapters.memory.tables import Tables
from satchel.store.causality.walking import Reached, Step, walk
from satchel.store.errors import LinkedBackwards
from satchel.store.graph import (
    MOST_TRACED,
    CauseAndEffect,
    Edge,
    Linked,
    LinkSlice,
    Node,
    Trace,
    TraceQuery,
)
from satchel.store.model import Link, Relation
from satchel.store.preparing import is_hidden, searchable_text
from satchel.store.summaries import summary_of


class InMemoryGraph:
    """See `satchel.store.graph_ports.GraphStore`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def link(self, pair: CauseAndEffect, relation: Relation, *, project: str) -> Linked:
        """See the port."""
        self._check(pair, project)
        if self._tables.links.has(pair.effect, Link(pair.cause, relation, outgoing=True)):
            raise LinkedBackwards(cause_id=pair.cause, effect_id=pair.effect)
        created = self._tables.links.add(pair.cause, Link(pair.effect, relation, outgoing=True))
        return Linked(Edge(*pair, relation, ""), created)

    async def unlink(self, pair: CauseAndEffect, relation: Relation | None, *, project: str) -> int:
        """See the port."""
        self._check(pair, project)
        found = [
            link
            for link in self._tables.links.every(pair.cause)
            if link.outgoing and link.memory_id == pair.effect and relation in (None, link.relation)
        ]
        self._tables.links.remove(pair.cause, found)
        return len(found)

    async def links(self, memory_id: str, *, project: str, after: Link | None, limit: int) -> LinkSlice:
        """See the port."""
        writing.current(self._tables, memory_id, version=0, project=project)
        every = self._tables.links.every(memory_id)
        rest = (link for link in every if after is None or link[:3] > after[:3])
        found = tuple(islice(rest, limit + 1))
        return LinkSlice(found[:limit], len(found) > limit)

    async def trace(self, query: TraceQuery) -> Trace:
        """See the port."""
        writing.current(self._tables, query.memory_id, version=0, project=query.project)
        back = self._walk(query, limit=MOST_TRACED, forth=False)
        if not query.with_consequences:
            return Trace(back[0], (), back[1])
        forth = self._walk(query, limit=MOST_TRACED - len(back[0]), forth=True)
        return Trace(back[0], forth[0], back[1] or forth[1])

    def _check(self, pair: CauseAndEffect, project: str) -> None:
        cause = writing.current(self._tables, pair.cause, version=0, project=project)
        writing.current(self._tables, pair.effect, version=0, project=cause.project)

    def _walk(self, query: TraceQuery, *, limit: int, forth: bool) -> tuple[tuple[Node, ...], bool]:
        look = partial(self._steps, query.followed, forth)
        found = walk(query.memory_id, look, max_depth=query.max_depth, limit=limit)
        return self._nodes(found.reached), found.truncated

    def _steps(self, relations: frozenset[Relation], forth: bool, ids: Collection[str]) -> Iterator[Step]:  # noqa: FBT001  # bound by name's place
        for via in ids:
            for link in self._tables.links.every(via):
                if link.outgoing == forth and link.relation in relations:
                    other = self._tables.entries[link.memory_id]
                    yield Step(other.effective_at, other.id, link.relation, via)

    def _nodes(self, reached: Sequence[Reached]) -> tuple[Node, ...]:
        return tuple(_node(self._tables.entries[one.id], one) for one in reached)


def _node(entry: Entry, reached: Reached) -> Node:
    memory = entry.memory
    text = searchable_text(title=memory.title, content=memory.content, component=memory.component)
    title = "" if is_hidden(memory.component) else memory.title
    return Node(
        id=entry.id,
        type=memory.type,
        summary=summary_of(text, title=title),
        at=entry.effective_at,
        wing=memory.wing,
        room=memory.room,
        state=memory.state,
        depth=reached.depth,
        relation=reached.relation,
        via=reached.via,
    )
