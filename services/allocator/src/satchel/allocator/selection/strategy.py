"""What a strategy is given and gives, and what all of them share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from satchel.allocator.model import Candidate, Choice, Form, Outcome, Pool, Rejection, Scored, Selection
from satchel.allocator.packing import Purse
from satchel.allocator.tuning import Tuning


@dataclass(frozen=True, slots=True)
class Terms:
    """What a strategy goes by: settings, the time from which ages count, the session that asks."""

    tuning: Tuning
    now_us: int | None = None
    session_id: str = ""


class Strategy(Protocol):
    """Chooses from a pool until the purse holds nothing more.

    Deterministic: the same pool, purse and terms give the same selection; ties go to the smaller id. An item
    that is too dear for what is left never ends the search for a cheaper one.
    """

    def select(self, pool: Pool, purse: Purse, terms: Terms) -> Selection:
        """Choose and spend; every item of the pool comes back as a choice or as a rejection."""


def allowed_forms(candidate: Candidate, tuning: Tuning) -> Iterator[Form]:
    """Yield the forms that the settings allow and the candidate has, longest first."""
    return (form for form in tuning.forms if _has(candidate, form))


def payable_forms(candidate: Candidate, purse: Purse, tuning: Tuning) -> Iterator[tuple[Form, int]]:
    """Yield the allowed forms that fit in what is left, longest first, with their prices.

    A form dearer than the text that it stands for is none of them.
    """
    for form in allowed_forms(candidate, tuning):
        if form is Form.VERBATIM:
            if purse.certainly_too_dear(candidate, purse.left):
                continue
        elif purse.left < purse.least_reference_price(candidate):
            return
        price = purse.price(candidate, form)
        if price <= purse.left and is_worthwhile(purse, candidate, form, tuning):
            yield form, price


def is_worthwhile(purse: Purse, candidate: Candidate, form: Form, tuning: Tuning) -> bool:
    """Tell whether a form is cheaper than the text it stands for, where that may be shown."""
    if form is Form.VERBATIM or Form.VERBATIM not in tuning.forms:
        return True
    tokens = purse.tokens(candidate, form)
    if purse.certainly_too_dear(candidate, tokens):
        return True
    return tokens < purse.tokens(candidate, Form.VERBATIM)


def cheapest(purse: Purse, candidate: Candidate, tuning: Tuning) -> int:
    """Return the least tokens for which the candidate could be shown; 0 if no form is allowed."""
    least = 0
    for form in allowed_forms(candidate, tuning):
        if form is Form.VERBATIM and least and purse.certainly_too_dear(candidate, least):
            continue
        tokens = purse.tokens(candidate, form)
        least = min(least, tokens) if least else tokens
    return least


def buy(item: Scored, form: Form, purse: Purse, score: float) -> Choice:
    """Spend on an item that is known to fit."""
    return Choice(item, form, purse.spend(item.candidate, form), score)


def count_unaffordable(rejections: Sequence[Rejection]) -> int:
    """Return how many were too dear."""
    return sum(one.outcome is Outcome.UNAFFORDABLE for one in rejections)


def _has(candidate: Candidate, form: Form) -> bool:
    if form is Form.EXCERPT:
        return candidate.excerpt is not None
    return form is not Form.FINGERPRINT or bool(candidate.facts.strip())
