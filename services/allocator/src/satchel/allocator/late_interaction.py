"""Late interaction: a query's tokens compared with the tokens of memories, one bit a number. Numpy only.

It must not know how memories are ranked: it gives a figure, and fusing is the business of others.
"""

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint64]
Counts = NDArray[np.int64]

MOST_QUERY_TOKENS = 64
"""Tokens of a query that are compared, the first ones: cost grows with them, and questions have some ten."""

_WORD_BYTES = 8
# Numbers of one step, so that what it makes stays in the processor's cache.
_STEP_NUMBERS = 1 << 16


def no_codes() -> Codes:
    """Return the codes of nothing."""
    return np.zeros((0, 0), dtype=np.uint64)


def unpacked(codes: bytes, bytes_per_token: int) -> Codes:
    """Return packed codes as (tokens, words of 64 bits); bits beyond the dimension are 0 in all of them."""
    if not codes:
        return no_codes()
    rows = np.frombuffer(codes, dtype=np.uint8).reshape(-1, bytes_per_token)
    missing = -bytes_per_token % _WORD_BYTES
    padded = np.pad(rows, ((0, 0), (0, missing))) if missing else rows
    return padded.view(np.uint64)


def codes_by_memory(
    codes: Codes, code_counts: Counts, owners: NDArray[np.int64], memories: int
) -> tuple[Codes, Counts]:
    """Return the codes in the order of the memories, and how many each of ``memories`` has.

    ``code_counts`` and ``owners`` have an entry for each passage: its number of codes, and its memory. The
    former may be empty where there are no codes.
    """
    if not len(codes):
        return codes, np.zeros(memories, dtype=np.int64)
    counts = np.bincount(owners, weights=code_counts, minlength=memories).astype(np.int64)
    if np.all(owners[:-1] <= owners[1:]):
        return codes, counts
    return codes[np.argsort(np.repeat(owners, code_counts), kind="stable")], counts


def maxsim(
    query_codes: Codes, codes: Codes, counts_per_memory: Counts, *, dimension: int
) -> NDArray[np.float64]:
    """Return how well each memory answers the query's tokens, as (memories,); NaN for those without codes.

    ``query_codes`` is (query tokens, words) and ``codes`` (tokens, words), memory by memory as
    ``counts_per_memory`` says; ``dimension`` is the number of bits that count. Two tokens agree by
    1 - 2 * (bits that differ) / dimension, in [-1, 1]. Of each query token the greatest agreement with a
    memory's tokens counts, in spreads from its mean over all memories that have codes; two memories stand one
    spread on either side of it, however little they differ. The mean over the query tokens is returned; NaN
    for all without any.

    Source: Khattab and Zaharia 2020, ColBERT, section 3.3 (MaxSim), on signs as in Charikar 2002, section 3.
    """
    found = np.full(len(counts_per_memory), np.nan)
    has_codes = counts_per_memory > 0
    if not len(query_codes) or not has_codes.any():
        return found
    firsts = (np.cumsum(counts_per_memory) - counts_per_memory)[has_codes]
    fewest = _fewest_differences(query_codes, codes, firsts)
    nearest = 1.0 - 2.0 * fewest / dimension
    centred = nearest - nearest.mean(axis=1, keepdims=True)
    spreads = nearest.std(axis=1, keepdims=True)
    tells_apart = np.ptp(fewest, axis=1, keepdims=True) > 0  # of whole numbers, so that no rounding counts
    found[has_codes] = np.divide(centred, spreads, out=np.zeros_like(centred), where=tells_apart).mean(axis=0)
    return found


def _fewest_differences(query: Codes, codes: Codes, firsts: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Return (query tokens, memories): the least number of bits in which a token of the memory differs."""
    words = np.ascontiguousarray(codes.T)
    step = max(1, _STEP_NUMBERS // len(codes))
    parts = [_differences(query[at : at + step], words, firsts) for at in range(0, len(query), step)]
    return np.concatenate(parts)


def _differences(query: Codes, words: Codes, firsts: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Do so for some query tokens; ``words`` is (words, tokens)."""
    # 16 bits: half the time of 32, and enough for any dimension that a model has.
    differing = np.zeros((len(query), words.shape[1]), dtype=np.uint16)
    for own, theirs in zip(query.T, words, strict=True):
        differing += np.bitwise_count(own[:, None] ^ theirs)
    return np.minimum.reduceat(differing, firsts, axis=1)
