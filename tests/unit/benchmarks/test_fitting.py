from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from benchmarks import leave_one_out
from benchmarks.candidates import DAY_TOKENS, FENCE_TOKENS, FIRST_DAY_TOKENS, SIGNALS, Asked, columns
from benchmarks.fitting import Floats, Listed, fit, loss_and_slope
from benchmarks.leave_one_out import UnfittableError
from benchmarks.records import Memory, Question
from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.runtime.tokens import count_tokens


def planted(weights: Sequence[float], questions: int, seed: int) -> list[Listed]:
    """Return questions whose gold candidate is drawn by the softmax that the weights make."""
    chance = np.random.default_rng(seed)
    found = []
    for _ in range(questions):
        signals = chance.normal(size=(12, len(weights)))
        scores = signals @ np.array(weights)
        # The greatest of scores with Gumbel noise is drawn by their softmax.
        gold = int(np.argmax(scores + chance.gumbel(size=12)))
        found.append(Listed(signals, np.arange(12) == gold))
    return found


def asked(namespace: str, listed: Listed) -> Asked:
    count = len(listed.is_gold)
    signals = np.zeros((count, len(SIGNALS)))
    signals[:, : listed.signals.shape[1]] = listed.signals
    return Asked(
        namespace=namespace,
        signals=signals,
        tokens=np.full(count, 10),
        days=np.full(count, -1),
        found=listed.is_gold.astype(np.int64),
        gold=1,
    )


def test_the_fit_finds_the_weights_that_were_planted() -> None:
    found = fit(planted([2.0, -1.0, 0.5, 0.0], questions=3000, seed=7))

    np.testing.assert_allclose(found, [2.0, -1.0, 0.5, 0.0], atol=0.12)


def test_the_slope_is_that_of_the_loss() -> None:
    questions, weights, step = planted([1.0, -0.5], questions=20, seed=3), np.array([0.4, 0.2]), 1e-6

    _, slope = loss_and_slope(questions, weights)

    for at in range(2):
        aside = step * np.eye(2)[at]
        rise = loss_and_slope(questions, weights + aside)[0] - loss_and_slope(questions, weights - aside)[0]
        assert slope[at] == pytest.approx(rise / (2 * step), abs=1e-6)


def test_the_fit_ends_where_the_slope_is_nothing_even_if_one_signal_tells_all() -> None:
    signals: Floats = np.array([[3.0, 0.1], [0.0, 0.2], [0.0, 0.0]])
    questions = [Listed(signals, np.array([True, False, False]))] * 5

    found = fit(questions)

    assert np.isfinite(found).all()
    np.testing.assert_allclose(loss_and_slope(questions, found)[1], 0, atol=1e-5)


def test_a_signal_that_no_candidate_has_weighs_nothing_and_several_gold_ones_share() -> None:
    signals = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])

    found = fit([Listed(signals, np.array([True, True, False]))] * 3)

    assert found[0] > 1
    assert found[1] == 0


def test_questions_without_evidence_among_their_candidates_say_nothing() -> None:
    questions = planted([1.0], questions=50, seed=1)
    silent = Listed(np.ones((4, 1)), np.zeros(4, dtype=bool))

    np.testing.assert_allclose(fit([*questions, silent]), fit(questions))
    with pytest.raises(ValueError, match="nothing to fit"):
        fit([silent])


def test_holding_out_loses_nothing_where_all_namespaces_weigh_alike() -> None:
    one = [asked("one", each) for each in planted([3.0, -2.0], questions=400, seed=1)]
    two = [asked("two", each) for each in planted([3.0, -2.0], questions=400, seed=2)]
    budget = FENCE_TOKENS + 10  # one memory

    found = leave_one_out.judge([*one, *two], leave_one_out.fit_all([*one, *two]), (budget,))

    assert found.in_sample.coverage[budget] > found.own.coverage[budget] + 0.2
    assert found.held_out.coverage[budget] == pytest.approx(found.in_sample.coverage[budget], abs=0.01)


