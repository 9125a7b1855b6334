"""What a search or a listing may see, and what it asks for."""

from dataclasses import dataclass
from typing import NamedTuple

from satchel.store.model import MemoryState, MemoryType, ModelIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Conditions joined by AND, the values of one by OR; an empty one, also an empty project, sets none.

    ``tags`` must all be there. ``since`` (inclusive) and ``until`` (exclusive) compare with when it
    happened, else when it was stored.
    """

    project: str = "default"
    wings: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    types: tuple[MemoryType, ...] = ()
    states: tuple[MemoryState, ...] = (MemoryState.ACTIVE,)
    session_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None

    @property
    def is_wide(self) -> bool:
        """Whether it asks for nothing but a project and states, so that most memories are likely in it."""
        narrow = (self.wings, self.rooms, self.types, self.session_ids, self.tags)
        return not any(narrow) and self.since is None and self.until is None


class TextHit(NamedTuple):
    """A memory found by words; ``score`` is above 0, greater is better."""

    memory_id: str
    score: float
    all_words: bool


class TagHit(NamedTuple):
    """A memory found by tags, and how many words of the query are among them."""

    memory_id: str
    matches: int


@dataclass(frozen=True, slots=True)
class TextFound:
    """Hits by words (best first, then by id) and by tags (most matches first, then by id)."""

    hits: tuple[TextHit, ...]
    tag_hits: tuple[TagHit, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A memory found by its vector: cosine in [-1, 1] of its best passage, and that passage's number."""

    memory_id: str
    score: float
    passage: int


@dataclass(frozen=True, slots=True)
class VectorsFound:
    """Hits by descending score, then id; ``model`` is `None` while the store holds no vectors."""

    hits: tuple[VectorHit, ...]
    revision: int
    model: ModelIdentity | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ends: the creation time and id of its last memory."""

    created_at: int
    id: str
