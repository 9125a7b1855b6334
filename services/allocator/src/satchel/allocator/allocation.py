"""From ranked candidates and a budget to the context: threshold, strategy, render, receipt. Pure."""

from dataclasses import dataclass, field, replace

import numpy as np

from satchel.allocator.explaining import explain
from satchel.allocator.model import Floats, Outcome, Pool, Ranked, Scored, StrategyName, ThresholdMethod
from satchel.allocator.packing import BlockCounts, Ledger
from satchel.allocator.receipts import Provenance, Spending, make_receipt
from satchel.allocator.rendering import compose, rendered
from satchel.allocator.results import Allocation, Rejection, Selection, Shown
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
    ledger = Ledger(order.budget, pool.outline, counts, [item.candidate for item in pool.reserve])
    selection = strategy(order.strategy).select(pool, ledger, order.terms)
    context, total, selection = _composed(selection, ledger, counts)
    least = 0 if selection.choices else _least_price(pool, ledger, order)
    receipt = make_receipt(
        Spending(order.budget, total, least),
        order.strategy,
        ranked,
        selection,
        pool_count=len(pool.items),
        threshold=limit,
        provenance=order.provenance,
    )
    shown = [Shown(choice, rendered(choice.item.candidate, choice.form)) for choice in selection.choices]
    reasons = explain(ranked, pool, selection, ledger, order.terms, threshold=limit) if order.explain else ()
    return Allocation(context, shown, receipt, reasons)


def _gated(ranked: Ranked, order: Order) -> tuple[float, Pool]:
    """Return the threshold and the candidates that it leaves.

    Strategy `cba` as published shows no near duplicates, the others when everything else has had its turn.
    """
    outline = ranked.columns
    scores = np.concatenate((outline.relevances, ranked.tail))
    limit, by_floor = _limit(scores, order)
    count = survivors(scores, limit, order.terms.tuning.always_kept if by_floor else 0)
    reserve = [] if order.strategy is StrategyName.CBA else _reserve(ranked, limit)
    return limit, Pool(ranked.items[:count], ranked.vectors, outline.first(count), reserve)


def _reserve(ranked: Ranked, limit: float) -> list[Scored]:
    """Return the near duplicates at or above the threshold, best first."""
    near = (item for item, _ in ranked.collapsed if item.relevance >= limit)
    return sorted(near, key=lambda item: (-item.relevance, item.candidate.id))


def _limit(scores: Floats, order: Order) -> tuple[float, bool]:
    """Return the threshold, and whether it is the floor alone."""
    tuning = order.terms.tuning
    method = tuning.threshold_method
    if method is None and order.strategy is not StrategyName.CBA:
        return tuning.threshold_floor, True
    method = method or ThresholdMethod.IQR
    floor, ceiling = tuning.threshold_floor, tuning.threshold_ceiling
    return threshold(scores, method, floor=floor, ceiling=ceiling), False


def _composed(selection: Selection, ledger: Ledger, counts: BlockCounts) -> tuple[str, int, Selection]:
    """Return the context and its tokens, counted as it stands.

    The sum of the pieces is exact for the encoding in use, so that the loop ends at its first round; it
    is what keeps the promise if an encoding ever joins tokens across pieces.
    """
    while selection.choices:
        shown = [(choice.item.candidate, choice.form) for choice in selection.choices]
        context = compose(shown, ledger.fence, with_wing=ledger.with_wing)
        total = counts.count(context)
        if total <= ledger.budget:
            return context, total, selection
        selection = _without_last(selection)
    return "", 0, selection


def _without_last(selection: Selection) -> Selection:
    """Return the selection without its last choice: collapsed again, or unaffordable."""
    *kept, last = selection.choices
    if selection.returned_count:
        return replace(selection, choices=kept, returned_count=selection.returned_count - 1)
    return Selection(
        choices=kept,
        rejections=[*selection.rejections, Rejection(last.item, Outcome.UNAFFORDABLE, last.score)],
        unaffordable_count=selection.unaffordable_count + 1,
    )


def _least_price(pool: Pool, ledger: Ledger, order: Order) -> int:
    """Return the tokens of the cheapest context that would show anything; 0 if there is none."""
    prices = [
        tokens + ledger.heading_price(item.candidate) + ledger.empty_price
        for item in pool.items
        if (tokens := cheapest(ledger, item.candidate, order.terms.tuning))
    ]
    return min(prices, default=0)