def test_holding_out_shows_what_was_fitted_to_one_namespace() -> None:
    many = [asked("many", each) for each in planted([0.0, 3.0], questions=600, seed=1)]
    few = [asked("few", each) for each in planted([0.0, -3.0], questions=200, seed=2)]
    budget = FENCE_TOKENS + 10

    found = leave_one_out.judge([*many, *few], leave_one_out.fit_all([*many, *few]), (budget,))

    assert found.held_out.by_namespace["many"][budget] < found.in_sample.by_namespace["many"][budget] - 0.3
    assert "| many |" in leave_one_out.report(found)
    assert leave_one_out.as_json(found)["weights"]["without"]["few"]["words"] > 0


def test_weights_are_told_at_the_height_of_the_servers_own() -> None:
    every = [
        asked(name, Listed(9 * each.signals, each.is_gold))
        for name, seed in (("one", 1), ("two", 2))
        for each in planted([1.0] * len(SIGNALS), questions=1500, seed=seed)
    ]

    found = leave_one_out.fit_all(every).on_all

    np.testing.assert_allclose(found, np.ones(len(SIGNALS)), atol=0.15)


def test_one_namespace_cannot_be_left_out() -> None:
    only = [asked("one", each) for each in planted([1.0], questions=5, seed=1)]

    with pytest.raises(UnfittableError, match="two at least"):
        leave_one_out.fit_all(only)


def test_packing_pays_for_the_fence_and_a_line_a_day_and_passes_over_what_does_not_fit() -> None:
    question = Asked(
        namespace="n",
        signals=np.zeros((4, len(SIGNALS))),
        tokens=np.array([10, 500, 10, 10]),
        days=np.array([5, -1, 5, 6]),
        found=np.array([1, 0, 1, 1]),
        gold=4,
    )
    same_day = FENCE_TOKENS + FIRST_DAY_TOKENS + 20

    covered = [question.coverage(range(4), budget) for budget in (same_day - 1, same_day, same_day + 10)]

    assert covered == [0.25, 0.5, 0.5]
    assert question.coverage(range(4), same_day + 10 + DAY_TOKENS) == 0.75


def test_the_signals_of_a_candidate_add_up_to_the_score_that_ranked_it() -> None:
    explained = [
        allocator_pb.CandidateExplanation(
            id="second", relevance=0.4, similarity=0.2, fused_score=0.5, late_boost=-0.1, question_boost=-0.05
        ),
        allocator_pb.CandidateExplanation(
            id="first", relevance=0.6, similarity=0.3, fused_score=0.4, neighbor_boost=0.1, session_boost=0.02
        ),
        allocator_pb.CandidateExplanation(id="third", relevance=0.1, fused_score=0.1),
    ]
    memories = {
        name: Memory(id=name, namespace="n", content=f"The {name} one.", occurred_at=at)
        for name, at in (("first", datetime(2026, 3, 1, tzinfo=UTC)), ("second", None), ("third", None))
    }
    question = Question(id="q", namespace="n", query="?", evidence=("second", "elsewhere"))

    found = columns(question, explained, lambda stored: [stored], lambda key: memories[key[1]])

    np.testing.assert_allclose(
        found.signals.sum(axis=1) * np.std([0.3, 0.2, 0.1]), [0.52, 0.35, 0.1], atol=1e-12
    )
    assert found.weighted(np.ones(len(SIGNALS))) == [0, 1, 2]
    assert found.tokens.tolist() == [
        count_tokens(f"The {name} one.\n") for name in ("first", "second", "third")
    ]
    assert found.found.tolist() == [0, 1, 0]
    assert found.gold == 2
    assert found.days[0] == datetime(2026, 3, 1, tzinfo=UTC).toordinal()


def test_a_question_without_candidates_covers_nothing() -> None:
    question = Question(id="q", namespace="n", query="?", evidence=("a",))

    nothing: dict[tuple[str, str], Memory] = {}

    found = columns(question, [], lambda _: [], nothing.__getitem__)

    assert found.coverage(found.weighted(np.ones(len(SIGNALS))), 1000) == 0
