"""The receipt: what was found, what was spent, and what the caller should know."""

from dataclasses import dataclass

from satchel.allocator.model import Ranked, StrategyName
from satchel.allocator.results import Receipt, Selection

_DEGRADED_NOTES = {
    "embedder": "The embedder did not answer, so that words alone decided.",
    "index": "The index could not answer, so that the store's exact search or the words alone decided.",
    "model": "The vectors are of another model than the embedder's, so that words alone decided. "
    "Run 'satchel reembed'.",
    "lexical": "The search by words did not answer, so that meaning alone decided.",
}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the candidates came from; empty for the caller's own."""

    degraded: tuple[str, ...] = ()
    fallback_wing: str = ""
    revision: int = 0
    model_sha256: str = ""
    given_count: int = 0


@dataclass(frozen=True, slots=True)
class Spending:
    """A budget and what became of it. ``cheapest_tokens`` is the least that any context would have taken."""

    budget: int
    total_tokens: int
    cheapest_tokens: int = 0


def make_receipt(
    spending: Spending,
    strategy: StrategyName,
    ranked: Ranked,
    selection: Selection,
    *,
    pool_count: int,
    threshold: float,
    provenance: Provenance,
) -> Receipt:
    """Return the receipt; framing is whatever of the context belongs to no single memory.

    ``pool_count`` is how many candidates reached the threshold.
    """
    choices, rejections = selection.choices, selection.rejections
    ranked_count = len(ranked.items) + len(ranked.tail)
    return Receipt(
        budget=spending.budget,
        total_tokens=spending.total_tokens,
        framing_tokens=spending.total_tokens - sum(choice.tokens for choice in choices),
        strategy=strategy,
        candidate_count=ranked_count + len(ranked.collapsed),
        collapsed_count=len(ranked.collapsed) - selection.returned_count,
        below_threshold_count=ranked_count - pool_count,
        unaffordable_count=selection.unaffordable_count,
        no_gain_count=len(rejections) - selection.unaffordable_count,
        selected_count=len(choices),
        threshold=threshold,
        fallback_wing=provenance.fallback_wing,
        degraded=provenance.degraded,
        revision=provenance.revision,
        model_sha256=provenance.model_sha256,
        notes=tuple(_notes(spending, ranked, selection, provenance)),
    )


def _notes(spending: Spending, ranked: Ranked, selection: Selection, provenance: Provenance) -> list[str]:
    choices, collapsed = selection.choices, len(ranked.collapsed)
    notes = [_DEGRADED_NOTES[part] for part in provenance.degraded]
    if provenance.fallback_wing:
        notes.append(f"The wing has nothing to offer; '{provenance.fallback_wing}' answered in its place.")
    if provenance.given_count:
        notes.append(f"Left out, for the session was given them before: {provenance.given_count}.")
    if not ranked.items:
        notes.append("No memory was found.")
    elif not choices and spending.cheapest_tokens:
        notes.append(
            f"The budget of {spending.budget} tokens is too small for any of the {len(ranked.items)} "
            f"memories found; the cheapest takes {spending.cheapest_tokens} tokens with its framing."
        )
    elif not choices:
        notes.append("No memory that was found can be shown in the allowed forms or has any relevance.")
    if collapsed:
        notes.append(_collapsed_note(collapsed, selection.returned_count))
    return notes


def _collapsed_note(collapsed: int, returned: int) -> str:
    memories = "1 memory was" if collapsed == 1 else f"{collapsed} memories were"
    note = f"{memories} collapsed into a nearly equal one that is more relevant"
    return f"{note}; {returned} of them came back, as budget was left." if returned else f"{note}."
