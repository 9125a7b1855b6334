"""What the engine asks of a database about causes and effects, in the store's own terms."""

from typing import Protocol

from satchel.store.graph import CauseAndEffect, Linked, LinkSlice, Trace, TraceQuery
from satchel.store.model import Link, Relation


class GraphStore(Protocol):
    """A part of `satchel.store.ports.MemoryStore`, to which the same errors and promises apply."""

    async def link(self, pair: CauseAndEffect, relation: Relation, *, project: str) -> Linked:
        """Link two memories of one project; an empty project means any. A found link becomes a given one.

        Raises:
            MemoryNotFound: one of them is not there, or they are not of one project.
            LinkedBackwards: the effect is the cause of its cause already, by the same relation.
        """
        ...

    async def unlink(self, pair: CauseAndEffect, relation: Relation | None, *, project: str) -> int:
        """Remove the links of a relation, else of every one, and return how many there were.

        Raises:
            MemoryNotFound: as `link`.
        """
        ...

    async def links(self, memory_id: str, *, project: str, after: Link | None, limit: int) -> LinkSlice:
        """Return links of a memory, sorted by the other id, relation and direction, from after one.

        Raises:
            MemoryNotFound: it is not there.
        """
        ...

    async def trace(self, query: TraceQuery) -> Trace:
        """Follow links in one state of the store, as `satchel.store.causality.walking.walk` does.

        Raises:
            MemoryNotFound: the start is not there.
        """
        ...
