"""What a recall gives: choices, those left out, the receipt, and why. Frozen and free of transport."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from satchel.allocator.model import Form, Outcome, Scored, StrategyName


@dataclass(frozen=True, slots=True)
class FactorValues:
    """The factors of the score when the candidate was last looked at."""

    density: float = 1.0
    age: float = 1.0
    overlap: float = 0.0
    session: float = 1.0
    causal: float = 1.0


class Choice(NamedTuple):
    """A chosen candidate: its form, the tokens of its block, and the score that ranked it."""

    item: Scored
    form: Form
    tokens: int
    score: float


class Rejection(NamedTuple):
    """A candidate that was looked at and left out."""

    item: Scored
    outcome: Outcome
    score: float


@dataclass(frozen=True, slots=True)
class Selection:
    """What a strategy did: choices best first, and those left out in the order they were looked at.

    ``unaffordable_count`` is how many of those left out were too dear. The last ``returned_count`` choices
    are near duplicates that had been collapsed: shown because budget was left.
    """

    choices: Sequence[Choice]
    rejections: Sequence[Rejection]
    unaffordable_count: int
    returned_count: int = 0


class Shown(NamedTuple):
    """A chosen memory as it stands in the context."""

    choice: Choice
    rendered: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was spent, and on what terms. Counts are of tokens or of candidates.

    ``candidate_count`` is the sum of the five counts after it, whatever the strategy.
    """

    budget: int
    total_tokens: int
    framing_tokens: int
    strategy: StrategyName
    candidate_count: int
    collapsed_count: int
    below_threshold_count: int
    unaffordable_count: int
    no_gain_count: int
    selected_count: int
    threshold: float
    fallback_wing: str = ""
    degraded: tuple[str, ...] = ()
    revision: int = 0
    model_sha256: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a candidate was chosen, shortened or left out."""

    item: Scored
    outcome: Outcome
    reason: str
    factors: FactorValues
    score: float
    form: Form | None
    token_cost: int
    collapsed_into: str = ""


@dataclass(frozen=True, slots=True)
class Allocation:
    """The context, what it holds (best first), what it cost, and why."""

    context: str
    shown: Sequence[Shown]
    receipt: Receipt
    explanations: Sequence[Explanation] = ()
