import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.allocator.model import ThresholdMethod
from satchel.allocator.thresholds import survivors, threshold

METHODS = [ThresholdMethod.IQR, ThresholdMethod.ELBOW, ThresholdMethod.MEAN_STDDEV]


def limit(scores: list[float], method: ThresholdMethod) -> float:
    return threshold(np.array(scores), method, floor=0.15, ceiling=0.75)


@pytest.mark.parametrize("method", METHODS)
def test_fewer_than_three_scores_give_a_threshold_of_three_tenths(method: ThresholdMethod) -> None:
    assert limit([0.9, 0.8], method) == 0.3
    assert limit([], method) == 0.3


@pytest.mark.parametrize("method", METHODS)
def test_low_scores_are_clamped_to_the_floor(method: ThresholdMethod) -> None:
    assert limit([0.1, 0.12, 0.11], method) == 0.15


def test_iqr_is_the_first_quartile_with_linear_interpolation() -> None:
    assert limit([0.2, 0.4, 0.6, 0.8], ThresholdMethod.IQR) == pytest.approx(0.35)


def test_the_elbow_lies_just_below_the_first_large_gap() -> None:
    assert limit([0.7, 0.68, 0.66, 0.3, 0.28], ThresholdMethod.ELBOW) == pytest.approx(0.3)


def test_without_a_large_gap_the_elbow_is_the_lowest_score() -> None:
    assert limit([0.5, 0.4, 0.3], ThresholdMethod.ELBOW) == pytest.approx(0.3)


def test_mean_less_deviation_uses_the_population_deviation() -> None:
    assert limit([0.4, 0.6, 0.5], ThresholdMethod.MEAN_STDDEV) == pytest.approx(0.5 - 0.0816497)


def test_switched_off_keeps_everything() -> None:
    assert limit([0.01, 0.02, 0.03], ThresholdMethod.OFF) == 0.0


@pytest.mark.parametrize("method", METHODS)
@given(st.lists(st.floats(0, 1), max_size=40))
def test_a_threshold_is_always_within_its_clamps(method: ThresholdMethod, scores: list[float]) -> None:
    assert 0.15 <= limit(scores, method) <= 0.75


def test_the_best_five_survive_when_nothing_reaches_the_threshold() -> None:
    scores = np.array([0.1] * 8)
    assert survivors(scores, 0.2) == 5
    assert survivors(scores[:3], 0.2) == 3
    assert survivors(scores, 0.1) == 8


def test_the_best_of_few_stay_whatever_they_reach() -> None:
    scores = np.array([0.5, 0.4, *[0.1] * 12])
    assert survivors(scores, 0.2, always_kept=10) == 10
    assert survivors(scores[:7], 0.2, always_kept=10) == 7
    assert survivors(scores, 0.05, always_kept=10) == 14
