"""Candidates and calls that the allocator's tests share."""

from collections.abc import Sequence

import numpy as np

from satchel.allocator.allocation import Order, allocate
from satchel.allocator.evidence import Located
from satchel.allocator.model import Candidate, Ranked, Scored, StrategyName, Vectors
from satchel.allocator.packing import BlockCounts
from satchel.allocator.results import Allocation
from satchel.allocator.selection.strategy import Terms
from satchel.allocator.tuning import Tuning
from satchel.runtime.tokens import count_tokens

DAY_US = 86_400_000_000
NO_VECTORS = np.zeros((0, 0), dtype=np.float32)


def located(
    *memories: tuple[str, Vectors],
    sessions: Sequence[tuple[str, int]] = (),
    hidden: str = "",
    texts: Sequence[str] = (),
) -> Located:
    """Memories by id, each with its passages; ``sessions`` are theirs, ``hidden`` is not eligible."""
    names = [name for name, _ in memories]
    return Located(
        ids=names,
        sessions=[session for session, _ in sessions] or [""] * len(names),
        orders=[order for _, order in sessions] or [0] * len(names),
        vectors=np.concatenate([rows for _, rows in memories]),
        texts=texts or [f"text of {name}" for name in names],
        owners=np.repeat(np.arange(len(names)), [len(rows) for _, rows in memories]),
        eligible=[name != hidden for name in names] if hidden else None,
    )


def pool(*items: tuple[Candidate, float], vectors: Vectors = NO_VECTORS) -> Ranked:
    """Rank candidates by the relevance given; row n of ``vectors`` belongs to the n-th item."""
    scored = [
        Scored(candidate, relevance, index if index < len(vectors) else -1)
        for index, (candidate, relevance) in enumerate(items)
    ]
    return Ranked(sorted(scored, key=lambda one: (-one.relevance, one.candidate.id)), vectors)


def spend(
    ranked: Ranked,
    budget: int,
    *,
    strategy: StrategyName = StrategyName.KNAPSACK,
    tuning: Tuning | None = None,
    now_us: int | None = None,
    session_id: str = "",
    explain: bool = False,
) -> Allocation:
    terms = Terms(tuning or Tuning(), now_us, session_id)
    return allocate(ranked, Order(budget, strategy, terms, explain), BlockCounts(count_tokens, 100))


def ids(allocation: Allocation) -> Sequence[str]:
    return [shown.choice.item.candidate.id for shown in allocation.shown]
