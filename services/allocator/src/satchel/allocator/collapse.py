"""Near duplicates collapse to the best scored of them, after scoring."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.distinctions import Facts
from satchel.allocator.model import Ranked, Scored, Vectors

# Rows that are compared with all others at once, so that a product stays small.
_BLOCK = 256


def collapse(vectors: Vectors, texts: Sequence[str], similarity: float) -> NDArray[np.int64]:
    """Return for each row the row that it collapses into; itself when it stays.

    ``vectors`` is (rows, dimension) of unit norm, best first. A row collapses into the best row that stays
    and is at least as similar as ``similarity``, unless its text, the one of ``texts`` at its index, states
    another fact. Rows of zeros never collapse; nothing does at 1. All pairs are compared, in blocks.
    """
    into = np.arange(len(vectors))
    if similarity >= 1 or len(vectors) < 2:  # noqa: PLR2004  # a pair takes two
        return into
    facts = Facts(texts)
    for best, other in _close_pairs(vectors, similarity):
        if into[best] == best and into[other] == other and not facts.are_distinct(best, other):
            into[other] = best
    return into


def _close_pairs(vectors: Vectors, similarity: float) -> list[tuple[int, int]]:
    """Return the pairs of rows that are so similar, smaller index first, in ascending order."""
    pairs: list[tuple[int, int]] = []
    for top in range(0, len(vectors), _BLOCK):
        rest = vectors[top:]
        first, second = np.nonzero(rest[:_BLOCK] @ rest.T >= similarity)
        later = second > first
        pairs.extend(zip((first[later] + top).tolist(), (second[later] + top).tolist(), strict=True))
    return pairs


def collapsed(items: Sequence[Scored], vectors: Vectors, similarity: float) -> Ranked:
    """Return the items, best first, without those that are nearly the same as a better one.

    Equal relevance goes by ascending id.
    """
    ordered = sorted(items, key=lambda item: (-item.relevance, item.candidate.id))
    with_rows = [item for item in ordered if item.row >= 0]
    texts = [item.candidate.text for item in with_rows]
    into = (
        collapse(vectors[[item.row for item in with_rows]], texts, similarity)
        if with_rows
        else np.zeros(0, int)
    )
    better = {
        with_rows[index].candidate.id: with_rows[best].candidate.id
        for index, best in enumerate(into.tolist())
        if index != best
    }
    return Ranked(
        items=[item for item in ordered if item.candidate.id not in better],
        vectors=vectors,
        collapsed=[(item, better[item.candidate.id]) for item in ordered if item.candidate.id in better],
    )
