"""Measures one answer: what of the evidence is in a context, and where it stands in a ranking."""

from collections.abc import Collection, Sequence

from benchmarks.words import content_words, words

ANSWER_SHARE = 0.8


def squeeze(text: str) -> str:
    """Return a text with each run of blanks and line breaks as one blank."""
    return " ".join(text.split())


def count_found(spans: Sequence[str], context: str) -> int:
    """Count the spans that stand in a context word for word; blanks and line breaks count as the same."""
    squeezed = squeeze(context)
    return sum(squeeze(span) in squeezed for span in spans)


def is_answered(answer: str, context: str) -> bool:
    """Tell whether a context has at least 80 % of the content words of an answer.

    A proxy: the words may stand anywhere, and mean something else there. An answer that is said in other
    words than those of its evidence is not found, by a perfect context either.
    """
    wanted = content_words(answer)
    return len(wanted & set(words(context))) >= ANSWER_SHARE * len(wanted)


def recall_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """Return the share of the gold ids among the first ``k`` of a ranking, in [0, 1]."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """Return 1 / rank of the first gold id of a ranking; 0 when none is there."""
    return next((1 / rank for rank, one in enumerate(ranked, 1) if one in gold), 0.0)
