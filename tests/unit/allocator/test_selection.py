from dataclasses import replace

import numpy as np
import pytest

from satchel.allocator.model import (
    Candidate,
    Excerpt,
    Factor,
    Form,
    MemoryType,
    StrategyName,
    ThresholdMethod,
)
from satchel.allocator.results import Allocation
from satchel.allocator.tuning import Tuning
from satchel.runtime.tokens import count_tokens

from .building import DAY_US, ids, pool, spend

LONG = "The migration to PostgreSQL was agreed on after a long talk about indexes and costs. " * 30
EVERY = Tuning(threshold_method=ThresholdMethod.OFF)
UUID = "018f3b1c-7a2e-7b1a-9c3d-2f4e5a6b7c8d"


def forms(allocation: Allocation) -> list[Form]:
    return [one.choice.form for one in allocation.shown]


@pytest.mark.parametrize("strategy", StrategyName)
def test_a_short_memory_is_shown_whole_when_there_is_room(strategy: StrategyName) -> None:
    allocation = spend(pool((Candidate(UUID, "We use Go."), 0.9)), 4000, strategy=strategy)
    assert forms(allocation) == [Form.VERBATIM]
    assert "We use Go." in allocation.context


def test_cba_shows_no_whole_text_below_a_thousand_tokens_left() -> None:
    memory = Candidate(UUID, LONG, fingerprint="migration | decision: PostgreSQL")
    assert forms(spend(pool((memory, 0.9)), 500, strategy=StrategyName.CBA)) == [Form.FINGERPRINT]


def test_cba_shows_only_headers_below_a_hundred_tokens_left() -> None:
    memory = Candidate(UUID, LONG, fingerprint="migration | decision: PostgreSQL", wing="w", room="r")
    assert forms(spend(pool((memory, 0.9)), 80, strategy=StrategyName.CBA)) == [Form.HEADER]


@pytest.mark.parametrize("budget", [300, 4000])
def test_cba_shows_the_excerpt_where_only_that_is_allowed(budget: int) -> None:
    memory = Candidate(UUID, LONG, excerpt=Excerpt(0, 84), fingerprint="migration")
    only = Tuning(forms=(Form.EXCERPT,))
    allocation = spend(pool((memory, 0.9)), budget, strategy=StrategyName.CBA, tuning=only)
    assert (forms(allocation), list(allocation.receipt.notes)) == ([Form.EXCERPT], [])


def test_cba_falls_back_to_the_excerpt_of_a_text_that_is_too_dear() -> None:
    memory = Candidate(UUID, LONG * 5, excerpt=Excerpt(0, 84), fingerprint="migration")
    assert forms(spend(pool((memory, 0.9)), 1200, strategy=StrategyName.CBA)) == [Form.EXCERPT]


@pytest.mark.parametrize("strategy", [StrategyName.CBA, StrategyName.KNAPSACK])
def test_a_form_dearer_than_the_text_is_never_used(strategy: StrategyName) -> None:
    memory = Candidate(UUID, "We use Go.", fingerprint="Go | decision: use Go in every service")
    assert forms(spend(pool((memory, 0.9)), 90, strategy=strategy)) == [Form.VERBATIM]


@pytest.mark.parametrize("strategy", [StrategyName.CBA, StrategyName.KNAPSACK])
def test_a_long_memory_that_does_not_fit_is_shortened_not_dropped(strategy: StrategyName) -> None:
    memory = Candidate(UUID, LONG, fingerprint="migration | decision: PostgreSQL")
    allocation = spend(pool((memory, 0.9)), 300, strategy=strategy)
    assert forms(allocation) == [Form.FINGERPRINT]
    assert f"T0:{UUID}" in allocation.context


def test_top_skips_what_does_not_fit_and_goes_on() -> None:
    ranked = pool((Candidate("long", LONG), 0.9), (Candidate("short", "We use Go."), 0.8))
    assert ids(spend(ranked, 100, strategy=StrategyName.TOP)) == ["short"]


