"""Keeps what was measured: a line for each question, the means of them, and the file they are saved in."""

import json
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.records import BadRecordError

RECALL_DEPTHS = (5, 10, 20, 50)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question got at one budget.

    ``found`` of the evidence stand in the context, whose ``tokens`` are counted as a whole; ``is_answered``
    is None for a question without an answer; ``ms`` is the wall time of the call.
    """

    budget: int
    found: int
    is_answered: bool | None
    tokens: int
    ms: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question got: ``evidence`` is the number of its gold memories.

    ``recalls`` are those at the depths of `RECALL_DEPTHS`.
    """

    question: str
    category: str
    evidence: int
    answers: tuple[Answer, ...]
    recalls: tuple[float, ...]
    reciprocal_rank: float

    def coverage(self, budget: int) -> float:
        """Return the share of the evidence in the context at a budget, in [0, 1]."""
        return self.at(budget).found / self.evidence

    def at(self, budget: int) -> Answer:
        """Return the answer at a budget."""
        return next(one for one in self.answers if one.budget == budget)


@dataclass(frozen=True, slots=True)
class Measured:
    """All outcomes of one system."""

    system: str
    outcomes: tuple[Outcome, ...]

    @property
    def budgets(self) -> tuple[int, ...]:
        """The budgets, ascending."""
        return tuple(sorted({one.budget for outcome in self.outcomes for one in outcome.answers}))

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of the questions, by name."""
        return tuple(sorted({one.category for one in self.outcomes if one.category}))

    def coverage(self, budget: int, category: str = "") -> float:
        """Return the mean evidence coverage, over all questions or those of a category."""
        return _mean(one.coverage(budget) for one in self.outcomes if category in ("", one.category))

    def answered(self, budget: int) -> float:
        """Return the share of the questions with an answer that are answered."""
        return _mean(_known(one.at(budget).is_answered for one in self.outcomes))

    def violations(self, budget: int) -> int:
        """Count the contexts that hold more tokens than the budget."""
        return sum(one.at(budget).tokens > budget for one in self.outcomes)

    def tokens(self, budget: int) -> float:
        """Return the mean number of tokens of the contexts."""
        return _mean(one.at(budget).tokens for one in self.outcomes)

    def median_ms(self, budget: int) -> float:
        """Return the median time of a recall, in milliseconds."""
        return statistics.median(one.at(budget).ms for one in self.outcomes)

    def recall(self, depth: int) -> float:
        """Return the mean recall at one of `RECALL_DEPTHS`."""
        at = RECALL_DEPTHS.index(depth)
        return _mean(one.recalls[at] for one in self.outcomes)

    def mean_reciprocal_rank(self) -> float:
        """Return the mean of 1 / rank of the first evidence."""
        return _mean(one.reciprocal_rank for one in self.outcomes)


def join(parts: Sequence[Measured]) -> Measured:
    """Return what one system got in several parts as one."""
    return Measured(parts[0].system, tuple(outcome for part in parts for outcome in part.outcomes))


def summary(measured: Measured) -> Mapping[str, Any]:
    """Return the means of a system, as they stand in the saved file."""

    def each(value: Callable[[int], float]) -> dict[str, float]:
        return {str(budget): round(value(budget), 4) for budget in measured.budgets}

    return {
        "questions": len(measured.outcomes),
        "coverage": each(measured.coverage),
        "answered": each(measured.answered),
        "violations": each(measured.violations),
        "tokens": each(measured.tokens),
        "median_ms": each(measured.median_ms),
        "recall": {str(depth): round(measured.recall(depth), 4) for depth in RECALL_DEPTHS},
        "mean_reciprocal_rank": round(measured.mean_reciprocal_rank(), 4),
        "coverage_by_category": {
            name: each(lambda budget, name=name: measured.coverage(budget, name))  # type: ignore[misc]
            for name in measured.categories
        },
    }


def save(path: Path, systems: Sequence[Measured], about: Mapping[str, Any]) -> None:
    """Write the outcomes and their means; ``about`` says what was run."""
    rows = [
        {"name": one.system, "summary": summary(one), "outcomes": [asdict(each) for each in one.outcomes]}
        for one in systems
    ]
    text = json.dumps({"run": about, "systems": rows}, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def load(path: Path) -> tuple[Measured, ...]:
    """Read the outcomes that `save` wrote.

    Raises:
        BadRecordError: the file holds something else.
    """
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        return tuple(
            Measured(row["name"], tuple(_outcome(each) for each in row["outcomes"]))
            for row in whole["systems"]
        )
    except (ValueError, KeyError, TypeError) as error:
        raise BadRecordError(f"{path}: it is no result. Give a file that 'run' wrote.") from error


def _outcome(row: Mapping[str, Any]) -> Outcome:
    answers = tuple(Answer(**one) for one in row["answers"])
    return Outcome(**{**row, "answers": answers, "recalls": tuple(row["recalls"])})


def _known(values: Iterable[bool | None]) -> list[bool]:
    return [one for one in values if one is not None]


def _mean(values: Iterable[float]) -> float:
    """Return the mean; 0 of nothing."""
    return statistics.fmean(found) if (found := list(values)) else 0.0
