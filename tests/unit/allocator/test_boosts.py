"""What raises a memory beside words and meaning, each signal alone, and what has none of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.allocator.cues import are_questions, asks_when, tell_time
from satchel.allocator.evidence import Evidence, Located
from satchel.allocator.neighbors import Shares, lent, likeness, line_up, numbered
from satchel.allocator.ranking import rank
from satchel.allocator.sessions import support
from satchel.allocator.speakers import named_speakers, speaker
from satchel.allocator.tuning import Tuning

from .building import located

SIDE = np.eye(4, dtype=np.float32)


def test_a_memory_borrows_from_better_neighbours_and_lends_nothing_away() -> None:
    line = line_up(["s", "s", "s", "t", "", ""], [1, 2, 3, 2, 2, 3])
    scores = np.array([1.0, 0.0, 0.5, 0.0, 0.0, 0.5])
    assert lent(scores, line, Shares(0.4, 0.2, 0.0, 0.0)).tolist() == pytest.approx([0, 0.5, 0, 0, 0, 0])


def test_a_memory_borrows_from_two_places_away_also_where_none_stands_between() -> None:
    scores, shares = np.array([1.0, 0.0]), Shares(0.0, 0.0, 0.3, 0.1)
    assert lent(scores, line_up(["s", "s"], [5, 7]), shares).tolist() == pytest.approx([0, 0.3])
    assert lent(scores, line_up(["s", "s"], [7, 5]), shares).tolist() == pytest.approx([0, 0.1])
    assert lent(scores, line_up(["s", "s"], [5, 8]), shares).tolist() == [0, 0]


def test_without_sessions_nothing_is_borrowed() -> None:
    assert lent(np.array([1.0, 0.0]), line_up(["", ""], [1, 2]), Shares()).tolist() == [0, 0]


@given(st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.integers(0, 6)), min_size=2, max_size=12))
def test_what_is_lent_does_not_depend_on_the_order_of_the_candidates(places: list[tuple[str, int]]) -> None:
    placed = list(dict.fromkeys(places))
    scores = np.linspace(0, 1, len(placed))
    forward = lent(scores, line_up(*zip(*placed, strict=True)), Shares())
    backward = lent(scores[::-1], line_up(*zip(*placed[::-1], strict=True)), Shares())
    assert forward.tolist() == pytest.approx(backward[::-1].tolist())


def test_neighbours_that_are_no_nearer_than_any_two_memories_are_no_talk() -> None:
    order = list(range(40))
    talk = np.repeat(np.eye(10, dtype=np.float32), 4, axis=0)
    shuffled = talk[np.argsort([(7 * at) % 40 for at in order])]
    line, row = line_up(["s"] * 40, order), np.arange(40)
    assert likeness(line, talk, row) == 1
    assert likeness(line, shuffled, row) < 0.1


def test_one_pair_of_neighbours_is_taken_for_a_talk() -> None:
    assert likeness(line_up(["s", "s"], [1, 2]), SIDE, np.array([0, 1])) == 1


def test_a_session_is_supported_by_its_best_and_by_how_many_are_good() -> None:
    scores = np.array([2.0, 0.0, 2.0, 2.0, -1.0])
    found = support(scores, numbered(["a", "a", "b", "b", ""]))
    assert found[0] == found[1] == pytest.approx(np.log(np.exp(2) + 1))
    assert found[2] == found[3] == pytest.approx(2 + np.log(2))
    assert found[4] == -1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Caroline: I went", "Caroline"),
        ("Jean-Luc d'Arc: oui", "Jean-Luc d'Arc"),
        ("田中: はい", "田中"),
        ("user: hello", ""),
        ("https://example.org: a page", ""),
        ("No colon here", ""),
        ("x" * 60 + ": too long", ""),
    ],
)
def test_a_speaker_is_the_name_before_the_first_colon(text: str, name: str) -> None:
    assert speaker(text) == name


def test_a_question_names_a_speaker_by_capitals_or_without_any() -> None:
    texts = ["Will: yes", "Ann Lee: no", "Will: maybe", "Ann Lee: hm", "Note: once"]
    assert named_speakers("What will Ann's plan be?", texts).tolist() == [0, 1, 0, 1, 0]
    assert named_speakers("where does ann live", texts).tolist() == [0, 1, 0, 1, 0]
    assert named_speakers("What is the Note about?", texts).tolist() == [0, 0, 0, 0, 0]


def test_the_word_that_begins_a_question_names_no_heading() -> None:
    assert named_speakers("What did we decide?", ["What: a trial", "What: a delay"]).tolist() == [0, 0]
    assert named_speakers("How do I deploy?", ["How to: deploy", "How to: test"]).tolist() == [0, 0]
    assert named_speakers("Will Will come?", ["Will: yes", "Will: no"]).tolist() == [1, 1]


def test_an_article_and_a_verb_tell_no_time() -> None:
    assert tell_time(["I ate an apple", "He may come", "7 May 2023"]).tolist() == [0, 0, 1]


def test_codes_of_another_width_are_not_compared() -> None:
    memories = located(("a", SIDE[:1]), ("b", SIDE[1:2]))
    codes, counts = np.zeros((2, 6), dtype=np.uint64), np.array([1, 1])
    found = replace(memories, codes=codes, code_counts=counts)
    evidence = Evidence(query=SIDE[0], query_codes=np.zeros((1, 12), dtype=np.uint64), question="What?")
    assert len(rank(found, evidence, Tuning(), collapsing=False).places) == 2


@pytest.mark.parametrize(
    "question", ["When did she leave?", "what year was it", "Depuis quand ?", "Quel jour ?"]
)
def test_a_question_for_a_time_is_recognised(question: str) -> None:
    assert asks_when(question)
    assert not asks_when("Who said so whenever we met?")


def test_texts_that_tell_a_time_are_recognised_in_two_languages() -> None:
    assert tell_time(["It was last Friday", "C'était hier", "In 2021", "It was fine"]).tolist() == [
        1,
        1,
        1,
        0,
    ]


def test_a_text_is_a_question_whatever_remark_follows() -> None:
    texts = ["Ann: And you? [shared image: a cat]", "Really?  ", "本当\uff1f", "Is it? Yes.", "[?]"]
    assert are_questions(texts).tolist() == [1, 1, 1, 0, 0]


def ranked(memories: Located, question: str = "", tuning: Tuning | None = None) -> list[str]:
    evidence = Evidence(query=SIDE[0], question=question)
    places = rank(memories, evidence, tuning or Tuning(threshold_floor=0), collapsing=False).places
    return [memories.ids[place.source] for place in places]


def level(texts: list[str]) -> Located:
    """Memories that are equally near to the question, one a text, named by its place."""
    row = np.array([[0.6, 0.8, 0, 0]], dtype=np.float32)
    return located(*[(str(at), row) for at in range(len(texts))], texts=texts)


def test_who_is_named_stands_before_who_is_not() -> None:
    texts = ["Ann: a", "Bob: b", "Ann: c", "Bob: d"]
    assert ranked(level(texts), "What does Bob do?") == ["1", "3", "0", "2"]


def test_a_time_stands_first_where_one_is_asked_for_and_nowhere_else() -> None:
    assert ranked(level(["it rained", "it rained yesterday"]), "When did it rain?") == ["1", "0"]
    assert ranked(level(["it rained", "it rained yesterday"]), "Did it rain?") == ["0", "1"]


def test_a_question_stands_behind_a_statement() -> None:
    assert ranked(level(["who rides?", "she rides"])) == ["1", "0"]


def test_what_passes_the_floor_by_itself_is_not_pushed_below_it() -> None:
    row = np.array([[0.2, 0.98, 0, 0]], dtype=np.float32)
    only = located(("a", row), texts=["who?"])
    place = rank(only, Evidence(query=SIDE[0]), Tuning(), collapsing=False).places[0]
    assert place.signals.question_boost < 0
    assert place.relevance == pytest.approx(Tuning().threshold_floor)
