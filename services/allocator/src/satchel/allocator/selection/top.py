"""By score alone, in order, skipping what does not fit."""

from satchel.allocator.model import Choice, Form, Outcome, Pool, Rejection, Selection
from satchel.allocator.packing import Purse
from satchel.allocator.selection.strategy import Terms, allowed_forms, buy, count_unaffordable


class Top:
    """Takes memories in the order of their relevance, each in the longest form that is allowed."""

    def select(self, pool: Pool, purse: Purse, terms: Terms) -> Selection:
        """Choose; see `Strategy`."""
        choices: list[Choice] = []
        rejections: list[Rejection] = []
        for item in pool.items:
            form = next(allowed_forms(item.candidate, terms.tuning), None)
            if (
                form is None
                or (form is Form.VERBATIM and purse.certainly_too_dear(item.candidate, purse.left))
                or purse.price(item.candidate, form) > purse.left
            ):
                rejections.append(Rejection(item, Outcome.UNAFFORDABLE, item.relevance))
            else:
                choices.append(buy(item, form, purse, item.relevance))
        return Selection(choices, rejections, count_unaffordable(rejections))
