"""Token states to sentence vectors, and passage vectors to one for the text. Numpy only."""

import numpy as np
from numpy.typing import NDArray

from satchel.embedder.model import Pooling, Vectors

_SMALLEST_NORM = 1e-12


def pool(states: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling) -> Vectors:
    """Turn token states into unit vectors.

    ``states`` is (batch, tokens, hidden) or, from a model that pools by itself, (batch, hidden); ``mask``
    is (batch, tokens). Returns (batch, hidden).
    """
    if states.ndim == 2:  # noqa: PLR2004  # the number of axes
        return normalise(states)
    if pooling is Pooling.CLS:
        return normalise(states[:, 0, :])
    return normalise(mean_pool(states, mask))


def mean_pool(states: NDArray[np.float32], mask: NDArray[np.int64]) -> Vectors:
    """Average the token states of each text, leaving padding out.

    ``states`` is (batch, tokens, hidden); ``mask`` is (batch, tokens) with 1 for a real token. Returns
    (batch, hidden), not normalised. A row without a real token gives zeros, never NaN.

    Source: Reimers and Gurevych 2019, Sentence-BERT, section 3 (MEAN strategy).
    """
    weights = mask.astype(np.float32)
    sums = np.matmul(weights[:, None, :], states)[:, 0, :]
    counts = np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    return np.asarray(sums / counts, dtype=np.float32)


def normalise(rows: NDArray[np.float32]) -> Vectors:
    """Scale each row of (n, dimension) to L2 norm 1; a row of zeros stays zeros."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, _SMALLEST_NORM), dtype=np.float32)


def merge_passages(vectors: Vectors, owners: NDArray[np.intp]) -> Vectors:
    """Average the passages of each text and scale the mean to norm 1.

    ``vectors`` is (passages, dimension); ``owners`` is the index of each passage's text, ascending and
    without a gap. Returns (texts, dimension), in the order of the texts. A text of one passage keeps its
    row, bit for bit.
    """
    firsts = np.flatnonzero(np.diff(owners, prepend=-1))
    if len(firsts) == len(owners):
        return vectors
    merged = normalise(np.add.reduceat(vectors, firsts, axis=0))
    single = np.diff(firsts, append=len(owners)) == 1
    merged[single] = vectors[firsts[single]]
    return merged


def sum_by_owner(counts: NDArray[np.int32], owners: NDArray[np.intp]) -> NDArray[np.int32]:
    """Return the sum of each owner's counts; ``owners`` as for `merge_passages`."""
    return np.bincount(owners, weights=counts).astype(np.int32)
