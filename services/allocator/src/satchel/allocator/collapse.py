"""Near duplicates collapse to the best scored of them, after scoring."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.model import Ranked, Scored, Vectors


def collapse(vectors: Vectors, similarity: float) -> NDArray[np.int64]:
    """Return for each row the row that it collapses into; itself when it stays.

    ``vectors`` is (rows, dimension) of unit norm, best first. A row collapses into the best row that stays
    and is at least as similar as ``similarity``. Rows of zeros never collapse; nothing does at 1.
    One matrix product and O(pairs).
    """
    into = np.arange(len(vectors))
    if similarity >= 1 or len(vectors) < 2:  # noqa: PLR2004  # a pair takes two
        return into
    close = np.triu(vectors @ vectors.T >= similarity, k=1)
    for best, other in np.argwhere(close).tolist():
        if into[best] == best and into[other] == other:
            into[other] = best
    return into


def collapsed(items: Sequence[Scored], vectors: Vectors, similarity: float) -> Ranked:
    """Return the items, best first, without those that are nearly the same as a better one."""
    with_rows = [item for item in items if item.row >= 0]
    into = collapse(vectors[[item.row for item in with_rows]], similarity) if with_rows else np.zeros(0, int)
    better = {
        with_rows[index].candidate.id: with_rows[best].candidate.id
        for index, best in enumerate(into.tolist())
        if index != best
    }
    return Ranked(
        items=[item for item in items if item.candidate.id not in better],
        vectors=vectors,
        collapsed=[(item, better[item.candidate.id]) for item in items if item.candidate.id in better],
    )
