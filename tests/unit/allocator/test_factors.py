import math

import numpy as np
import pytest

from satchel.allocator.factors import Interplay, age, density, score, steady_factors
from satchel.allocator.model import Candidate, Factor, MemoryType, Outline, Pool, Scored
from satchel.allocator.results import FactorValues
from satchel.allocator.settings import AllocatorSettings
from satchel.allocator.tuning import FactorConstants, Tuning

from .building import DAY_US

HOUR_US = DAY_US // 24


def test_density_is_the_plain_logistic_and_never_zero() -> None:
    assert density(3, 100, FactorConstants()) == pytest.approx(0.5)
    assert density(1, 65536, FactorConstants()) > 0.3
    assert density(0, 0, FactorConstants()) == density(1, 1, FactorConstants())


@pytest.mark.parametrize(
    ("kind", "rate"),
    [("decision", 0.001), ("fact", 0.005), ("preference", 0.01), ("session_note", 0.1), ("debug_log", 0.5)],
)
def test_each_type_ages_at_its_own_rate(kind: str, rate: float) -> None:
    assert age(MemoryType(kind), 0, 10 * DAY_US) == pytest.approx(math.exp(-10 * rate))


def test_the_rates_of_ageing_can_be_set() -> None:
    constants = AllocatorSettings(decay_fact=0.2).tuning.factors
    fact, note = (Candidate(kind, "x", MemoryType(kind), created_us=0) for kind in ("fact", "session_note"))

    _, etas = steady_factors([fact, note], Tuning(factors=constants), 10 * DAY_US)

    assert etas == pytest.approx([math.exp(-2), math.exp(-1)])


def test_the_future_and_the_unknown_do_not_age() -> None:
    assert age(MemoryType.DEBUG_LOG, 5 * DAY_US, 0) == 1.0
    assert age(MemoryType.DEBUG_LOG, None, 0) == 1.0


def test_even_the_oldest_memory_keeps_some_worth() -> None:
    assert age(MemoryType.DEBUG_LOG, -(10**17), 10**17) > 0


def interplay(*candidates: Candidate, tuning: Tuning | None = None, session_id: str = "") -> Interplay:
    vectors = np.array([[1, 0], [0.6, 0.8], [0, 1]], dtype=np.float32)[: len(candidates)]
    items = [Scored(one, 0.5, row) for row, one in enumerate(candidates)]
    return Interplay(Pool(items, vectors, Outline.of(items)), tuning or Tuning(), session_id=session_id)


def test_overlap_is_the_greatest_similarity_to_the_chosen() -> None:
    state = interplay(Candidate("a", "x"), Candidate("b", "y"), Candidate("c", "z"))
    state.choose(0)
    assert state.values(1, 1, 1).overlap == pytest.approx(0.6)
    state.choose(2)
    assert state.values(1, 1, 1).overlap == pytest.approx(0.8)


def test_within_two_hours_of_a_chosen_memory_the_session_factor_is_won() -> None:
    near, far = Candidate("b", "y", occurred_us=2 * HOUR_US), Candidate("c", "z", occurred_us=3 * HOUR_US)
    state = interplay(Candidate("a", "x", occurred_us=0), near, far)
    state.choose(0)
    assert [state.values(index, 1, 1).session for index in (1, 2)] == [1.2, 1.0]


def test_the_session_that_asks_counts_as_near() -> None:
    state = interplay(
        Candidate("a", "x", session_id="s"), Candidate("b", "y", session_id="t"), session_id="s"
    )
    assert [state.values(index, 1, 1).session for index in (0, 1)] == [1.2, 1.0]


def test_a_causal_link_in_either_direction_counts_once() -> None:
    linked = Candidate("b", "y", links=frozenset({"a"}))
    state = interplay(Candidate("a", "x", links=frozenset({"b"})), linked)
    state.choose(0)
    assert state.values(1, 1, 1).causal == pytest.approx(math.exp(-0.15))


def test_a_factor_that_is_switched_off_is_neutral() -> None:
    off = Tuning(disabled_factors=frozenset(Factor))
    state = interplay(
        Candidate("a", "x", occurred_us=0),
        Candidate("b", "y", occurred_us=0, links=frozenset({"a"})),
        tuning=off,
    )
    state.choose(0)
    assert state.values(1, 1, 1) == FactorValues()


def test_the_score_is_the_product_and_at_most_one() -> None:
    values = FactorValues(density=0.5, age=0.5, overlap=0.5, session=1.2, causal=0.5)
    assert score(0.8, values) == pytest.approx(0.8 * 0.5 * 0.5 * 0.5 * 1.2 * 0.5)
    assert score(1.0, FactorValues(session=1.2)) == 1.0
