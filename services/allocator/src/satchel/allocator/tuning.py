"""Every constant of the pipeline in one place, and how a request changes some of them.

Defaults named here are what measured best (see docs/recall.md) or what the description of
Context Budget Allocation publishes.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from satchel.allocator.model import Boost, Factor, Form, Fusion, MemoryType, ThresholdMethod
from satchel.allocator.neighbors import Shares

# Per day. Source: the published table of Context Budget Allocation.
AGE_RATES: dict[MemoryType, float] = {
    MemoryType.DECISION: 0.001,
    MemoryType.FACT: 0.005,
    MemoryType.PREFERENCE: 0.01,
    MemoryType.SESSION_NOTE: 0.1,
    MemoryType.DEBUG_LOG: 0.5,
}


LONGEST_FIRST = (Form.VERBATIM, Form.EXCERPT, Form.FINGERPRINT, Form.HEADER)


@dataclass(frozen=True, slots=True)
class FactorConstants:
    """Constants of the six factors; ``age_rates`` are per day.

    Source: the published description of Context Budget Allocation.
    """

    density_slope: float = 2.0
    density_middle: float = 0.3
    session_bonus: float = 1.2
    session_window_s: float = 7200.0
    causal_rate: float = 0.15
    age_rates: Mapping[MemoryType, float] = field(default_factory=lambda: AGE_RATES)


@dataclass(frozen=True, slots=True)
class FormWorth:
    """What a form is worth, as a share of the text it stands for, to the strategy ``knapsack``.

    ``slot_share`` is the share of the budget that is added to every price before value is divided by it:
    it stands for what the next memory would have brought, so that short texts are never shortened and a
    text that would fill the budget is.
    """

    excerpt: float = 0.8
    fingerprint: float = 0.35
    header: float = 0.05
    slot_share: float = 0.25


_WEIGHT_OF = {
    Boost.LATE_INTERACTION: "late",
    Boost.NEIGHBORS: "shares",
    Boost.SESSION: "session",
    Boost.SPEAKER: "speaker",
    Boost.TIME: "time",
    Boost.QUESTION: "question",
}
_NOTHING = {Boost.NEIGHBORS: Shares(0.0, 0.0, 0.0, 0.0)}


@dataclass(frozen=True, slots=True)
class BoostWeights:
    """Weights of what raises a memory beside its fused score; those without a unit are in spreads of it.

    ``late`` is for each spread of late interaction, which leaves ``fused_share`` of the fused score's
    distance from its mean. ``shares`` are of the distance to a better neighbour, ``session`` of its session's
    support. Chosen by fitting a listwise softmax on four conversations and judging on the fifth, five times,
    then rounded (docs/recall.md).
    """

    late: float = 1.7
    fused_share: float = 0.35
    shares: Shares = field(default_factory=Shares)
    session: float = 0.35
    speaker: float = 1.8
    time: float = 1.4
    question: float = 0.8

    def without(self, disabled: Collection[Boost]) -> Self:
        """Return the weights with those of some boosts at nothing."""
        off: dict[str, Any] = {_WEIGHT_OF[boost]: _NOTHING.get(boost, 0.0) for boost in disabled}
        return replace(self, **off)


@dataclass(frozen=True, slots=True)
class Tuning:
    """Settings of one allocation.

    Without a ``threshold_method`` strategy ``cba`` uses the published ``iqr``, the others the floor alone: a
    quartile drops a quarter of the candidates however good they are. The floor alone never leaves fewer than
    the best ``always_kept``.
    """

    fusion: Fusion = Fusion.STANDARD_SCORE
    rrf_k: int = 60
    lexical_weight: float = 1.0
    tag_bonus: float = 0.05
    expansion: bool = False
    expansion_variants: int = 3
    neighbors: bool = True
    boosts: BoostWeights = field(default_factory=BoostWeights)
    duplicate_similarity: float = 0.88
    threshold_method: ThresholdMethod | None = None
    threshold_floor: float = 0.15
    threshold_ceiling: float = 0.75
    always_kept: int = 10
    disabled_factors: frozenset[Factor] = frozenset()
    resolve_dates: bool = True
    forms: tuple[Form, ...] = LONGEST_FIRST
    factors: FactorConstants = field(default_factory=FactorConstants)
    worth: FormWorth = field(default_factory=FormWorth)
