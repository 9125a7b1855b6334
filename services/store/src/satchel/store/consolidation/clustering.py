"""Clusters of vectors of which any two are alike."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_ROWS = 256  # of the matrix of similarities that are made at once
_ROUNDING = 1e-6  # of the cosine of two equal vectors of 32-bit floats


class Cluster(NamedTuple):
    """Places of at least two vectors, ascending, and the least cosine of any two of them."""

    places: tuple[int, ...]
    similarity: float


def mean_vector(vectors: bytes, dimension: int) -> NDArray[np.float32]:
    """Return the mean of packed little-endian float32 rows, of unit norm; of zeros where they cancel out."""
    mean = np.frombuffer(vectors, "<f4").reshape(-1, dimension).mean(axis=0)
    norm = np.linalg.norm(mean)
    return np.asarray(mean / norm if norm else mean, np.float32)


def clusters_of(vectors: NDArray[np.float32], threshold: float) -> tuple[Cluster, ...]:
    """Return clusters whose least cosine is at least ``threshold``, in the order of their first places.

    ``vectors`` is (n, dimension) with rows of unit norm. Complete linkage: two clusters are as alike as
    their least alike members, so a chain of likenesses does not join its ends. Time and memory grow with
    the square of n.

    Source of the method: the nearest-neighbour chain of Benzécri 1982 and Juan 1982, as in Murtagh 1983,
    "A survey of recent advances in hierarchical clustering algorithms", section 3.
    """
    alike = _similarities(vectors, threshold)
    members = {place: [place] for place in range(len(vectors))}
    least = dict.fromkeys(members, 1.0)
    for start in range(len(vectors)):
        chain = [start] if start in members else []
        while chain and (near := _nearest(alike[chain[-1]], chain)) is not None:
            if near not in chain[-2:]:
                chain.append(near)
                continue
            last = chain[-1]
            similarity = float(alike[last, near])
            kept = _join(alike, members, last, near)
            least[kept] = similarity
            chain = chain[:-2] or [kept]
    return tuple(
        Cluster(tuple(sorted(places)), min(least[kept], 1.0))
        for kept, places in sorted(members.items())
        if len(places) > 1
    )


def _similarities(vectors: NDArray[np.float32], threshold: float) -> NDArray[np.float32]:
    """Return the cosines of all pairs; minus infinity for those that are too small, and on the diagonal."""
    count = len(vectors)
    alike = np.empty((count, count), np.float32)
    for start in range(0, count, _ROWS):
        part = vectors[start : start + _ROWS] @ vectors.T
        part[part < threshold - _ROUNDING] = -np.inf
        alike[start : start + _ROWS] = part
    alike = np.minimum(alike, alike.T)  # the product is not symmetric to the last bit
    np.fill_diagonal(alike, -np.inf)
    return alike


def _nearest(row: NDArray[np.float32], chain: list[int]) -> int | None:
    """Return the nearest cluster, of equals the one before in the chain, else the first; None for none."""
    near = int(row.argmax())
    if row[near] == -np.inf:
        return None
    return chain[-2] if len(chain) > 1 and row[chain[-2]] == row[near] else near


def _join(alike: NDArray[np.float32], members: dict[int, list[int]], one: int, other: int) -> int:
    """Join two clusters under the lower of their numbers, and return it."""
    kept, gone = min(one, other), max(one, other)
    alike[kept] = np.minimum(alike[kept], alike[gone])
    alike[:, kept] = alike[kept]
    alike[kept, kept] = -np.inf
    alike[gone] = alike[:, gone] = -np.inf
    members[kept] += members.pop(gone)
    return kept
