"""Token codes: the signs of token states, as bits. Numpy only."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from satchel.embedder.model import Codes, Places, TokenCodes

_BITS = 8


def sign_codes(states: NDArray[np.float32], places: Places) -> Codes:
    """Return the codes of some tokens: bit i is 1 where the i-th number of the state is greater than 0.

    ``states`` is (batch, tokens, hidden); ``places`` count along batch and tokens together. Returns
    (places, hidden / 8 rounded up), the first bit highest in the first byte, and 0 where a byte is not full.

    Source: Charikar 2002, Similarity Estimation Techniques from Rounding Algorithms, section 3, with the
    axes for hyperplanes: bits agree in a share that grows with the cosine.
    """
    flat = states.reshape(-1, states.shape[-1])
    return np.packbits(flat[places] > 0, axis=1)


def bytes_per_token(dimension: int) -> int:
    """Return the length of one code."""
    return -(-dimension // _BITS)


def joined(parts: Sequence[Codes], width: int) -> TokenCodes:
    """Return the codes of several rows one after the other; ``width`` is the bytes of one code."""
    counts = np.fromiter(map(len, parts), dtype=np.int32, count=len(parts))
    return TokenCodes(np.concatenate([np.empty((0, width), np.uint8), *parts]), counts)


class ArrivingCodes:
    """Codes of the rows of one request: (tokens, ``width``) in the order of the rows, as batches bring them.

    ``coded`` has the places of each row's tokens; it is empty where nobody asked for codes.
    """

    __slots__ = ("_codes", "_counts", "_firsts")

    def __init__(self, coded: Sequence[Places], width: int) -> None:
        self._counts = list(map(len, coded))
        self._firsts = [0, *accumulate(self._counts)]
        self._codes = np.empty((self._firsts[-1], width), dtype=np.uint8)

    @property
    def whole(self) -> TokenCodes:
        """All of them, once every row has come."""
        return TokenCodes(self._codes, np.array(self._counts, dtype=np.int32))

    def count(self, rows: Sequence[int]) -> int:
        """Return how many codes some rows have together."""
        return sum(self._counts[row] for row in rows) if self._counts else 0

    def take(self, rows: Sequence[int], codes: Codes) -> None:
        """Take the codes of some rows, in the order of ``rows``."""
        if not self._counts:
            return
        place = 0
        for row in rows:
            first, count = self._firsts[row], self._counts[row]
            self._codes[first : first + count] = codes[place : place + count]
            place += count
