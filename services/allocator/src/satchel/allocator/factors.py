"""The factors of the score of Context Budget Allocation: S = rho * delta * eta * (1 - sigma) * tau * chi.

Source of every formula and constant: the published description of Context Budget Allocation; delta is the
plain logistic that it names, which is never zero.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from satchel.allocator.model import (
    MICROSECONDS_PER_SECOND,
    SECONDS_PER_DAY,
    Candidate,
    Factor,
    Floats,
    MemoryType,
    Pool,
)
from satchel.allocator.results import FactorValues
from satchel.allocator.tuning import AGE_RATES, FactorConstants, Tuning


def density(fact_count: int, tokens: int, constants: FactorConstants) -> float:
    """Return delta in (0, 1): a logistic of facts / sqrt(tokens). No facts count as one, as do no tokens."""
    raw = max(fact_count, 1) / math.sqrt(max(tokens, 1))
    return 1.0 / (1.0 + math.exp(-constants.density_slope * (raw - constants.density_middle)))


def age(
    kind: MemoryType,
    time_us: int | None,
    now_us: int | None,
    rates: Mapping[MemoryType, float] = AGE_RATES,
) -> float:
    """Return eta in (0, 1]: exp(-lambda * days) by type. A time in the future, or none, gives 1."""
    if time_us is None or now_us is None:
        return 1.0
    days = max(now_us - time_us, 0) / (MICROSECONDS_PER_SECOND * SECONDS_PER_DAY)
    return max(math.exp(-rates[kind] * days), math.ulp(0.0))


class Interplay:
    """The three factors that depend on what is chosen: overlap, session and causal links.

    Kept up to date choice by choice: one matrix-vector product and O(n) each.
    """

    def __init__(self, pool: Pool, tuning: Tuning, *, session_id: str = "") -> None:
        self._pool, self._tuning = pool, tuning
        candidates = [item.candidate for item in pool.items]
        self._rows = np.array([item.row for item in pool.items], dtype=np.int64)
        self._times = np.array([_time(candidate) for candidate in candidates], dtype=np.float64)
        self._ids = [candidate.id for candidate in candidates]
        self._links = [candidate.links for candidate in candidates]
        self._overlap = np.zeros(len(candidates))
        self._near = np.array([_same_session(candidate, session_id) for candidate in candidates], dtype=bool)
        self._linked = np.zeros(len(candidates), dtype=np.int64)

    def choose(self, index: int) -> None:
        """Take note that a candidate of the pool was chosen."""
        off = self._tuning.disabled_factors
        if Factor.OVERLAP not in off and self._rows[index] >= 0:
            similarity = self._pool.vectors @ self._pool.vectors[self._rows[index]]
            known = self._rows >= 0
            self._overlap[known] = np.maximum(self._overlap[known], similarity[self._rows[known]])
        if Factor.SESSION not in off:
            window = self._tuning.factors.session_window_s
            with np.errstate(invalid="ignore"):
                self._near |= np.abs(self._times - self._times[index]) <= window
        if Factor.CAUSAL not in off:
            for other, links in enumerate(self._links):
                self._linked[other] += self._ids[index] in links or self._ids[other] in self._links[index]

    def values(self, index: int, density_value: float, age_value: float) -> FactorValues:
        """Return the factors of a candidate as they stand; a factor that is off has its neutral value."""
        off = self._tuning.disabled_factors
        constants = self._tuning.factors
        near = bool(self._near[index]) and Factor.SESSION not in off
        return FactorValues(
            density=density_value,
            age=age_value,
            overlap=min(max(float(self._overlap[index]), 0.0), 1.0),
            session=constants.session_bonus if near else 1.0,
            causal=math.exp(-constants.causal_rate * int(self._linked[index])),
        )


def steady_factors(items: Sequence[Candidate], tuning: Tuning, now_us: int | None) -> tuple[Floats, Floats]:
    """Return delta and eta of each candidate; ones where the factor is switched off."""
    off = tuning.disabled_factors
    ones = np.ones(len(items))
    deltas = (
        ones
        if Factor.DENSITY in off
        else np.array([density(one.fact_count, _tokens(one), tuning.factors) for one in items])
    )
    rates = tuning.factors.age_rates
    etas = (
        ones if Factor.AGE in off else np.array([age(one.type, one.time_us, now_us, rates) for one in items])
    )
    return deltas, etas


def score(relevance: float, values: FactorValues) -> float:
    """Return S, at most 1: a session bonus lifts no score above that of a perfect match."""
    product = relevance * values.density * values.age * (1 - values.overlap) * values.session * values.causal
    return min(product, 1.0)


def _time(candidate: Candidate) -> float:
    return math.nan if candidate.time_us is None else candidate.time_us / MICROSECONDS_PER_SECOND


def _same_session(candidate: Candidate, session_id: str) -> bool:
    return bool(session_id) and candidate.session_id == session_id


def _tokens(candidate: Candidate) -> int:
    # Four code points a token is the usual rule for English; used only where nobody counted.
    return candidate.verbatim_tokens if candidate.verbatim_tokens is not None else len(candidate.text) // 4
