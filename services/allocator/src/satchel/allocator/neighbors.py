"""What stands beside a hit in its session lends to it: an answer often stands next to the words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.model import Floats, Vectors

Indices = NDArray[np.int64]

# Neighbours of a talk are .1 to .2 nearer to each other than any two of its turns (all-MiniLM-L6-v2; talks of
# two people, with and without their names, and one side of them alone); turns put in any order, not at all.
_LIKE_A_TALK = 0.05
_TYPICAL_LIKENESS = 0.1
_PRIOR_PAIRS = 3


class Shares(NamedTuple):
    """The share of the distance to a better neighbour that a memory gains, by where the neighbour stands."""

    previous: float = 0.45
    next: float = 0.15
    second_previous: float = 0.3
    second_next: float = 0.1


@dataclass(frozen=True, slots=True)
class Line:
    """Pairs of memories, one directly after the other in a session, and with one memory between them."""

    first: tuple[Indices, Indices]
    second: tuple[Indices, Indices]


def line_up(sessions: Sequence[str], orders: Sequence[int]) -> Line:
    """Find neighbours: the same session, and an order that differs by one or two. O(n log n).

    An empty session has none.
    """
    nothing = np.zeros(0, dtype=np.int64)
    if not any(sessions):
        return Line((nothing, nothing), (nothing, nothing))
    session, order = numbered(sessions), np.array(orders, dtype=np.int64)
    line = np.lexsort((order, session))
    line = line[session[line] >= 0]
    return Line(*(_pairs(line, session, order, steps) for steps in (1, 2)))


def numbered(sessions: Sequence[str]) -> Indices:
    """Return a number for each name, the same for the same; -1 for the empty one."""
    numbers: dict[str, int] = {"": -1}
    return np.array([numbers.setdefault(name, len(numbers)) for name in sessions], dtype=np.int64)


def lent(scores: Floats, line: Line, shares: Shares) -> Floats:
    """Return what each memory gains: shares of the distances to its better neighbours, added up; 0 or more.

    Only scores as they came in are lent, so the order of the candidates does not matter.
    """
    gained = np.zeros(len(scores))
    one, two = line.first, line.second
    for share, here, there in (
        (shares.previous, one[1], one[0]),
        (shares.next, one[0], one[1]),
        (shares.second_previous, two[1], two[0]),
        (shares.second_next, two[0], two[1]),
    ):
        gained[here] += share * np.maximum(scores[there] - scores[here], 0.0)
    return gained


def likeness(line: Line, rows: Vectors, row: Indices) -> float:
    """Tell how much this is like a talk, where one thing leads to the next, in [0, 1].

    By how much nearer neighbours are to each other than any two memories: 0 where the session says nothing
    about what stands beside what, as in messages that were filed together. ``row`` is the row of each memory
    among ``rows``, -1 for none. Few pairs are drawn to what is usual in talks.
    """
    before, after = line.first
    known = (row[before] >= 0) & (row[after] >= 0)
    pairs = int(np.count_nonzero(known))
    if not pairs:
        return 1.0
    beside = np.einsum("ij,ij->i", rows[row[before[known]]], rows[row[after[known]]])
    above = float(beside.sum(dtype=np.float64)) - pairs * _between_any_two(rows)
    drawn = (above + _PRIOR_PAIRS * _TYPICAL_LIKENESS) / (pairs + _PRIOR_PAIRS)
    return min(max(drawn / _LIKE_A_TALK, 0.0), 1.0)


def _pairs(line: Indices, session: Indices, order: Indices, steps: int) -> tuple[Indices, Indices]:
    """Return the memories of each pair whose orders differ by ``steps``; the earlier ones, the later ones."""
    found = [_at_distance(line, session, order, steps, apart) for apart in range(1, steps + 1)]
    return (np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found]))


def _at_distance(
    line: Indices, session: Indices, order: Indices, steps: int, apart: int
) -> tuple[Indices, Indices]:
    """Do so for those that stand ``apart`` places from each other: what lies between may not be there."""
    before, after = line[:-apart], line[apart:]
    is_pair = (session[before] == session[after]) & (order[after] - order[before] == steps)
    return before[is_pair], after[is_pair]


def _between_any_two(rows: Vectors) -> float:
    """Return the mean cosine between two different rows of unit norm, from the norm of their sum."""
    count = len(rows)
    if count < 2:  # noqa: PLR2004  # a pair takes two
        return 0.0
    total = rows.sum(axis=0, dtype=np.float64)
    return float((total @ total - count) / (count * (count - 1)))
