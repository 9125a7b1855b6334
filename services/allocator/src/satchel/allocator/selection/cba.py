"""Context Budget Allocation as it was published: greedy by all six factors, forms by what is left."""

import heapq

from satchel.allocator.factors import Interplay, score, steady_factors
from satchel.allocator.model import Candidate, Form, Outcome, Pool
from satchel.allocator.packing import Ledger
from satchel.allocator.results import Choice, FactorValues, Rejection, Selection
from satchel.allocator.selection.strategy import (
    Terms,
    allowed_forms,
    buy,
    count_unaffordable,
    is_worthwhile,
    payable_forms,
)
from satchel.allocator.tuning import Tuning

# Below so many tokens left, nothing longer than a header, or than a fingerprint, is tried.
_HEADER_BELOW = 100
_FINGERPRINT_BELOW = 1000
# From short to long; a form that is too dear is downgraded one step at a time.
_LADDER = (Form.HEADER, Form.FINGERPRINT, Form.EXCERPT, Form.VERBATIM)


class Cba:
    """Takes the candidate with the greatest S = rho * delta * eta * (1 - sigma) * tau * chi, again and again.

    Scores are re-evaluated lazily on a heap of upper bounds: overlap only grows, links to the chosen only
    accumulate, and the session bonus, once won, stays, so a bound is the last score with the bonus put in.
    """

    def select(self, pool: Pool, ledger: Ledger, terms: Terms) -> Selection:
        """Choose; see `Strategy`."""
        ranking = _Ranking(pool, terms)
        choices: list[Choice] = []
        rejections: list[Rejection] = []
        while (best := ranking.pop()) is not None:
            index, value = best
            item = pool.items[index]
            form = affordable_form(item.candidate, ledger, terms.tuning) if value > 0 else None
            if form is None:
                outcome = Outcome.UNAFFORDABLE if value > 0 else Outcome.NO_GAIN
                rejections.append(Rejection(item, outcome, value))
                continue
            choices.append(buy(item, form, ledger, value))
            ranking.choose(index)
        return Selection(choices, rejections, count_unaffordable(rejections))


def affordable_form(candidate: Candidate, ledger: Ledger, tuning: Tuning) -> Form | None:
    """Return the longest form that what is left calls for and pays; `None` if there is none.

    A form dearer than the text gives way to the text, also where the published thresholds would not show it;
    where no form that is called for is allowed, the shortest allowed one is taken.
    """
    if ledger.is_hopeless(candidate):
        return None
    called_for = _LADDER[: _steps(ledger.left)]
    longer: Form | None = None
    for form, _ in payable_forms(candidate, ledger, tuning):
        if form in called_for or (
            form is Form.VERBATIM and not _has_shorter(candidate, ledger, tuning, called_for)
        ):
            return form
        longer = form
    return None if any(form in called_for for form in allowed_forms(candidate, tuning)) else longer


def _has_shorter(candidate: Candidate, ledger: Ledger, tuning: Tuning, forms: tuple[Form, ...]) -> bool:
    """Tell whether one of ``forms`` is allowed and cheaper than the text."""
    return any(
        form in forms and is_worthwhile(ledger, candidate, form, tuning)
        for form in allowed_forms(candidate, tuning)
    )


def _steps(left: int) -> int:
    if left < _HEADER_BELOW:
        return 1
    return 2 if left < _FINGERPRINT_BELOW else len(_LADDER)


class _Ranking:
    """The candidates by score, re-evaluated as others are chosen."""

    def __init__(self, pool: Pool, terms: Terms) -> None:
        self._pool, self._tuning = pool, terms.tuning
        self._interplay = Interplay(pool, terms.tuning, session_id=terms.session_id)
        candidates = [item.candidate for item in pool.items]
        self._density, self._age = steady_factors(candidates, terms.tuning, terms.now_us)
        bonus = max(terms.tuning.factors.session_bonus, 1.0)
        self._heap = [
            (
                -item.relevance * float(self._density[index]) * float(self._age[index]) * bonus,
                item.candidate.id,
                index,
            )
            for index, item in enumerate(pool.items)
        ]
        heapq.heapify(self._heap)

    def choose(self, index: int) -> None:
        """Let the factors of the others know."""
        self._interplay.choose(index)

    def pop(self) -> tuple[int, float] | None:
        """Return the best candidate by its score now, and forget it; `None` when none is left.

        Ties go to the smaller id.
        """
        looked_at: list[tuple[float, str, int]] = []
        while self._heap and not (looked_at and min(looked_at) <= self._heap[0]):
            _, name, index = heapq.heappop(self._heap)
            looked_at.append((-score(self._pool.items[index].relevance, self._factors(index)), name, index))
        if not looked_at:
            return None
        best = min(looked_at)
        for value, name, index in looked_at:
            if index != best[2]:
                heapq.heappush(self._heap, (value * self._headroom(index), name, index))
        return best[2], -best[0]

    def _factors(self, index: int) -> FactorValues:
        return self._interplay.values(index, float(self._density[index]), float(self._age[index]))

    def _headroom(self, index: int) -> float:
        bonus = max(self._tuning.factors.session_bonus, 1.0)
        return bonus / self._factors(index).session
