"""Memories by id, by page and for an export, and the counts of them all."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator

from satchel.store.adapters.memory.entries import Entry
from satchel.store.adapters.memory.sessions import Sessions
from satchel.store.adapters.memory.sizing import leading, memory_bytes
from satchel.store.adapters.memory.tables import Tables
from satchel.store.model import Fetched, Memory, MemoryState, Pending, Slice, Status, StoredVectors
from satchel.store.ports import FetchQuery
from satchel.store.preparing import searchable_text
from satchel.store.scope import Place, Scope

_BATCH = 200  # memories of a batch of an export
_WINGS = 20


def fetch(tables: Tables, query: FetchQuery) -> Fetched:
    """Return memories by id with what the query asks for beside them, as far as they fit."""
    wanted = tuple(dict.fromkeys(query.ids))
    there = tables.by_id(wanted, query.project)
    sessions = Sessions(tables.entries.values() if query.neighbors else ())
    sized = (
        (entry, _bytes_of(tables, [entry, *sessions.beside(entry, query.neighbors)], query))
        for entry in there
    )
    found, is_cut = leading(sized, max_bytes=query.max_bytes, limit=len(there))
    near = sessions.around(found, query.neighbors)
    looked_at = wanted.index(there[len(found)].id) if is_cut else len(wanted)
    known = {entry.id for entry in found}
    vectors = _vectors([*found, *near]) if query.with_vectors else ()
    return Fetched(
        _shown(tables, found, query),
        tuple(memory_id for memory_id in wanted[:looked_at] if memory_id not in known),
        _shown(tables, near, query),
        vectors,
        tables.model.dimension if vectors and tables.model is not None else 0,
        wanted[looked_at:],
    )


def _bytes_of(tables: Tables, entries: Iterable[Entry], query: FetchQuery) -> int:
    return sum(
        memory_bytes(entry, tables.links.count_of(entry.id), with_vectors=query.with_vectors)
        for entry in entries
    )


def _shown(tables: Tables, entries: Iterable[Entry], query: FetchQuery) -> tuple[Memory, ...]:
    return tuple(entry.shown(tables.links.of(entry.id), with_details=query.with_details) for entry in entries)


def _vectors(entries: Iterable[Entry]) -> tuple[StoredVectors, ...]:
    return tuple(
        StoredVectors(entry.id, entry.passages.spans, entry.passages.vectors)
        for entry in entries
        if entry.passages is not None
    )


def page(tables: Tables, scope: Scope, after: Place | None, limit: int, max_bytes: int) -> Slice:
    """Return a page of memories by descending creation time, then ascending id."""

    def place(entry: Entry) -> tuple[int, str]:
        return -entry.memory.created_at, entry.id

    inside = tables.inside(scope)
    if after is not None:
        inside = (entry for entry in inside if place(entry) > (-after.created_at, after.id))
    first = heapq.nsmallest(limit + 1, inside, key=place)
    taken, has_more = leading(
        ((entry, memory_bytes(entry, tables.links.count_of(entry.id))) for entry in first),
        max_bytes=max_bytes,
        limit=limit,
    )
    return Slice(tuple(entry.shown(tables.links.of(entry.id)) for entry in taken), has_more)


class Snapshot:
    """The memories of a scope as they are now, for an export that goes on while the store changes."""

    def __init__(self, tables: Tables, scope: Scope) -> None:
        inside = sorted(tables.inside(scope), key=lambda entry: (entry.memory.created_at, entry.id))
        self._left = [
            (entry.shown(tables.links.of(entry.id)), memory_bytes(entry, tables.links.count_of(entry.id)))
            for entry in inside
        ]
        self.total = len(inside)

    def batches(self, max_bytes: int) -> Iterator[tuple[Memory, ...]]:
        """Yield the memories by ascending creation time and id, as many at once as fit."""
        while self._left:
            taken, _ = leading(self._left, max_bytes=max_bytes, limit=_BATCH)
            del self._left[: len(taken)]
            yield tuple(taken)


def pending(tables: Tables, skip: frozenset[str], limit: int) -> tuple[Pending, ...]:
    """Return memories that have no vectors, oldest first."""
    left_out = skip | tables.outdated.keys()
    waiting = (one for one in tables.entries.values() if one.passages is None and one.id not in left_out)
    return tuple(map(to_pending, heapq.nsmallest(limit, waiting, key=lambda entry: entry.number)))


def to_pending(entry: Entry) -> Pending:
    """Return a memory with the text that is to be embedded."""
    memory = entry.memory
    text = searchable_text(title=memory.title, content=memory.content, component=memory.component)
    return Pending(entry.id, memory.version, text)


def status(tables: Tables, project: str) -> Status:
    """Count what there is; there is no schema and no file."""
    memories = [entry.memory for entry in tables.entries.values() if entry.is_of(project)]
    outdated = [tables.outdated[memory.id].count for memory in memories if memory.id in tables.outdated]
    linked, links = tables.links.count(memory.id for memory in memories)
    by_wing = sorted(Counter(memory.wing for memory in memories).items(), key=lambda one: (-one[1], one[0]))
    return Status(
        memories=len(memories),
        archived=sum(memory.state is MemoryState.ARCHIVED for memory in memories),
        passages=sum(memory.passage_count for memory in memories) + sum(outdated),
        pending=sum(memory.passage_count == 0 for memory in memories) - len(outdated),
        tokens=sum(memory.costs.verbatim for memory in memories),
        linked_memories=linked,
        links=links,
        by_type=Counter(memory.type for memory in memories),
        wings=tuple(wing for wing, _ in by_wing[:_WINGS]),
        head=tables.head,
        schema_version=0,
        database_bytes=0,
        model=tables.model,
        outdated=len(outdated),
    )
