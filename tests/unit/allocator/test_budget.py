"""The promises about the budget, over generated candidates. SATCHEL_ALLOCATOR_EXAMPLES sets how many."""

import os
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from satchel.allocator.collapse import collapsed
from satchel.allocator.model import (
    Candidate,
    Excerpt,
    Form,
    MemoryType,
    Outcome,
    Ranked,
    Scored,
    StrategyName,
    ThresholdMethod,
)
from satchel.allocator.packing import BlockCounts, Ledger
from satchel.allocator.selection.strategy import cheapest
from satchel.allocator.tuning import Tuning
from satchel.runtime.tokens import count_tokens

from .building import ids, pool, spend

EXAMPLES = int(os.environ.get("SATCHEL_ALLOCATOR_EXAMPLES", "60"))
moderate = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

SCRIPTS = [
    "The cache is warm. ",
    "Nous avons choisi PostgreSQL, parce que ",
    "数据库迁移完成。",
    "データベース",
    "مرحبا بالعالم ",
    "हम पोस्टग्रेस चुनते हैं ",
    "Ω≈ç√∫ ",
    "👩‍👩‍👧‍👦🇫🇷",
    "\n\n\t  \r\n",
    "\x00\x01\x1f\x7f\u2028\u200b",
    "</memories>\n",
    "'s 'll 12345 ERR_4711-x\n",
    "a\u0301\u0302",
]
texts = st.one_of(
    st.text(min_size=1, max_size=200),
    st.lists(st.sampled_from(SCRIPTS), min_size=1, max_size=12).map("".join),
    st.tuples(st.sampled_from(SCRIPTS), st.integers(1, 65536)).map(lambda one: (one[0] * one[1])[: one[1]]),
)


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    text = draw(st.one_of(texts, st.just("")))
    return Candidate(
        id=draw(st.one_of(st.uuids().map(str), st.text(min_size=1, max_size=30))),
        text=text,
        type=draw(st.sampled_from(MemoryType)),
        fingerprint=draw(st.one_of(st.just(""), st.text(max_size=80))),
        fact_count=draw(st.integers(0, 20)),
        wing=draw(st.sampled_from(["", "home", "work"])),
        session_id=draw(st.sampled_from(["", "s", "t"])),
        session_order=draw(st.integers(0, 5)),
        occurred_us=draw(st.one_of(st.none(), st.integers(-(10**15), 4 * 10**15))),
        verbatim_tokens=draw(st.sampled_from([None, count_tokens(text)])) if text else None,
        excerpt=draw(st.sampled_from([None, Excerpt(0, max(1, len(text) // 3))])) if text else None,
        dates=draw(st.sampled_from(["", "(yesterday: 7 May 2023)"])) if text else "",
    )


def distinct(items: list[tuple[Candidate, float]]) -> Ranked:
    named = {candidate.id: (candidate, relevance) for candidate, relevance in items}
    return pool(*named.values())


def all_near(items: list[tuple[Candidate, float]]) -> Ranked:
    """Candidates with one and the same vector: those collapse that state the same."""
    named = {candidate.id: (candidate, relevance) for candidate, relevance in items}
    scored = [Scored(*one, row) for row, one in enumerate(named.values())]
    return collapsed(scored, np.tile(np.array([[1, 0]], dtype=np.float32), (len(scored), 1)), 0.88)


ranked_pools = st.lists(st.tuples(candidates(), st.floats(0, 1)), max_size=12).map(distinct)
same_vectors = st.lists(st.tuples(candidates(), st.floats(0, 1)), max_size=12).map(all_near)
collapsing_pools = st.one_of(ranked_pools, same_vectors)
budgets = st.one_of(st.integers(1, 300), st.integers(1, 100_000))
strategies = st.sampled_from(StrategyName)


@moderate
@given(ranked_pools, budgets, strategies)
def test_the_context_never_exceeds_the_budget_and_the_receipt_is_its_count(
    ranked: Ranked, budget: int, strategy: StrategyName
) -> None:
    allocation = spend(ranked, budget, strategy=strategy, now_us=4 * 10**15)
    receipt = allocation.receipt
    assert count_tokens(allocation.context) == receipt.total_tokens <= budget
    assert receipt.framing_tokens + sum(one.choice.tokens for one in allocation.shown) == receipt.total_tokens
    assert all(
        one.choice.form is not Form.VERBATIM or one.rendered in allocation.context for one in allocation.shown
    )


@moderate
@given(ranked_pools, budgets, strategies)
def test_nothing_that_would_still_fit_is_left_out_as_too_dear(
    ranked: Ranked, budget: int, strategy: StrategyName
) -> None:
    """An item too dear for what is left hides no cheaper one."""
    tuning = Tuning(forms=(Form.VERBATIM,))
    allocation = spend(ranked, budget, strategy=strategy, tuning=tuning, explain=True)
    left = budget - allocation.receipt.total_tokens
    for one in allocation.explanations:
        # No tokens: none of the allowed forms can show it.
        if one.outcome.value == "unaffordable" and one.token_cost and allocation.shown:
            day_line = 12
            assert one.token_cost > left - day_line


@moderate
@given(collapsing_pools, budgets, strategies, st.sampled_from([None, *ThresholdMethod]))
def test_the_counts_of_the_receipt_add_up_to_the_candidates(
    ranked: Ranked, budget: int, strategy: StrategyName, method: ThresholdMethod | None
) -> None:
    tuning = Tuning(threshold_method=method)
    allocation = spend(ranked, budget, strategy=strategy, tuning=tuning, explain=True)
    receipt = allocation.receipt
    counts = {
        Outcome.COLLAPSED: receipt.collapsed_count,
        Outcome.BELOW_THRESHOLD: receipt.below_threshold_count,
        Outcome.UNAFFORDABLE: receipt.unaffordable_count,
        Outcome.NO_GAIN: receipt.no_gain_count,
    }
    assert receipt.candidate_count == len(ranked.items) + len(ranked.collapsed)
    assert receipt.candidate_count == sum(counts.values()) + receipt.selected_count
    told = Counter(one.outcome for one in allocation.explanations)
    assert {outcome: told[outcome] for outcome in counts} == counts
    assert count_tokens(allocation.context) == receipt.total_tokens <= budget


@moderate
@given(ranked_pools, budgets, strategies)
def test_the_same_request_gives_the_same_bytes(ranked: Ranked, budget: int, strategy: StrategyName) -> None:
    first = spend(ranked, budget, strategy=strategy, now_us=0, explain=True)
    assert first == spend(ranked, budget, strategy=strategy, now_us=0, explain=True)


@moderate
@given(ranked_pools, strategies)
def test_every_candidate_is_explained_once(ranked: Ranked, strategy: StrategyName) -> None:
    allocation = spend(ranked, 500, strategy=strategy, explain=True)
    explained = [one.item.candidate.id for one in allocation.explanations]
    assert sorted(explained) == sorted(item.candidate.id for item in ranked.items)
    assert all(one.reason.endswith(".") for one in allocation.explanations)


@moderate
@given(st.lists(st.integers(1, 60), min_size=1, max_size=20), st.integers(20, 600), st.integers(0, 300))
def test_more_budget_never_shows_less_of_what_fits_wholly(sizes: list[int], budget: int, more: int) -> None:
    """By score alone, what a budget can hold from the best on, a larger one holds too."""
    ranked = pool(*((Candidate(f"{n:02}", "word " * size), 0.9 - n / 100) for n, size in enumerate(sizes)))
    small = ids(spend(ranked, budget, strategy=StrategyName.TOP))
    large = ids(spend(ranked, budget + more, strategy=StrategyName.TOP))
    prefix = next((n for n, name in enumerate(small) if name != f"{n:02}"), len(small))
    assert large[:prefix] == small[:prefix]


def test_a_budget_too_small_for_anything_says_so() -> None:
    allocation = spend(pool((Candidate("a", "some words that cost tokens"), 0.9)), 5)
    assert allocation.context == ""
    assert allocation.receipt.total_tokens == 0
    assert "too small for any of the 1 memories" in allocation.receipt.notes[0]
    needed = int(allocation.receipt.notes[0].split("takes ")[1].split()[0])
    assert spend(pool((Candidate("a", "some words that cost tokens"), 0.9)), needed).context
    assert not spend(pool((Candidate("a", "some words that cost tokens"), 0.9)), needed - 1).context


def test_nothing_found_is_a_success_that_says_so() -> None:
    allocation = spend(pool(), 100)
    assert (allocation.context, allocation.receipt.notes) == ("", ("No memory was found.",))


def test_a_near_duplicate_that_comes_back_cannot_close_the_fence() -> None:
    texts = ("We use Go. <b>", "We use Go! </memories>")
    items = [Scored(Candidate(str(n), text), 0.9 - n / 10, n) for n, text in enumerate(texts)]
    allocation = spend(collapsed(items, np.ones((2, 1), dtype=np.float32), 0.88), 400)
    assert len(allocation.shown) == 2
    assert allocation.context.endswith("</memories-2>")


def test_a_count_that_does_not_add_up_still_keeps_the_budget() -> None:
    """The guard for encodings that join tokens across pieces: the least valuable go."""
    from satchel.allocator.allocation import Order, allocate  # noqa: PLC0415
    from satchel.allocator.selection.strategy import Terms  # noqa: PLC0415

    def superadditive(text: str) -> int:
        return len(text) // 4 + 40 * (text.count("\n") > 3)

    ranked = pool(*((Candidate(str(n), "some words here"), 0.9 - n / 10) for n in range(4)))
    order = Order(40, StrategyName.TOP, Terms(Tuning()))
    allocation = allocate(ranked, order, BlockCounts(superadditive, 10))
    assert superadditive(allocation.context) == allocation.receipt.total_tokens <= 40


def test_the_ledger_refuses_what_does_not_fit() -> None:
    ranked = pool((Candidate("a", "many words " * 50), 1.0))
    ledger = Ledger(30, ranked.columns, BlockCounts(count_tokens, 10))
    with pytest.raises(ValueError, match="are left"):
        ledger.spend(ranked.items[0].candidate, Form.VERBATIM)
    assert cheapest(ledger, ranked.items[0].candidate, Tuning()) > 0


def test_counts_are_kept_by_version_and_bounded() -> None:
    asked: list[str] = []

    def counting(text: str) -> int:
        asked.append(text)
        return count_tokens(text)

    counts = BlockCounts(counting, 1)
    first, second = Candidate("a", "one", version=1), Candidate("a", "two", version=2)
    for candidate in (first, first, second, first, Candidate("b", "x"), Candidate("b", "x")):
        counts.of(candidate, Form.VERBATIM)
    assert asked == ["one\n", "two\n", "one\n", "x\n", "x\n"]
