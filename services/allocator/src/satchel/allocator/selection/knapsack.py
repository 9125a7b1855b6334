"""Greedy by relevance, each memory in the form that is worth most for its price.

The order is that of relevance, not of relevance per token: measured, dividing by the price fills the budget
with short remarks and loses evidence at every budget (docs/recall.md). The price decides the *form*.
"""

import math
from functools import cached_property

import numpy as np

from satchel.allocator.lazy import Lazy
from satchel.allocator.model import Candidate, Floats, Form, Outcome, Outline, Pool, Scored
from satchel.allocator.packing import Ledger
from satchel.allocator.results import Choice, Rejection, Selection
from satchel.allocator.selection.strategy import Terms, allowed_forms, bring_back, buy, payable_forms
from satchel.allocator.tuning import FormWorth, Tuning

# With so little of a slot, no shorter form can be worth more for its price, even for nothing.
_PLAINLY_CHEAP = 0.2
_SHORTENED = (Form.HEADER, Form.FINGERPRINT, Form.EXCERPT)


class Knapsack:
    """Takes memories in the order of relevance; what is left goes to shorter forms, then to longer ones.

    A shorter form waits while whole texts that still fit would bring more relevance for each token.
    """

    def select(self, pool: Pool, ledger: Ledger, terms: Terms) -> Selection:
        """Choose; see `Strategy`."""
        outline, tuning = pool.outline, terms.tuning
        offers = _Offers(outline)
        relevant = int(np.count_nonzero(outline.relevances > 0))
        taken: dict[int, Choice] = {}
        waiting: list[int] = list(range(relevant))
        for patient in (True, False):
            # What does not fit now may fit later, when another has paid for the heading of its day.
            candidates, waiting = ledger.hopeful(waiting), []
            for index in candidates:
                item = pool.items[index]
                form = best_form(item.candidate, ledger, tuning)
                if form is None or (patient and offers.is_better_later(index, item, form, ledger, tuning)):
                    waiting.append(index)
                    continue
                taken[index] = buy(item, form, ledger, item.relevance)
        choices = [_lengthened(taken[index], ledger, tuning) for index in sorted(taken)]
        rest = [index for index in range(len(pool.items)) if index not in taken]
        rejections = Lazy(lambda at: _left_out(pool.items[rest[at]]), len(rest))
        returned = bring_back(pool.reserve, ledger, tuning)
        return Selection(choices + returned, rejections, relevant - len(taken), len(returned))


class _Offers:
    """What whole texts would bring for each token, by the stored counts."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline

    def is_better_later(self, index: int, item: Scored, form: Form, ledger: Ledger, tuning: Tuning) -> bool:
        """Tell whether a whole text after ``index`` fits and brings more for a token than this form.

        Never where the form is all that there is to show.
        """
        if form is Form.VERBATIM or not item.candidate.text:
            return False
        rates, tokens = self._rates_and_tokens
        fitting = rates[index + 1 :][tokens[index + 1 :] <= ledger.left]
        rate = item.relevance * _worth(form, tuning.worth) / ledger.price(item.candidate, form)
        return bool(len(fitting)) and float(fitting.max()) > rate

    @cached_property
    def _rates_and_tokens(self) -> tuple[Floats, Floats]:
        outline = self._outline
        tokens = np.array(
            [_estimated(*pair) for pair in zip(outline.tokens, outline.texts, strict=True)],
            dtype=np.float64,
        )
        return outline.relevances / tokens, tokens


def best_form(candidate: Candidate, ledger: Ledger, tuning: Tuning) -> Form | None:
    """Return the affordable form with the most worth for its price; `None` if there is none.

    Equal worth goes to the longer form. A form that takes little of the budget is not compared with others.
    """
    slot = tuning.worth.slot_share * ledger.budget
    if (
        candidate.text
        and tuning.forms[0] is Form.VERBATIM
        and not ledger.certainly_too_dear(candidate, ledger.left)
    ):
        # What the loop below would find in its first round: by far the most common case.
        price = ledger.price(candidate, Form.VERBATIM)
        if price <= min(ledger.left, _PLAINLY_CHEAP * slot):
            return Form.VERBATIM
    best: tuple[float, Form] | None = None
    for form, price in payable_forms(candidate, ledger, tuning):
        value = _worth(form, tuning.worth) / (price + slot)
        if best is None or value > best[0]:
            best = (value, form)
        if price <= _PLAINLY_CHEAP * slot:
            break
    return best[1] if best else None


def _lengthened(choice: Choice, ledger: Ledger, tuning: Tuning) -> Choice:
    """Show more of a shortened memory if what is left allows it."""
    if choice.form not in _SHORTENED:
        return choice
    candidate = choice.item.candidate
    for form in allowed_forms(candidate, tuning):
        if _worth(form, tuning.worth) <= _worth(choice.form, tuning.worth):
            break
        if form is Form.VERBATIM and ledger.certainly_too_dear(candidate, ledger.left + choice.tokens):
            continue
        tokens = ledger.exchange(candidate, choice.form, form)
        if tokens is not None:
            return Choice(choice.item, form, tokens, choice.score)
    return choice


def _left_out(item: Scored) -> Rejection:
    outcome = Outcome.UNAFFORDABLE if item.relevance > 0 else Outcome.NO_GAIN
    return Rejection(item, outcome, item.relevance)


def _estimated(tokens: int | None, text: str) -> float:
    """Return the tokens of a text, at least 1; endlessly many of one that is kept back."""
    if not text:
        return math.inf
    # Four code points a token is the usual rule for English; used only where nobody counted.
    return max(tokens if tokens is not None else len(text) // 4, 1)


def _worth(form: Form, worth: FormWorth) -> float:
    if form is Form.VERBATIM:
        return 1.0
    if form is Form.EXCERPT:
        return worth.excerpt
    return worth.fingerprint if form is Form.FINGERPRINT else worth.header
