"""What ranking is given: memories as columns, and how they were found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.model import Vectors


@dataclass(frozen=True, slots=True)
class Located:
    """Memories with what ranking needs of them, as columns: one entry a memory in each.

    ``vectors`` is (passages, dimension) of unit norm, and ``owners`` the index of the memory that each row
    belongs to, rows of one memory next to each other. ``eligible`` is false for one that lends to its
    neighbours but is not shown; `None` when all are shown. The ``texts`` tell distinct facts apart.
    """

    ids: Sequence[str]
    sessions: Sequence[str]
    orders: Sequence[int]
    vectors: Vectors
    owners: NDArray[np.int64]
    texts: Sequence[str]
    eligible: Sequence[bool] | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """How the memories were found, by id. An empty ``lexical`` is fine; `None` means nobody searched."""

    query: Vectors | None
    dense_ranks: Mapping[str, int] = field(default_factory=dict)
    lexical: Mapping[str, float] | None = None
    tags: Mapping[str, int] = field(default_factory=dict)
