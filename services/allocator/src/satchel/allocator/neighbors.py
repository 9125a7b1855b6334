"""Memories beside a hit in its session borrow from its score: an answer often stands next to the words."""

from collections.abc import Sequence

import numpy as np

from satchel.allocator.model import Floats

Place = tuple[str, int]
"""Session and order in it; an empty session has no neighbours."""


def borrow(scores: Floats, places: Sequence[Place], *, previous_share: float, next_share: float) -> Floats:
    """Raise each score by a share of the distance to a better neighbour's.

    Neighbours have the same session and an order that differs by one. The share of the previous one and
    of the next one add up; scores never fall, so a memory without a session loses nothing. Only scores
    as they came in are lent, so the order of the candidates does not matter. O(n).
    """
    at = {place: index for index, place in enumerate(places) if place[0]}
    if not at:
        return scores
    raised = scores.copy()
    for share, step in ((previous_share, -1), (next_share, 1)):
        pairs = [
            (index, at[session, order + step])
            for (session, order), index in at.items()
            if (session, order + step) in at
        ]
        if pairs and share:
            here, there = np.array(pairs).T
            raised[here] += share * np.maximum(scores[there] - scores[here], 0.0)
    return raised