@pytest.mark.parametrize("strategy", StrategyName)
def test_a_relevant_memory_of_one_fact_outranks_an_irrelevant_one_of_many(strategy: StrategyName) -> None:
    """Case 19 of the conformance cases."""
    relevant = Candidate("relevant", "The cache key is the tenant and the path. " * 20, fact_count=1)
    dense = Candidate("dense", "a, b, c, d, e because f by g until h", fact_count=12)
    other = Candidate("other", "Lunch was late.", fact_count=1)
    assert count_tokens(relevant.text) >= 200
    ranked = pool((relevant, 0.85), (dense, 0.2), (other, 0.1))
    assert ids(spend(ranked, 4000, strategy=strategy))[0] == "relevant"


def test_cba_prefers_what_the_chosen_does_not_already_say() -> None:
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32)
    ranked = pool(
        (Candidate("a", "one"), 0.9),
        (Candidate("b", "again"), 0.85),
        (Candidate("c", "else"), 0.6),
        vectors=vectors,
    )
    assert ids(spend(ranked, 4000, strategy=StrategyName.CBA, tuning=EVERY)) == ["a", "c", "b"]
    off = replace(EVERY, disabled_factors=frozenset({Factor.OVERLAP}))
    assert ids(spend(ranked, 4000, strategy=StrategyName.CBA, tuning=off)) == ["a", "b", "c"]


def test_cba_favours_the_session_of_what_is_chosen() -> None:
    ranked = pool(
        (Candidate("a", "one", MemoryType.DECISION, occurred_us=0), 0.9),
        (Candidate("b", "two", MemoryType.DECISION, occurred_us=9 * DAY_US), 0.62),
        (Candidate("c", "three", MemoryType.DECISION, occurred_us=3_600_000_000), 0.6),
    )
    assert ids(spend(ranked, 4000, strategy=StrategyName.CBA, tuning=EVERY, now_us=9 * DAY_US)) == [
        "a",
        "c",
        "b",
    ]


def test_cba_lets_old_notes_fade_and_decisions_stay() -> None:
    ranked = pool(
        (Candidate("note", "old note", MemoryType.SESSION_NOTE, occurred_us=0), 0.9),
        (Candidate("decision", "old decision", MemoryType.DECISION, occurred_us=0), 0.5),
    )
    allocation = spend(ranked, 4000, strategy=StrategyName.CBA, now_us=60 * DAY_US)
    assert ids(allocation) == ["decision", "note"]


def test_knapsack_gives_a_text_that_would_fill_the_budget_its_facts_so_that_others_fit() -> None:
    long = Candidate(UUID, LONG, fingerprint="migration | decision: PostgreSQL")
    others = [(Candidate(f"o{n}", f"Service {n} listens on port {9000 + n}."), 0.7) for n in range(12)]
    allocation = spend(pool((long, 0.8), *others), 600)
    assert len(ids(allocation)) == 13


def test_knapsack_spends_what_is_left_on_the_whole_text() -> None:
    long = Candidate(UUID, LONG, fingerprint="migration | decision: PostgreSQL")
    allocation = spend(pool((long, 0.9)), 700)
    assert forms(allocation) == [Form.VERBATIM]


def test_only_the_allowed_forms_are_used() -> None:
    ranked = pool((Candidate(UUID, LONG, fingerprint="migration"), 0.9))
    assert forms(spend(ranked, 4000, tuning=Tuning(forms=(Form.HEADER,)))) == [Form.HEADER]
    none = spend(pool((Candidate(UUID, LONG), 0.9)), 4000, tuning=Tuning(forms=(Form.FINGERPRINT,)))
    assert none.context == ""
    assert none.receipt.notes


def test_equal_scores_go_by_id() -> None:
    ranked = pool(*((Candidate(name, f"text {name}"), 0.5) for name in "dbca"))
    for strategy in StrategyName:
        assert ids(spend(ranked, 4000, strategy=strategy)) == ["a", "b", "c", "d"]
