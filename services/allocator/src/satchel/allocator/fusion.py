"""Joining the rankings by meaning and by words into one score.

All arrays are float64 and have one entry a candidate. The order of candidates does not change any value.
"""

import numpy as np

from satchel.allocator.model import Floats

# Spread of cosines between a question and unrelated short texts under all-MiniLM-L6-v2: what a handful of
# candidates is taken to have, so that two or three candidates are not torn apart by their own noise.
_TYPICAL_SPREAD = 0.1
_PRIOR_CANDIDATES = 5.0

# Steepness of the logistic that maps scores in units of cosine to [0, 1]: close to the identity between
# 0.15 and 0.85, where thresholds lie.
_RELEVANCE_SLOPE = 5.0
_RELEVANCE_MIDDLE = 0.5


def ranks(scores: Floats) -> Floats:
    """Return ranks from 1 by descending score; 0 where the score is NaN. Equal scores share the best rank."""
    found = ~np.isnan(scores)
    ordered = np.sort(-scores[found])
    result = np.zeros(len(scores))
    result[found] = np.searchsorted(ordered, -scores[found], side="left") + 1
    return result


def reciprocal_rank(rankings: list[Floats], k: int) -> Floats:
    """Sum 1 / (k + rank) over rankings, divided by the most that can be reached; in [0, 1].

    A rank of 0 means not found and adds nothing.

    Source: Cormack, Clarke and Buettcher 2009, "Reciprocal Rank Fusion".
    """
    total = np.zeros(len(rankings[0]))
    for ranking in rankings:
        total += np.divide(1.0, k + ranking, out=np.zeros(len(ranking)), where=ranking > 0)
    return total * (k + 1) / len(rankings)


def standard_score(cosine: Floats | None, lexical: Floats | None, *, lexical_weight: float) -> Floats:
    """Add cosine and BM25, the latter scaled so that both have the same spread; in units of cosine.

    ``cosine`` is NaN where a memory has no vector yet, which counts as the mean. ``lexical`` is 0 where the
    words were not found. Ranks candidates as the sum of their z-scores does, but keeps the absolute height
    of the cosine. One of the two may be `None` (a part did not answer); words alone are scaled to the best.

    Raises:
        ValueError: both are `None`.
    """
    if cosine is None and lexical is None:
        raise ValueError("standard_score needs a ranking by meaning or by words.")
    if cosine is None:
        assert lexical is not None  # noqa: S101  # excluded above; tells the type checker
        return lexical / lexical.max() if lexical.max() > 0 else lexical
    known = cosine[~np.isnan(cosine)]
    filled = np.where(np.isnan(cosine), known.mean() if len(known) else 0.0, cosine)
    if lexical is None or not lexical.any():
        return filled
    return filled + lexical_weight * lexical * (_spread(known, _TYPICAL_SPREAD) / _lexical_spread(lexical))


def spread_of(cosine: Floats | None, fused: Floats) -> float:
    """Return the spread by which boosts are measured: that of the cosines, or of the scores without any."""
    if cosine is None:
        return _spread(fused, _TYPICAL_SPREAD)
    return _spread(cosine[~np.isnan(cosine)], _TYPICAL_SPREAD)


def relevance(fused: Floats) -> Floats:
    """Map scores in units of cosine to (0, 1), strictly monotonic."""
    scaled = np.clip(_RELEVANCE_SLOPE * (fused - _RELEVANCE_MIDDLE), -500, 500)
    return 1.0 / (1.0 + np.exp(-scaled))


def _lexical_spread(lexical: Floats) -> float:
    # A lone best hit among few others is taken to stand four of its spreads above nothing, as in large sets.
    return _spread(lexical, float(lexical.max()) / 4)


def _spread(values: Floats, prior: float) -> float:
    """Return the standard deviation, drawn to ``prior`` as if so many candidates more had been seen."""
    if not len(values):
        return prior
    squares = float(((values - values.mean()) ** 2).sum())
    return float(np.sqrt((squares + _PRIOR_CANDIDATES * prior**2) / (len(values) + _PRIOR_CANDIDATES)))
