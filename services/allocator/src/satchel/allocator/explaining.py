"""Why each candidate was chosen, shortened or left out, in figures and in a sentence."""

from collections.abc import Iterator
from dataclasses import replace

from satchel.allocator.factors import Interplay, steady_factors
from satchel.allocator.model import Form, Outcome, Outline, Pool, Ranked, Scored
from satchel.allocator.packing import Ledger
from satchel.allocator.results import Choice, Explanation, FactorValues, Rejection, Selection
from satchel.allocator.selection.strategy import Terms, cheapest

_FORM_NAMES = {
    Form.EXCERPT: "the passage that matters",
    Form.FINGERPRINT: "its facts",
    Form.HEADER: "its header",
    Form.VERBATIM: "its whole text",
}


def explain(
    ranked: Ranked, pool: Pool, selection: Selection, ledger: Ledger, terms: Terms, *, threshold: float
) -> list[Explanation]:
    """Explain every candidate: the chosen as they were chosen, then the rest by relevance, then by id."""
    values = _replayed(ranked, selection, terms)
    better_than = {item.candidate.id: better for item, better in ranked.collapsed}
    chosen = [
        _of_choice(one, values, better_than.get(one.item.candidate.id, "")) for one in selection.choices
    ]
    rest = [_of_rejection(one, values, ledger, terms) for one in selection.rejections]
    for item in ranked.items[len(pool.items) :]:
        reason = f"Its relevance of {item.relevance:.3f} is below the threshold of {threshold:.3f}."
        tokens = cheapest(ledger, item.candidate, terms.tuning)
        rest.append(_left_out(item, Outcome.BELOW_THRESHOLD, reason, values, tokens))
    shown = {choice.item.candidate.id for choice in selection.choices}
    for item, better in ranked.collapsed:
        if item.candidate.id not in shown:
            reason = f"Nearly the same as {better}, which is more relevant."
            tokens = cheapest(ledger, item.candidate, terms.tuning)
            rest.append(
                replace(_left_out(item, Outcome.COLLAPSED, reason, values, tokens), collapsed_into=better)
            )
    return chosen + sorted(rest, key=lambda one: (-one.item.relevance, one.item.candidate.id))


def _left_out(
    item: Scored, outcome: Outcome, reason: str, values: dict[str, FactorValues], tokens: int
) -> Explanation:
    """Explain an item that no strategy looked at; ``tokens`` are those of its cheapest form."""
    return Explanation(item, outcome, reason, values[item.candidate.id], item.relevance, None, tokens)


def _replayed(ranked: Ranked, selection: Selection, terms: Terms) -> dict[str, FactorValues]:
    """Return the factors: of the chosen as they stood before the choice, of the others as they ended."""
    items = [*ranked.items, *(item for item, _ in ranked.collapsed)]
    pool = Pool(items, ranked.vectors, Outline.of(items))
    candidates = [item.candidate for item in items]
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


def _of_choice(choice: Choice, values: dict[str, FactorValues], better: str) -> Explanation:
    """Explain a choice; ``better`` is the memory that it is a near duplicate of, if it is one."""
    whole = choice.form is Form.VERBATIM
    name = _FORM_NAMES[choice.form]
    reason = (
        f"Relevance {choice.item.relevance:.3f}; {name} takes {choice.tokens} tokens."
        if whole
        else f"Relevance {choice.item.relevance:.3f}; {name}, {choice.tokens} tokens, stands for the text."
    )
    if better:
        reason += f" Nearly the same as {better}; shown because budget was left."
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
    rejection: Rejection, values: dict[str, FactorValues], ledger: Ledger, terms: Terms
) -> Explanation:
    tokens = cheapest(ledger, rejection.item.candidate, terms.tuning)
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
