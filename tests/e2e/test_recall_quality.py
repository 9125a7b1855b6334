"""Recall over the sets of `benchmarks` finds what it found when the baseline was recorded."""

from collections.abc import Mapping

import pytest

from benchmarks import baseline
from benchmarks.results import Measured
from requirements import requirement


@pytest.fixture(scope="module")
def measured() -> Mapping[str, Measured]:
    return baseline.measure_sets()


@requirement("recall:quality")
def test_recall_finds_no_less_of_the_evidence_than_was_recorded(measured: Mapping[str, Measured]) -> None:
    # `python -m benchmarks baseline` renews the record, after a change that is meant to change it.
    lost = baseline.losses(baseline.load(), measured)

    assert lost == [], "\n".join(lost)


@requirement("recall:budget")
def test_no_context_of_the_benchmark_is_over_its_budget(measured: Mapping[str, Measured]) -> None:
    over = {
        (name, budget): one.violations(budget) for name, one in measured.items() for budget in one.budgets
    }

    assert over == dict.fromkeys(over, 0)
