"""Near duplicates collapse to the best scored of them, after scoring."""

import numpy as np
from numpy.typing import NDArray
from satchel.allocator.model import Vectors


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
