"""Where links lead, breadth first."""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from satchel.store.model import Relation


class Step(NamedTuple):
    """A link as it is walked: from ``via`` to ``other``, of which ``at`` is the time in microseconds."""

    at: int
    other: str
    relation: Relation
    via: str


class Reached(NamedTuple):
    """A memory that was reached over ``depth`` links, the last of them from ``via``."""

    id: str
    depth: int
    relation: Relation
    via: str


class Walk(NamedTuple):
    """Memories in the order in which they were reached, and whether there were more than allowed."""

    reached: tuple[Reached, ...]
    truncated: bool


Look = Callable[[Collection[str]], Iterable[Step]]
"""Returns the links that lead on from some memories."""


def walk(start: str, look: Look, *, max_depth: int, limit: int) -> Walk:
    """Return what the links of ``start`` lead to, each memory once and never the start.

    Nearest first; at one depth by time, then id. Of several links that reach a memory at its least depth
    that of the lowest relation counts, then that from the memory with the lowest id.
    """
    found: dict[str, Reached] = {}
    frontier: Collection[str] = (start,)
    for depth in range(1, max_depth + 1):
        fresh = [step for step in sorted(look(frontier)) if step.other != start and step.other not in found]
        frontier = list(dict.fromkeys(step.other for step in fresh))
        for step in fresh:
            if step.other in found:
                continue
            if len(found) == limit:
                return Walk(tuple(found.values()), truncated=True)
            found[step.other] = Reached(step.other, depth, step.relation, step.via)
        if not frontier:
            break
    return Walk(tuple(found.values()), truncated=False)
