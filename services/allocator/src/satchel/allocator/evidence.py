"""What ranking is given: memories as columns, and how they were found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.late_interaction import Codes, no_codes
from satchel.allocator.model import Vectors


@dataclass(frozen=True, slots=True)
class Located:
    """Memories with what ranking needs of them, as columns: one entry a memory in each.

    ``vectors`` is (passages, dimension) of unit norm, and ``owners`` the index of the memory that each row
    belongs to, rows of one memory next to each other. ``eligible`` is false for one that lends to its
    neighbours but is not shown; `None` when all are shown. The ``texts`` tell distinct facts apart.
    ``codes`` are token codes, (tokens, words) as `satchel.allocator.late_interaction` unpacks them, in the
    order of the rows, and ``code_counts`` says how many each row has; both are empty where there are none.
    """

    ids: Sequence[str]
    sessions: Sequence[str]
    orders: Sequence[int]
    vectors: Vectors
    owners: NDArray[np.int64]
    texts: Sequence[str]
    eligible: Sequence[bool] | None = None
    codes: Codes = field(default_factory=no_codes)
    code_counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Evidence:
    """How the memories were found, by id. An empty ``lexical`` is fine; `None` means nobody searched.

    ``query_codes`` are the codes of the query's own tokens, (tokens, words); ``question`` is what was asked.
    """

    query: Vectors | None
    dense_ranks: Mapping[str, int] = field(default_factory=dict)
    lexical: Mapping[str, float] | None = None
    tags: Mapping[str, int] = field(default_factory=dict)
    query_codes: Codes = field(default_factory=no_codes)
    question: str = ""
