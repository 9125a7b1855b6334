"""What a strategy is given and gives, and what all of them share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from satchel.allocator.model import Candidate, Form, Outcome, Pool, Scored
from satchel.allocator.packing import Ledger
from satchel.allocator.results import Choice, Rejection, Selection
from satchel.allocator.tuning import Tuning


@dataclass(frozen=True, slots=True)
class Terms:
    """What a strategy goes by: settings, the time from which ages count, the session that asks."""

    tuning: Tuning
    now_us: int | None = None
    session_id: str = ""


class Strategy(Protocol):
    """Chooses from a pool until the budget holds nothing more.

    Deterministic: the same pool, ledger and terms give the same selection; ties go to the smaller id. An item
    that is too dear for what is left never ends the search for a cheaper one.
    """

    def select(self, pool: Pool, ledger: Ledger, terms: Terms) -> Selection:
        """Choose and spend; every item of the pool comes back as a choice or as a rejection.

        Of the pool's reserve come back, as the last choices, those that still fit.
        """


def allowed_forms(candidate: Candidate, tuning: Tuning) -> Iterator[Form]:
    """Yield the forms that the settings allow and the candidate has, longest first."""
    return (form for form in tuning.forms if _has(candidate, form))


def payable_forms(candidate: Candidate, ledger: Ledger, tuning: Tuning) -> Iterator[tuple[Form, int]]:
    """Yield the allowed forms that fit in what is left, longest first, with their prices.

    A form dearer than the text that it stands for is none of them.
    """
    for form in tuning.forms:
        if form is Form.VERBATIM:
            if ledger.certainly_too_dear(candidate, ledger.left):
                continue
        elif not ledger.may_refer(candidate):
            return
        if not _has(candidate, form):
            continue
        price = ledger.price(candidate, form)
        if price <= ledger.left and is_worthwhile(ledger, candidate, form, tuning):
            yield form, price


def is_worthwhile(ledger: Ledger, candidate: Candidate, form: Form, tuning: Tuning) -> bool:
    """Tell whether a form is cheaper than the text it stands for, where that may be shown."""
    if form is Form.VERBATIM or Form.VERBATIM not in tuning.forms or not candidate.text:
        return True
    tokens = ledger.tokens(candidate, form)
    if ledger.certainly_too_dear(candidate, tokens):
        return True
    return tokens < ledger.tokens(candidate, Form.VERBATIM)


def cheapest(ledger: Ledger, candidate: Candidate, tuning: Tuning) -> int:
    """Return the least tokens for which the candidate could be shown; 0 if no form is allowed."""
    least = 0
    for form in allowed_forms(candidate, tuning):
        if form is Form.VERBATIM and least and ledger.certainly_too_dear(candidate, least):
            continue
        tokens = ledger.tokens(candidate, form)
        least = min(least, tokens) if least else tokens
    return least


def bring_back(reserve: Sequence[Scored], ledger: Ledger, tuning: Tuning) -> list[Choice]:
    """Spend what is left on near duplicates, best first, each in the longest form that is allowed, or not."""
    choices: list[Choice] = []
    for item in reserve:
        form = next(allowed_forms(item.candidate, tuning), None)
        if form is not None and fits(item.candidate, form, ledger):
            choices.append(buy(item, form, ledger, item.relevance))
    return choices


def fits(candidate: Candidate, form: Form, ledger: Ledger) -> bool:
    """Tell whether a form of the candidate fits in what is left."""
    if form is Form.VERBATIM and ledger.certainly_too_dear(candidate, ledger.left):
        return False
    return ledger.price(candidate, form) <= ledger.left


def buy(item: Scored, form: Form, ledger: Ledger, score: float) -> Choice:
    """Spend on an item that is known to fit."""
    return Choice(item, form, ledger.spend(item.candidate, form), score)


def count_unaffordable(rejections: Sequence[Rejection]) -> int:
    """Return how many were too dear."""
    return sum(one.outcome is Outcome.UNAFFORDABLE for one in rejections)


def _has(candidate: Candidate, form: Form) -> bool:
    if not candidate.text:
        # The store keeps the text back, and so may its facts not be shown.
        return form is Form.HEADER
    if form is Form.EXCERPT:
        return candidate.excerpt is not None
    return form is not Form.FINGERPRINT or bool(candidate.facts.strip())
