"""Greedy by relevance, each memory in the form that is worth most for its price.

The order is that of relevance, not of relevance per token: measured, dividing by the price fills the budget
with short remarks and loses evidence at every budget (docs/recall.md). The price decides the *form*.
"""

from collections.abc import Sequence

import numpy as np

from satchel.allocator.model import Candidate, Choice, Form, Outcome, Pool, Rejection, Scored, Selection
from satchel.allocator.packing import Purse
from satchel.allocator.selection.strategy import Terms, allowed_forms, buy, payable_forms
from satchel.allocator.tuning import FormWorth, Tuning

# With so little of a slot, no shorter form can be worth more for its price, even for nothing.
_PLAINLY_CHEAP = 0.2
_SHORTENED = (Form.HEADER, Form.FINGERPRINT, Form.EXCERPT)


class Knapsack:
    """Takes memories in the order of relevance; what is left goes to shorter forms, then to longer ones.

    A shorter form waits while whole texts that still fit would bring more relevance for each token.
    """

    def select(self, pool: Pool, purse: Purse, terms: Terms) -> Selection:
        """Choose; see `Strategy`."""
        offers = _Offers(pool.items)
        taken: dict[int, Choice] = {}
        waiting = [index for index, item in enumerate(pool.items) if item.relevance > 0]
        for patient in (True, False):
            # What does not fit now may fit later, when another has paid for the heading of its day.
            candidates, waiting = waiting, []
            for index in candidates:
                item = pool.items[index]
                if purse.is_hopeless(item.candidate):
                    continue
                form = best_form(item.candidate, purse, terms.tuning)
                if form is None or (patient and offers.is_better_later(index, form, purse, terms.tuning)):
                    waiting.append(index)
                else:
                    taken[index] = buy(item, form, purse, item.relevance)
        choices = [_lengthened(taken[index], purse, terms.tuning) for index in sorted(taken)]
        return Selection(choices, [_left_out(item) for at, item in enumerate(pool.items) if at not in taken])


class _Offers:
    """What whole texts would bring for each token, by the stored counts."""

    def __init__(self, items: Sequence[Scored]) -> None:
        self._tokens = np.array([_estimated_tokens(item.candidate) for item in items], dtype=np.float64)
        self._rates = np.array([item.relevance for item in items]) / self._tokens
        self._items = items

    def is_better_later(self, index: int, form: Form, purse: Purse, tuning: Tuning) -> bool:
        """Tell whether a whole text after ``index`` fits and brings more for a token than this form."""
        if form is Form.VERBATIM:
            return False
        item = self._items[index]
        fitting = self._rates[index + 1 :][self._tokens[index + 1 :] <= purse.left]
        rate = item.relevance * _worth(form, tuning.worth) / purse.price(item.candidate, form)
        return bool(len(fitting)) and float(fitting.max()) > rate


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


def _left_out(item: Scored) -> Rejection:
    outcome = Outcome.UNAFFORDABLE if item.relevance > 0 else Outcome.NO_GAIN
    return Rejection(item, outcome, item.relevance)


def _estimated_tokens(candidate: Candidate) -> int:
    # Four code points a token is the usual rule for English; used only where nobody counted.
    known = candidate.verbatim_tokens
    return max(known if known is not None else len(candidate.text) // 4, 1)


def _worth(form: Form, worth: FormWorth) -> float:
    if form is Form.VERBATIM:
        return 1.0
    if form is Form.EXCERPT:
        return worth.excerpt
    return worth.fingerprint if form is Form.FINGERPRINT else worth.header
