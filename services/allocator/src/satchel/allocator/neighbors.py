"""Memories beside a hit in its session borrow from its score: an answer often stands next to the words."""

from collections.abc import Sequence

import numpy as np

from satchel.allocator.model import Floats


def borrow(
    scores: Floats,
    sessions: Sequence[str],
    orders: Sequence[int],
    *,
    previous_share: float,
    next_share: float,
) -> Floats:
    """Raise each score by a share of the distance to a better neighbour's.

    Neighbours have the same session and an order that differs by one; an empty session has none. The share
    of the previous one and of the next one add up; scores never fall, so a memory without a session loses
    nothing. Only scores as they came in are lent, so the order of the candidates does not matter.
    O(n log n).
    """
    if not any(sessions):
        return scores
    numbers: dict[str, int] = {}
    session = np.array([numbers.setdefault(name, len(numbers)) for name in sessions])
    order = np.array(orders, dtype=np.int64)
    line = np.lexsort((order, session))
    is_pair = (np.diff(session[line]) == 0) & (np.diff(order[line]) == 1)
    is_pair &= session[line[1:]] != numbers.get("", -1)
    before, after = line[:-1][is_pair], line[1:][is_pair]
    raised = scores.copy()
    for share, here, there in ((previous_share, after, before), (next_share, before, after)):
        raised[here] += share * np.maximum(scores[there] - scores[here], 0.0)
    return raised
