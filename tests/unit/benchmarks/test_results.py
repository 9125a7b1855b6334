from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import baseline, curve, results, tables
from benchmarks.asking import ask_all
from benchmarks.curve import NotDrawableError
from benchmarks.records import BadRecordError, Corpus, Memory, Question
from benchmarks.references import all_references, fuse
from benchmarks.results import Answer, Measured, Outcome

MEMORIES = tuple(
    Memory(id=str(number), namespace="n", content=content)
    for number, content in enumerate(["The lamp burns.", "A boat sails.", "Lamps and boats cost money."])
)
CORPUS = Corpus(
    MEMORIES,
    (
        Question(id="q1", namespace="n", query="burning lamp", evidence=("0",), answer="burns"),
        Question(id="q2", namespace="n", query="sail", evidence=("1", "2"), category="multi"),
    ),
)


def letters(texts: Sequence[str], _role: str) -> list[tuple[int, list[float]]]:
    """Return the counts of letters as vectors: enough to rank by."""
    return [
        (at, [float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"])
        for at, text in enumerate(texts)
    ]


def outcome(name: str, found: Sequence[int], budgets: Sequence[int] = (250, 500, 1000)) -> Outcome:
    answers = (Answer(budget, one, None, 10, 1.0) for budget, one in zip(budgets, found, strict=True))
    return Outcome(name, "", 2, tuple(answers), (0.0, 0.5, 1.0, 1.0), 0.25)


def test_the_references_measure_as_their_rankings_do() -> None:
    measured = {one.name: ask_all(one, CORPUS, (8, 100)) for one in all_references(CORPUS, letters)}

    assert [*measured] == ["random", "BM25", "dense", "rank fusion", "perfect"]
    assert measured["perfect"].coverage(100) == measured["perfect"].recall(5) == 1
    assert measured["random"].coverage(100) == 1  # everything fits
    assert measured["BM25"].mean_reciprocal_rank() == 1
    assert all(one.violations(budget) == 0 for one in measured.values() for budget in (8, 100))


def test_rank_fusion_prefers_what_both_rankings_have() -> None:
    first, second, third = MEMORIES

    assert fuse([[first, second], [third, second]])[0] == second


def test_perfect_shows_the_span_of_a_text_that_is_longer_than_the_budget() -> None:
    long = Memory(id="1", namespace="n", content="word " * 500 + "and the key", evidence_text="the key")
    question = Question(id="q", namespace="n", query="?", evidence=("1",))
    corpus = Corpus((long,), (question,))

    measured = ask_all(all_references(corpus, letters)[-1], corpus, (50,))

    assert measured.coverage(50) == 1


def test_results_come_back_from_their_file_with_means_beside_them(tmp_path: Path) -> None:
    measured = [ask_all(one, CORPUS, (20, 100)) for one in all_references(CORPUS, letters)]
    path = tmp_path / "results.json"

    results.save(path, measured, {"pooled": False})

    assert results.load(path) == tuple(measured)
    assert results.summary(measured[-1])["coverage_by_category"] == {"multi": {"20": 1.0, "100": 1.0}}
    assert results.summary(measured[-1])["answered"] == {"20": 1.0, "100": 1.0}
    assert "| perfect | 1 | 1 |" in tables.report(measured)


def test_coverage_is_the_mean_of_the_shares_of_the_questions() -> None:
    measured = Measured("x", (outcome("a", (0, 1, 2)), outcome("b", (1, 2, 2))))

    assert [measured.coverage(budget) for budget in measured.budgets] == [0.25, 0.75, 1]


def test_a_fall_beyond_the_tolerance_names_the_questions_that_lost() -> None:
    kept = baseline.record({"talk": Measured("x", (outcome("a", (2, 2, 2)), outcome("b", (1, 2, 2))))})
    now = {"talk": Measured("x", (outcome("a", (1, 2, 2)), outcome("b", (1, 2, 2))))}

    assert baseline.losses(kept, now) == [
        "talk at 250 tokens: coverage 0.500, was 0.750. Lost: a (1 of 2, was 2)"
    ]


def test_a_fall_within_the_tolerance_and_a_rise_are_no_loss() -> None:
    many = [outcome(str(number), (1, 1, 1)) for number in range(100)]
    kept = baseline.record({"talk": Measured("x", tuple(many))})
    four_less = [outcome(one.question, (0, 0, 2)) for one in many[:4]]

    assert baseline.losses(kept, {"talk": Measured("x", (*four_less, *many[4:]))}) == []


def test_a_record_of_other_questions_is_a_loss() -> None:
    kept = baseline.record({"talk": Measured("x", (outcome("a", (1, 1, 1)),)), "gone": Measured("x", ())})
    now = {
        "talk": Measured("x", (outcome("b", (1, 1, 1)),)),
        "new": Measured("x", (outcome("c", (1, 1, 1)),)),
    }

    assert [one.partition(":")[0] for one in baseline.losses(kept, now)] == ["new", "talk"]


def test_the_curve_names_every_system_and_is_the_same_each_time() -> None:
    systems = [
        Measured(name, (outcome("a", found),))
        for name, found in (("Satchel", (1, 2, 2)), ("A & B", (0, 1, 2)), ("random", (0, 0, 0)))
    ]

    picture = curve.draw(systems)

    assert picture == curve.draw(systems)
    assert [name in picture for name in (">Satchel 1.000<", ">A &amp; B 1.000<", ">random 0.000<")] == [
        True
    ] * 3
    assert "Satchel, 250 tokens: 0.500" in picture
    assert "prefers-color-scheme: dark" in picture


def test_names_at_one_height_are_moved_apart_within_the_picture() -> None:
    assert curve.spread([50, 51, 52, 300], 10, 40, 302) == [50, 60, 70, 300]
    assert curve.spread([299, 300, 301], 10, 40, 302) == [282, 292, 302]


def test_results_at_different_budgets_are_not_drawn_together() -> None:
    one = Measured("x", (outcome("a", (1, 1, 1)),))
    other = Measured("y", (outcome("a", (1, 1, 1), (100, 200, 300)),))

    with pytest.raises(NotDrawableError, match="at the same budgets"):
        curve.draw([one, other])
    with pytest.raises(NotDrawableError):
        curve.draw([])


@pytest.mark.parametrize("text", ["not JSON", "{}", '{"systems": [{"name": "x"}]}', "[]"])
def test_a_file_that_is_no_result_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BadRecordError, match="it is no result"):
        results.load(path)


def test_a_question_without_words_finds_nothing_by_words() -> None:
    corpus = Corpus(MEMORIES, (Question(id="q", namespace="n", query="?!", evidence=("1",)),))
    by_words = all_references(corpus, letters)[1]

    assert ask_all(by_words, corpus, (50,)).coverage(50) == 0
