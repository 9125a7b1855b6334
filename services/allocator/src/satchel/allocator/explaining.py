"""Why each candidate was chosen, shortened or left out, in figures and in a sentence."""

from collections.abc import Iterator

from satchel.allocator.factors import Interplay, steady_factors
from satchel.allocator.model import (
    Choice,
    Explanation,
    FactorValues,
    Form,
    Outcome,
    Pool,
    Ranked,
    Rejection,
    Selection,
)
from satchel.allocator.packing import Purse
from satchel.allocator.selection.strategy import Terms, cheapest

_FORM_NAMES = {
    Form.EXCERPT: "the passage that matters",
    Form.FINGERPRINT: "its facts",
    Form.HEADER: "its header",
    Form.VERBATIM: "its whole text",
}


def explain(
    ranked: Ranked, pool: Pool, selection: Selection, purse: Purse, terms: Terms, *, threshold: float
) -> list[Explanation]:
    """Explain every candidate: the chosen as they were chosen, then the rest by relevance, then by id."""
    values = _replayed(ranked, selection, terms)
    chosen = [_of_choice(choice, values) for choice in selection.choices]
    rest = [_of_rejection(one, values, purse, terms) for one in selection.rejections]
    for item in ranked.items[len(pool.items) :]:
        reason = f"Its relevance of {item.relevance:.3f} is below the threshold of {threshold:.3f}."
        outcome = Outcome.BELOW_THRESHOLD
        factors = values[item.candidate.id]
        rest.append(Explanation(item, outcome, reason, factors, item.relevance, None, 0))
    for item, better in ranked.collapsed:
        reason = f"Nearly the same as {better}, which is more relevant."
        outcome, factors = Outcome.COLLAPSED, FactorValues()
        rest.append(Explanation(item, outcome, reason, factors, item.relevance, None, 0, better))
    return chosen + sorted(rest, key=lambda one: (-one.item.relevance, one.item.candidate.id))


def _replayed(ranked: Ranked, selection: Selection, terms: Terms) -> dict[str, FactorValues]:
    """Return the factors: of the chosen as they stood before the choice, of the others as they ended."""
    pool = Pool(ranked.items, ranked.vectors, ranked.columns)
    candidates = [item.candidate for item in ranked.items]
    densities, ages = steady_factors(candidates, terms.tuning, terms.now_us)
    interplay = Interplay(pool, terms.tuning, session_id=terms.session_id)
    at = {candidate.id: index for index, candidate in enumerate(candidates)}

    def look(index: int) -> FactorValues:
        return interplay.values(index, float(densities[index]), float(ages[index]))

    values: dict[str, FactorValues] = {}
    for choice in selection.choices:
        index = at[choice.item.candidate.id]
        values[choice.item.candidate.id] = look(index)
        interplay.choose(index)
    return {name: look(index) for name, index in at.items()} | values


def _of_choice(choice: Choice, values: dict[str, FactorValues]) -> Explanation:
    whole = choice.form is Form.VERBATIM
    name = _FORM_NAMES[choice.form]
    reason = (
        f"Relevance {choice.item.relevance:.3f}; {name} takes {choice.tokens} tokens."
        if whole
        else f"Relevance {choice.item.relevance:.3f}; {name}, {choice.tokens} tokens, stands for the text."
    )
    return Explanation(
        item=choice.item,
        outcome=Outcome.CHOSEN if whole else Outcome.SHORTENED,
        reason=reason,
        factors=values[choice.item.candidate.id],
        score=choice.score,
        form=choice.form,
        token_cost=choice.tokens,
    )


def _of_rejection(
    rejection: Rejection, values: dict[str, FactorValues], purse: Purse, terms: Terms
) -> Explanation:
    tokens = cheapest(purse, rejection.item.candidate, terms.tuning)
    return Explanation(
        item=rejection.item,
        outcome=rejection.outcome,
        reason=" ".join(_why_not(rejection, tokens)),
        factors=values[rejection.item.candidate.id],
        score=rejection.score,
        form=None,
        token_cost=tokens,
    )


def _why_not(rejection: Rejection, tokens: int) -> Iterator[str]:
    if rejection.outcome is Outcome.NO_GAIN:
        yield "It has no value beside what was chosen."
    elif tokens:
        yield f"Its cheapest form takes {tokens} tokens, more than was left."
    else:
        yield "None of the allowed forms can show it."
