"""What becomes of memories in time, in the store's own terms: timeline, archive, clearing, versions. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from satchel.store.model import Memory, MemoryType
from satchel.store.preparing import as_new
from satchel.store.scope import Scope

MOST_IDS = 10_000  # that an answer lists, as the contract has it
_SAID = (
    "content", "wing", "room", "type", "tags", "metadata", "title", "summary", "path", "component", "source",
    "sensitivity", "occurred_at",
)  # fmt: skip
_FIXED_BYTES = 2048  # of a memory in a message: ids, places, times, title and what else is short
_LINK_BYTES = 64
_METADATA_SHARE = 6  # "0," as JSON takes 11 bytes as a value of a google.protobuf.Struct


class TimelineItem(NamedTuple):
    """A memory in the order of time; ``at`` is when it happened, else when it was stored."""

    id: str
    at: int
    type: MemoryType
    summary: str
    wing: str
    room: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """Some items, newest first, then by id, and whether more follow."""

    items: tuple[TimelineItem, ...]
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToArchive:
    """Active memories to archive: those of ``ids`` (an empty project means any), else by type and age.

    By age: those of ``scope`` whose type is in ``until`` and whose age counts from that time or an earlier
    one: from their return from the archive, else from when they were stored.
    """

    scope: Scope
    ids: tuple[str, ...] = ()
    until: Mapping[MemoryType, int]


@dataclass(frozen=True, slots=True)
class ToUnarchive:
    """Archived memories to bring back: those of ``ids``, else of ``batch``; an empty project means any."""

    project: str
    ids: tuple[str, ...] = ()
    batch: str = ""


class Shelved(NamedTuple):
    """One memory that was archived or brought back."""

    id: str
    type: MemoryType
    tokens: int


@dataclass(frozen=True, slots=True)
class Moved:
    """Memories that were archived or brought back: some of their ids, sorted, and the counts of all.

    ``revision`` is that of the store in which they all are; 0 when there were none.
    """

    ids: tuple[str, ...] = ()
    count: int = 0
    by_type: Mapping[MemoryType, int] | None = None
    tokens: int = 0
    revision: int = 0

    def count_of(self, kind: MemoryType) -> int:
        """Return how many of them have a type."""
        return (self.by_type or {}).get(kind, 0)


def moved(shelved: Iterable[Shelved], revision: int) -> Moved:
    """Count memories that were archived or brought back."""
    ids, by_type, count, tokens = list[str](), dict[MemoryType, int](), 0, 0
    for one in shelved:
        if count < MOST_IDS:
            ids.append(one.id)
        count += 1
        tokens += one.tokens
        by_type[one.type] = by_type.get(one.type, 0) + 1
    return Moved(tuple(sorted(ids)), count, by_type, tokens, revision if count else 0)


@dataclass(frozen=True, slots=True)
class Cleared:
    """How many memories were deleted, and the revision of the store without them; 0 when there were none."""

    count: int
    revision: int


class Version(NamedTuple):
    """A memory as it was; ``replaced_at`` is `None` for what it is now."""

    memory: Memory
    replaced_at: int | None


@dataclass(frozen=True, slots=True)
class Versions:
    """Some versions of a memory, newest first, and whether older ones follow."""

    versions: tuple[Version, ...]
    has_more: bool


def said_by(memory: Memory) -> dict[str, object]:
    """Return what a version of a memory says, by the names of `NewMemory`: all that an update may change."""
    new = as_new(memory)
    return {name: getattr(new, name) for name in _SAID}


def size_of(memory: Memory) -> int:
    """Return a bound of the bytes that a memory takes in a message."""
    texts = (memory.summary, memory.content, memory.fingerprint, *memory.tags, *memory.given_tags)
    fields = () if memory.component is None else map(str, memory.component.fields.values())
    return (
        _FIXED_BYTES
        + _LINK_BYTES * len(memory.links)
        + sum(map(_text_bytes, texts))
        + sum(map(_text_bytes, fields))
        + _METADATA_SHARE * _text_bytes(memory.metadata)
    )


def _text_bytes(text: str) -> int:
    """Return a bound of the bytes of a text as UTF-8, with what precedes it in a message."""
    return 8 + (len(text) if text.isascii() else 4 * len(text))
