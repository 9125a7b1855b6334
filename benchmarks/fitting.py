"""Fits the weights of a ranking by a listwise softmax. Pure; numpy only."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Keeps a weight at 0 that no question says anything about, and hardly moves the others.
RIDGE = 1e-4
_MOST_STEPS = 50
_MOST_HALVINGS = 30
_EXACT = 1e-10


@dataclass(frozen=True, slots=True)
class Listed:
    """The candidates of one question: ``signals`` is (candidates, signals), ``is_gold`` (candidates,)."""

    signals: Floats
    is_gold: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Bend:
    """A loss, its gradient (signals,) and its second derivative (signals, signals)."""

    loss: float
    slope: Floats
    curvature: Floats


def fit(questions: Sequence[Listed]) -> Floats:
    """Return the weights, (signals,), under which gold candidates are the likeliest.

    The loss is the mean over the questions of the cross entropy between the softmax of the weighted sum of
    the signals and an equal share for each gold candidate, and `RIDGE` / 2 times the squared norm of the
    weights. It is convex, and found by Newton's method with halved steps. Questions without a gold candidate
    say nothing and are passed over. Linear in the number of candidates for each of some ten steps.

    Raises:
        ValueError: no question has a gold candidate.

    Source: Cao et al. 2007, "Learning to Rank: From Pairwise Approach to Listwise Approach", section 4.
    """
    telling = [one for one in questions if one.is_gold.any()]
    if not telling:
        raise ValueError("No question has its evidence among its candidates, so there is nothing to fit.")
    weights = np.zeros(telling[0].signals.shape[1])
    for _ in range(_MOST_STEPS):
        bend = _bend(telling, weights)
        step = np.linalg.solve(bend.curvature, bend.slope).astype(np.float64)
        if float(bend.slope @ step) < _EXACT:
            break
        weights = weights - step * _share_of(step, telling, weights, bend)
    return weights


def loss_and_slope(questions: Sequence[Listed], weights: Floats) -> tuple[float, Floats]:
    """Return what `fit` makes least, and its gradient, (signals,)."""
    bend = _bend([one for one in questions if one.is_gold.any()], weights)
    return bend.loss, bend.slope


def _share_of(step: Floats, questions: Sequence[Listed], weights: Floats, bend: _Bend) -> float:
    """Return the share of a step, halved until the loss falls by a quarter of what its slope promises."""
    share, promised = 1.0, float(bend.slope @ step) / 4
    for _ in range(_MOST_HALVINGS):
        if _bend(questions, weights - share * step).loss <= bend.loss - share * promised:
            return share
        share /= 2
    return 0.0


def _bend(questions: Sequence[Listed], weights: Floats) -> _Bend:
    count = len(weights)
    loss, slope, curvature = 0.0, np.zeros(count), np.zeros((count, count))
    for one in questions:
        scores = one.signals @ weights
        likely = np.exp(scores - scores.max())
        total = float(likely.sum())
        likely /= total
        expected = likely @ one.signals
        loss += float(scores.max()) + float(np.log(total)) - float(scores[one.is_gold].mean())
        slope += expected - one.signals[one.is_gold].mean(axis=0)
        curvature += (one.signals * likely[:, None]).T @ one.signals - np.outer(expected, expected)
    asked = len(questions)
    return _Bend(
        loss / asked + RIDGE / 2 * float(weights @ weights),
        slope / asked + RIDGE * weights,
        curvature / asked + RIDGE * np.eye(count),
    )
