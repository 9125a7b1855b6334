"""Causal links: making, removing, listing and following them."""

from dataclasses import dataclass

from satchel.runtime.errors import InvalidRequest
from satchel.store.cursors import decode_token, encode_token
from satchel.store.errors import PageTokenMismatch
from satchel.store.graph import CauseAndEffect, Edge, Linked, Trace, TraceQuery, edge_of
from satchel.store.model import Link, Relation
from satchel.store.ports import MemoryStore
from satchel.store.scope import Place


@dataclass(frozen=True, slots=True)
class EdgePage:
    """Links of one page, and the token of the next; empty at the end, and only there."""

    edges: tuple[Edge, ...]
    next_token: str


class Graphs:
    """Use cases of the causal graph; an empty project means any."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def link(self, pair: CauseAndEffect, relation: Relation, *, project: str) -> Linked:
        """Link two memories of one project.

        Raises:
            MemoryNotFound: one of them is not there, or they are not of one project.
            LinkedBackwards: the effect is the cause of its cause already, by the same relation.
            InvalidRequest: they are the same.
        """
        if pair.cause == pair.effect:
            raise _same_ends()
        return await self._store.graph.link(pair, relation, project=project)

    async def unlink(self, pair: CauseAndEffect, relation: Relation | None, *, project: str) -> int:
        """Remove the links of a relation, else of every one, and return how many there were.

        Raises:
            MemoryNotFound: as `link`.
        """
        return await self._store.graph.unlink(pair, relation, project=project)

    async def links(
        self, memory_id: str, *, project: str, size: int, token: str, arguments: bytes
    ) -> EdgePage:
        """Return the page of a memory's links after ``token``; ``arguments`` say which listing it is.

        Raises:
            MemoryNotFound: it is not there.
            PageTokenMismatch: the token is damaged or of another listing.
        """
        after = _link_at(decode_token(token, arguments)) if token else None
        found = await self._store.graph.links(memory_id, project=project, after=after, limit=size)
        edges = tuple(edge_of(memory_id, link) for link in found.links)
        token = encode_token(_place_of(found.links[-1]), arguments) if found.has_more else ""
        return EdgePage(edges, token)

    async def trace(self, query: TraceQuery) -> Trace:
        """Follow links.

        Raises:
            MemoryNotFound: the start is not there.
        """
        return await self._store.graph.trace(query)


def _place_of(link: Link) -> Place:
    """Return a link's place in the listing as the place that a page token holds."""
    return Place(link.relation * 2 + link.outgoing, link.memory_id)


def _link_at(place: Place) -> Link:
    relation, outgoing = divmod(place.created_at, 2)
    try:
        return Link(place.id, Relation(relation), outgoing == 1)
    except ValueError as error:
        raise PageTokenMismatch from error


def _same_ends() -> InvalidRequest:
    remedy = "Name two memories."
    return InvalidRequest.of(
        "effect_id",
        "ERROR_REASON_FIELDS_CONFLICT",
        f"The fields 'cause_id' and 'effect_id' name the same memory. {remedy}",
        limit="another memory than 'cause_id'",
        remedy=remedy,
    )
