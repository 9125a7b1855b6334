"""Measures the sets of this repository, and says what has been lost since they were last recorded."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks import records
from benchmarks.measuring import Plan, measure
from benchmarks.results import Measured
from benchmarks.serving import embedded

BUDGETS = (250, 500, 1000)
# Coverage may fall by so much below the record: questions at the border of a budget move with any change.
TOLERANCE = 0.02
FILE = Path(__file__).resolve().parent / "baseline.json"
SETS = Path(__file__).resolve().parent / "sets"
_NO_SET: Mapping[str, Any] = MappingProxyType({"coverage": {}, "questions": {}})
_EXACT = 1e-9


def measure_sets() -> dict[str, Measured]:
    """Measure Satchel as it is by default on each set, by name; one process, and nothing else in it."""
    found = {}
    with embedded() as url:
        for folder in sorted(path for path in SETS.iterdir() if path.is_dir()):
            corpus = records.load(folder / "memories.jsonl", folder / "questions.jsonl")
            (found[folder.name],) = measure(corpus, Plan(budgets=BUDGETS), url)
    return found


def record(measured: Mapping[str, Measured]) -> dict[str, Any]:
    """Return what is kept of the sets: coverage at each budget, and how much each question found."""
    return {
        name: {
            "coverage": {str(budget): round(one.coverage(budget), 4) for budget in BUDGETS},
            "questions": {
                outcome.question: {str(budget): outcome.at(budget).found for budget in BUDGETS}
                for outcome in one.outcomes
            },
        }
        for name, one in measured.items()
    }


def losses(kept: Mapping[str, Any], measured: Mapping[str, Measured]) -> list[str]:
    """Return a sentence for each set and budget whose coverage is more than .02 below the record.

    It names the questions that find less than they did. A set or question that is not on record, or no longer
    measured, is a loss as well: the record must be renewed with the sets.
    """
    sentences = [_stale(name, kept, measured) for name in sorted({*kept, *measured})]
    return [one for one in sentences if one] + [
        _loss(name, budget, kept[name], one)
        for name, one in measured.items()
        for budget in BUDGETS
        if _has_fallen(kept.get(name, _NO_SET), one, budget)
    ]


def load() -> Mapping[str, Any]:
    """Read the record."""
    kept: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return kept


def save(kept: Mapping[str, Any]) -> None:
    """Write the record."""
    FILE.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _stale(name: str, kept: Mapping[str, Any], measured: Mapping[str, Measured]) -> str:
    known = set(kept.get(name, _NO_SET)["questions"])
    asked = {one.question for one in measured[name].outcomes} if name in measured else set()
    changed = sorted(known ^ asked)
    return f"{name}: the record has other questions ({_some(changed)}). Renew it." if changed else ""


def _has_fallen(kept: Mapping[str, Any], measured: Measured, budget: int) -> bool:
    before = kept["coverage"].get(str(budget), 0.0)
    return bool(measured.coverage(budget) < before - TOLERANCE - _EXACT)


def _loss(name: str, budget: int, kept: Mapping[str, Any], measured: Measured) -> str:
    lost = [
        f"{one.question} ({one.at(budget).found} of {one.evidence}, was {before})"
        for one in measured.outcomes
        if one.at(budget).found < (before := kept["questions"].get(one.question, {}).get(str(budget), 0))
    ]
    was, now = kept["coverage"][str(budget)], measured.coverage(budget)
    return f"{name} at {budget} tokens: coverage {now:.3f}, was {was:.3f}. Lost: {', '.join(lost)}"


def _some(names: Sequence[str], limit: int = 5) -> str:
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")
