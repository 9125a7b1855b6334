"""How near memories are to a query: the exact cosine of the best passage of each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.evidence import Located
from satchel.allocator.model import Floats, Vectors


@dataclass(frozen=True, slots=True)
class Nearness:
    """Cosine (NaN: unknown; `None`: no query vector), best passage and row of each memory (-1: none)."""

    cosine: Floats | None
    passage: NDArray[np.int64]
    row: NDArray[np.int64]
    rows: Vectors


def nearness(located: Located, query: Vectors | None) -> Nearness:
    """Compare the query with every passage; vectors of another width than the query's are not compared."""
    count = len(located.ids)
    passage = np.full(count, -1, dtype=np.int64)
    row = np.full(count, -1, dtype=np.int64)
    cosine = None if query is None else np.full(count, np.nan)
    if not len(located.owners) or (query is not None and located.vectors.shape[1] != query.shape[0]):
        return Nearness(cosine, passage, row, np.zeros((0, 0), dtype=np.float32))
    starts = np.flatnonzero(np.diff(located.owners, prepend=-1))
    owners = located.owners[starts]
    sizes = np.diff(starts, append=len(located.owners))
    row[owners] = np.arange(len(owners))
    if query is not None and cosine is not None:
        similar = (located.vectors @ query).astype(np.float64)
        cosine[owners] = np.maximum.reduceat(similar, starts)
        passage[owners] = 0
        for at in np.flatnonzero(sizes > 1).tolist():
            start = int(starts[at])
            passage[owners[at]] = int(np.argmax(similar[start : start + int(sizes[at])]))
    return Nearness(cosine, passage, row, _centroids(located.vectors, starts, sizes))


def _centroids(stacked: Vectors, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Vectors:
    """Return one row of unit norm a memory: the mean of its passages."""
    if len(starts) == len(stacked):
        return stacked
    means = np.add.reduceat(stacked, starts, axis=0) / sizes[:, None].astype(np.float32)
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    return (means / np.where(norms > 0, norms, 1)).astype(np.float32)
