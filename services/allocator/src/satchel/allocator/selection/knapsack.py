"""Greedy by relevance, each memory in the form that is worth most for its price.

The order is that of relevance, not of relevance per token: measured, dividing by the price fills the budget
with short remarks and loses evidence at every budget (docs/recall.md). The price decides the *form*.
"""

from satchel.allocator.model import Candidate, Choice, Form, Outcome, Pool, Rejection, Selection
from satchel.allocator.packing import Purse
from satchel.allocator.selection.strategy import Terms, allowed_forms, buy, payable_forms
from satchel.allocator.tuning import FormWorth, Tuning

# With so little of a slot, no shorter form can be worth more for its price, even for nothing.
_PLAINLY_CHEAP = 0.2
_SHORTENED = (Form.HEADER, Form.FINGERPRINT, Form.EXCERPT)


class Knapsack:
    """Takes memories in the order of relevance, then spends what is left on showing more of them."""

    def select(self, pool: Pool, purse: Purse, terms: Terms) -> Selection:
        """Choose; see `Strategy`."""
        choices: list[Choice] = []
        rejections: list[Rejection] = []
        for item in pool.items:
            form = best_form(item.candidate, purse, terms.tuning) if item.relevance > 0 else None
            if form is not None:
                choices.append(buy(item, form, purse, item.relevance))
                continue
            outcome = Outcome.UNAFFORDABLE if item.relevance > 0 else Outcome.NO_GAIN
            rejections.append(Rejection(item, outcome, item.relevance))
        return Selection([_lengthened(choice, purse, terms.tuning) for choice in choices], rejections)


def best_form(candidate: Candidate, purse: Purse, tuning: Tuning) -> Form | None:
    """Return the affordable form with the most worth for its price; `None` if there is none.

    Equal worth goes to the longer form. A form that takes little of the budget is not compared with others.
    """
    slot = tuning.worth.slot_share * purse.budget
    best: tuple[float, Form] | None = None
    for form, price in payable_forms(candidate, purse, tuning):
        value = _worth(form, tuning.worth) / (price + slot)
        if best is None or value > best[0]:
            best = (value, form)
        if price <= _PLAINLY_CHEAP * slot:
            break
    return best[1] if best else None


def _lengthened(choice: Choice, purse: Purse, tuning: Tuning) -> Choice:
    """Show more of a shortened memory if what is left allows it."""
    if choice.form not in _SHORTENED:
        return choice
    candidate = choice.item.candidate
    for form in allowed_forms(candidate, tuning):
        if _worth(form, tuning.worth) <= _worth(choice.form, tuning.worth):
            break
        if form is Form.VERBATIM and purse.certainly_too_dear(candidate, purse.left + choice.tokens):
            continue
        tokens = purse.exchange(candidate, choice.form, form)
        if tokens is not None:
            return Choice(choice.item, form, tokens, choice.score)
    return choice


def _worth(form: Form, worth: FormWorth) -> float:
    return {
        Form.VERBATIM: 1.0,
        Form.EXCERPT: worth.excerpt,
        Form.FINGERPRINT: worth.fingerprint,
        Form.HEADER: worth.header,
    }[form]
