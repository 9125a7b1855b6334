"""Thresholds and fusion as MIRA documents them, seen from outside."""

import pytest

from e2e.door import Door
from requirements import requirement


def threshold_of(door: Door, scores: list[float], method: str) -> float:
    candidates = [
        {"id": f"c{n}", "content": f"Candidate {n}.", "relevance": score} for n, score in enumerate(scores)
    ]
    body = {"candidates": candidates, "strategy": "cba", "options": {"threshold_method": method}}
    return float(door.ask("POST", "/allocate", body)["receipt"]["threshold"])


@requirement("recall:bounds", "allocate:pure", "doors:miras-clients")
@pytest.mark.parametrize("method", ["iqr", "elbow", "mean_stddev"])
@pytest.mark.parametrize(
    ("scores", "threshold"), [([0.9, 0.8], 0.3), ([0.1, 0.12, 0.11], 0.15), ([0.95, 0.96, 0.97], 0.75)]
)
def test_few_scores_have_a_fixed_threshold_and_others_one_within_its_bounds(
    door: Door, method: str, scores: list[float], threshold: float
) -> None:
    assert threshold_of(door, scores, method) == pytest.approx(threshold)


@requirement("recall:bounds", "doors:miras-clients")
def test_the_quartile_is_interpolated(door: Door) -> None:
    assert threshold_of(door, [0.2, 0.4, 0.6, 0.7], "iqr") == pytest.approx(0.35)


@requirement("recall:bounds", "doors:same-errors")
@pytest.mark.parametrize(("option", "value"), [("threshold_method", "magic"), ("fusion", "magic")])
def test_a_method_that_there_is_not_is_refused(door: Door, option: str, value: str) -> None:
    answer = door.send("POST", "/memories/recall", {"query": "x", "options": {option: value}})

    assert (answer.status_code, answer.json()["reason"]) == (422, "ERROR_REASON_FIELD_UNKNOWN_ENUM_VALUE")
    assert option in answer.json()["field"]


@requirement("recall:explained", "recall:relevant", "doors:miras-clients")
def test_rank_fusion_prefers_what_both_searches_found_and_keeps_the_order_of_one(door: Door) -> None:
    for n, thing in enumerate(("kettle", "pot", "pan", "stove", "spoon")):
        door.store("fusion", f"The {thing} of kitchen {n} was cleaned on a Tuesday.")
    boosts = ["late_interaction", "neighbors", "session", "speaker", "time", "question"]
    options = {"fusion": "reciprocal_rank", "disabled_boosts": boosts}

    def ranks(query: str) -> list[tuple[float, int, int]]:
        answer = door.recall(query, wing="fusion", explain=True, options=options)
        return [
            (one["fused_score"], one["dense_rank"], one["lexical_rank"]) for one in answer["explanations"]
        ]

    both = ranks("When was the kettle cleaned?")
    dense = ranks("Household utensils")

    assert both[0][1:] == (1, 1)
    assert [score for score, *_ in both] == sorted((score for score, *_ in both), reverse=True)
    assert {lexical for *_, lexical in dense} == {0}
    assert [rank for _, rank, _ in sorted(dense, reverse=True)] == [1, 2, 3, 4, 5]
