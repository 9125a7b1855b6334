"""Candidates of a recall: what it needs of many memories, in columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from satchel.store.model import MemoryType
from satchel.store.scope import Scope


@dataclass(frozen=True, slots=True)
class CandidateQuery:
    """Which candidates to fetch.

    ``neighbors`` active memories on either side of each of the first ``neighbors_of_first`` ids (0: of all)
    come too, and with ``with_codes`` the codes of the passages' tokens. No more than about ``max_bytes`` of
    texts, vectors and codes are fetched.
    """

    ids: tuple[str, ...]
    scope: Scope
    neighbors: int
    neighbors_of_first: int
    max_bytes: int
    with_codes: bool = False


@dataclass(slots=True)
class Candidates:
    """Columns with one entry for each memory: the first ``asked_count`` asked for, then neighbours.

    ``created`` and ``effective`` are microseconds since 1970. ``spans`` packs little-endian int32 pairs and
    ``vectors`` little-endian float32 rows, for all passages in order; so do ``code_counts`` with an int32 and
    ``codes``, but both are empty unless codes were asked for. ``links`` has the ids that a memory is
    linked to, by its place. ``remaining`` are the ids that did not fit.
    """

    asked_count: int = 0
    ids: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()
    fingerprints: tuple[str, ...] = ()
    wings: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    session_ids: tuple[str, ...] = ()
    session_orders: tuple[int, ...] = ()
    types: tuple[MemoryType, ...] = ()
    created: tuple[int, ...] = ()
    effective: tuple[int, ...] = ()
    occurred: tuple[int, ...] = ()
    versions: tuple[int, ...] = ()
    token_counts: tuple[int, ...] = ()
    fact_counts: tuple[int, ...] = ()
    in_filter: list[bool] = field(default_factory=list)
    passage_counts: list[int] = field(default_factory=list)
    spans: bytes = b""
    vectors: bytes = b""
    dimension: int = 0
    code_counts: bytes = b""
    codes: bytes = b""
    links: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    remaining: tuple[str, ...] = ()
