"""The nouns of the index, free of any transport, clock or driver."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatMatrix = NDArray[np.float32]
FloatVector = NDArray[np.float32]
RowNumbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

ACTIVE = 1
"""Number of the state in which a memory is found by default (``MEMORY_STATE_ACTIVE``)."""

DELETED = 3
"""Number of the state of a memory that is gone (``MEMORY_STATE_DELETED``)."""


@dataclass(frozen=True, slots=True)
class Model:
    """Which model made the vectors; two identities are the same if their ``sha256`` are."""

    sha256: str
    dimension: int
    name: str = ""
    revision: str = ""
    max_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one memory; ``vectors`` is (passages, dimension), of unit rows.

    ``deleted`` covers deletions and memories in the deleted state. No vectors mean that the memory cannot
    be found by vector (yet). Times are microseconds since 1970 (UTC).
    """

    revision: int
    memory_id: str
    deleted: bool = False
    project: str = "default"
    wing: str = ""
    room: str = ""
    type: int = 0
    state: int = ACTIVE
    vectors: FloatMatrix | None = None
    model_sha256: str = ""
    effective_us: int = 0
    session_id: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedBatch:
    """One response of the change feed; ``through_revision`` is covered by everything up to it.

    ``store_id`` is the id of the database; empty for unknown. With ``reembedding`` some memories still have
    vectors of another model than ``model``: they come later, as changes.
    """

    changes: tuple[Change, ...]
    head_revision: int
    through_revision: int
    model: Model | None
    store_id: str = ""
    reembedding: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories may be found: conditions joined by AND, values of one by OR, tags by AND.

    Empty means no condition, except ``states``, where it means active only. ``since_us`` is inclusive,
    ``until_us`` exclusive, both in microseconds since 1970 (UTC).
    """

    project: str = "default"
    wings: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    types: tuple[int, ...] = ()
    states: tuple[int, ...] = ()
    session_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since_us: int | None = None
    until_us: int | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """One search; ``vector`` is (dimension,) of unit norm, an empty ``model_sha256`` skips the check."""

    vector: FloatVector
    filter: Filter = field(default_factory=Filter)
    top_k: int = 10
    model_sha256: str = ""
    min_score: float | None = None
    min_revision: int = 0


class Hit(NamedTuple):
    """A memory and its best passage; ``score`` is a cosine in [-1, 1]."""

    memory_id: str
    score: float
    passage: int


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits by descending score, then ascending id, as of ``applied_revision``.

    ``degraded``: another than the index answered, or memories are missing that get other vectors just now.
    """

    hits: tuple[Hit, ...]
    applied_revision: int
    degraded: bool
    model: Model | None


@dataclass(frozen=True, slots=True)
class PartitionCounts:
    """Passages of one wing of one project."""

    project: str
    wing: str
    live: int
    tombstones: int
    graph: bool


@dataclass(frozen=True, slots=True)
class Contents:
    """What the index holds; ``partitions`` most passages first."""

    passages: int = 0
    memories: int = 0
    tombstones: int = 0
    memory_bytes: int = 0
    partitions: tuple[PartitionCounts, ...] = ()
