"""The causal graph in the store's own terms: links, and what they lead to. Pure."""

from dataclasses import dataclass
from typing import NamedTuple

from satchel.store.model import Link, MemoryState, MemoryType, Relation

MOST_TRACED = 500  # memories of a trace, as the contract has it


class CauseAndEffect(NamedTuple):
    """Two memories that are or may be linked."""

    cause: str
    effect: str


class Edge(NamedTuple):
    """A link seen from neither end; ``phrase`` is empty for one that was given."""

    cause: str
    effect: str
    relation: Relation
    phrase: str


class Linked(NamedTuple):
    """A link that is there now, and whether it was made just now."""

    edge: Edge
    created: bool


@dataclass(frozen=True, slots=True)
class LinkSlice:
    """Some links of a memory in the order of the listing, and whether more follow."""

    links: tuple[Link, ...]
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceQuery:
    """Which links to follow from where; an empty project means any, no relations mean all."""

    memory_id: str
    project: str = ""
    max_depth: int
    with_consequences: bool = False
    relations: frozenset[Relation] = frozenset()

    @property
    def followed(self) -> frozenset[Relation]:
        """The relations that are followed."""
        return self.relations or frozenset(Relation)


class Node(NamedTuple):
    """A memory that links lead to; ``via`` is the memory from which it was reached."""

    id: str
    type: MemoryType
    summary: str
    at: int
    wing: str
    room: str
    state: MemoryState
    depth: int
    relation: Relation
    via: str


@dataclass(frozen=True, slots=True)
class Trace:
    """Causes and consequences, each nearest first, and whether there were more than `MOST_TRACED`."""

    causes: tuple[Node, ...]
    consequences: tuple[Node, ...]
    truncated: bool


def edge_of(memory_id: str, link: Link) -> Edge:
    """Return a link of a memory as it is seen from neither end."""
    ends = (memory_id, link.memory_id) if link.outgoing else (link.memory_id, memory_id)
    return Edge(*ends, link.relation, link.phrase)
