"""Forms batches of rows of similar length, under a budget of padded tokens.

On a CPU a batch is worth little once it has some 500 tokens, and padding is pure waste: so batches are
small and take only rows of nearly the same length (measured in ``README.md``).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np

from satchel.embedder.model import Batch, Places, TokenIds

_FREE_PADDING_TOKENS = 8
_PADDING_SHARE = 4  # at most a quarter of a row may be padding
_NO_PLACES = np.zeros(0, dtype=np.intp)


class Pending:
    """Rows of one request that wait for a batch, known by their index, ordered by token count."""

    __slots__ = ("_lengths", "_rows")

    def __init__(self, lengths: Sequence[int]) -> None:
        self._rows = sorted(range(len(lengths)), key=lengths.__getitem__)
        self._lengths = [lengths[row] for row in self._rows]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def longest(self) -> int:
        """Token count of the longest waiting row."""
        return self._lengths[-1]

    def take(self, shortest: int, longest: int, count: int) -> list[int]:
        """Remove and return up to ``count`` rows of [shortest, longest] tokens, the longest last."""
        high = bisect_right(self._lengths, longest)
        low = max(bisect_left(self._lengths, shortest), high - count)
        if low >= high:
            return []
        taken = self._rows[low:high]
        del self._rows[low:high], self._lengths[low:high]
        return taken


def take_batch(
    waiting: Iterable[Pending], budget_tokens: int, most_rows: int | None = None
) -> list[list[int]]:
    """Remove the rows of the next batch from the requests that wait, and return them by request.

    The longest row of the first request sets the length. Rows of the same request fill the batch, then
    those of the others in order, as long as rows times length stays within the budget and no row is
    padded by more than 8 tokens or a quarter, and ``most_rows`` are not exceeded. A single row may exceed
    the budget. The answer has one list
    for each request looked at, possibly empty; a batch that is full looks at no more.
    """
    taken: list[list[int]] = []
    longest, shortest, room = 0, 0, 0
    for pending in waiting:
        if not taken:
            longest = pending.longest
            shortest = longest - max(_FREE_PADDING_TOKENS, longest // _PADDING_SHARE)
            room = max(1, budget_tokens // max(longest, 1))
            room = room if most_rows is None else min(room, most_rows)
        rows = pending.take(shortest, longest, room)
        taken.append(rows)
        room -= len(rows)
        if room <= 0:
            break
    return taken


def pad(rows: Sequence[TokenIds], pad_id: int, coded: Sequence[Places] = ()) -> Batch:
    """Put rows of token ids into one batch, padded on the right to the longest.

    ``coded`` has the places of the coded tokens in each row, or nothing if no row has any.
    """
    lengths = np.array([len(row) for row in rows])
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, pad_id, dtype=np.int64)
    ids[mask] = np.concatenate(rows)
    places = [own + row * mask.shape[1] for row, own in enumerate(coded)]
    return Batch(ids, mask.astype(np.int64), np.concatenate([_NO_PLACES, *places]))
