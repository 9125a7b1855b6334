"""A session in which much was found is about what is asked, and so is what else was said in it."""

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.model import Floats


def support(scores: Floats, sessions: NDArray[np.int64]) -> Floats:
    """Return the logarithm of the sum of exp(score) over each memory's session.

    ``scores`` are in spreads, ``sessions`` numbers, -1 for a memory without one: its support is its own
    score, so that what has no session neither gains nor loses against the others of that kind. It is the
    greatest score of the session where one stands out, and grows with the number of good ones. O(n log n).
    """
    found = scores.copy()
    member = np.flatnonzero(sessions >= 0)
    if not len(member):
        return found
    _, place = np.unique(sessions[member], return_inverse=True)
    top = np.full(int(place.max()) + 1, -np.inf)
    np.maximum.at(top, place, scores[member])
    total = np.bincount(place, weights=np.exp(scores[member] - top[place]))
    found[member] = (top + np.log(total))[place]
    return found
