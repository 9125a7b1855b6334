"""From ranked candidates and a budget to the context: threshold, strategy, render, receipt. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from satchel.allocator.explaining import explain
from satchel.allocator.model import (
    Allocation,
    Choice,
    Floats,
    Pool,
    Ranked,
    Selection,
    Shown,
    StrategyName,
    ThresholdMethod,
)
from satchel.allocator.packing import BlockCounts, Purse
from satchel.allocator.receipts import Provenance, Spending, make_receipt
from satchel.allocator.rendering import compose, rendered
from satchel.allocator.selection.choosing import strategy
from satchel.allocator.selection.strategy import Terms, cheapest
from satchel.allocator.thresholds import survivors, threshold


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for: a budget in tokens, at least 1, and the terms."""

    budget: int
    strategy: StrategyName
    terms: Terms
    explain: bool = False
    provenance: Provenance = field(default_factory=Provenance)


def allocate(ranked: Ranked, order: Order, counts: BlockCounts) -> Allocation:
    """Choose and render; the context never has more tokens than the budget.

    Deterministic. The tokens of the final string are counted, whatever the parts were estimated at.
    """
    limit, pool = _gated(ranked, order)
    purse = Purse(order.budget, pool.outline, counts)
    selection = strategy(order.strategy).select(pool, purse, order.terms)
    context, total, selection = _composed(selection, purse, counts)
    least = 0 if selection.choices else _least_price(pool, purse, order)
    receipt = make_receipt(
        Spending(order.budget, total, least),
        order.strategy,
        ranked,
        selection,
        threshold=limit,
        provenance=order.provenance,
    )
    shown = [Shown(choice, rendered(choice.item.candidate, choice.form)) for choice in selection.choices]
    reasons = explain(ranked, pool, selection, purse, order.terms, threshold=limit) if order.explain else ()
    return Allocation(context, shown, receipt, reasons)


def _gated(ranked: Ranked, order: Order) -> tuple[float, Pool]:
    """Return the threshold and the candidates at or above it."""
    outline = ranked.columns
    scores = np.concatenate((outline.relevances, ranked.tail))
    limit = _limit(scores, order)
    count = survivors(scores, limit)
    return limit, Pool(ranked.items[:count], ranked.vectors, outline.first(count))


def _limit(scores: Floats, order: Order) -> float:
    tuning = order.terms.tuning
    method = tuning.threshold_method
    if method is None and order.strategy is not StrategyName.CBA:
        return tuning.threshold_floor
    method = method or ThresholdMethod.IQR
    return threshold(scores, method, floor=tuning.threshold_floor, ceiling=tuning.threshold_ceiling)


def _composed(selection: Selection, purse: Purse, counts: BlockCounts) -> tuple[str, int, Selection]:
    """Return the context and its tokens, counted as it stands.

    The sum of the pieces is exact for the encoding in use, so that the loop ends at its first round; it
    is what keeps the promise if an encoding ever joins tokens across pieces.
    """
    choices: Sequence[Choice] = selection.choices
    while choices:
        shown = [(choice.item.candidate, choice.form) for choice in choices]
        context = compose(shown, purse.fence, with_wing=purse.with_wing)
        total = counts.count(context)
        if total <= purse.budget:
            return context, total, replace(selection, choices=choices)
        choices = choices[:-1]
    return "", 0, replace(selection, choices=())


def _least_price(pool: Pool, purse: Purse, order: Order) -> int:
    """Return the tokens of the cheapest context that would show anything; 0 if there is none."""
    prices = [
        tokens + purse.heading_price(item.candidate) + purse.empty_price
        for item in pool.items
        if (tokens := cheapest(purse, item.candidate, order.terms.tuning))
    ]
    return min(prices, default=0)
