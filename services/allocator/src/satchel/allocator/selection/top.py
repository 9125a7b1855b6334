"""By score alone, in order, skipping what does not fit."""

from satchel.allocator.model import Outcome, Pool
from satchel.allocator.packing import Ledger
from satchel.allocator.results import Choice, Rejection, Selection
from satchel.allocator.selection.strategy import (
    Terms,
    allowed_forms,
    bring_back,
    buy,
    count_unaffordable,
    fits,
)


class Top:
    """Takes memories in the order of their relevance, each in the longest form that is allowed."""

    def select(self, pool: Pool, ledger: Ledger, terms: Terms) -> Selection:
        """Choose; see `Strategy`."""
        choices: list[Choice] = []
        rejections: list[Rejection] = []
        for item in pool.items:
            form = next(allowed_forms(item.candidate, terms.tuning), None)
            if form is None or not fits(item.candidate, form, ledger):
                rejections.append(Rejection(item, Outcome.UNAFFORDABLE, item.relevance))
            else:
                choices.append(buy(item, form, ledger, item.relevance))
        returned = bring_back(pool.reserve, ledger, terms.tuning)
        return Selection(choices + returned, rejections, count_unaffordable(rejections), len(returned))
