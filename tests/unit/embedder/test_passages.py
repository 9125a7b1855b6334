import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.embedder.fakes import encode_words

from satchel.embedder.model import Encoding, Passage
from satchel.embedder.passages import split


def encode_characters(text: str) -> Encoding:
    starts = np.array([i for i, c in enumerate(text) if not c.isspace()], dtype=np.int32)
    return Encoding(np.ones(len(starts), dtype=np.int32), starts, starts + 1)


def parts(text: str, *, limit: int, overlap: int = 0) -> list[str]:
    found = split(text, encode_words(text), limit=limit, overlap=overlap)
    return [text[one.start : one.end] for one in found]


def test_text_that_fits_is_one_passage_over_all_of_it() -> None:
    assert [Passage(0, 9, 0, 2)] == split(" one two ", encode_words(" one two "), limit=2, overlap=1)


def test_text_without_tokens_is_one_passage_over_all_of_it() -> None:
    assert [Passage(0, 3, 0, 0)] == split(" \n ", encode_words(" \n "), limit=2, overlap=1)


def test_cut_falls_behind_the_last_sentence_that_fits() -> None:
    assert parts("One two three. Four five. Six seven eight nine.", limit=7) == [
        "One two three. Four five. ",
        "Six seven eight nine.",
    ]


def test_sentence_keeps_its_closing_quotes_and_brackets() -> None:
    assert parts('He said "stop here." Then he left the room.', limit=6) == [
        'He said "stop here." ',
        "Then he left the room.",
    ]


def test_line_end_is_a_border() -> None:
    assert parts("a b c d\ne f g h", limit=6) == ["a b c d\n", "e f g h"]


def test_without_a_sentence_the_cut_falls_between_words() -> None:
    text = "a b c d e f g"

    assert parts(text, limit=4) == ["a b c d ", "e f g"]


def test_next_passage_begins_with_the_last_sentence_of_the_one_before() -> None:
    text = "One two three four. Five six. Seven eight nine ten."

    assert parts(text, limit=8, overlap=2) == [
        "One two three four. Five six. ",
        "Five six. Seven eight nine ten.",
    ]


def test_chinese_is_cut_at_its_own_full_stop_without_white_space() -> None:
    text = "我们选择了数据库。" + "因为它很稳定。" + "还有很多别的理由。"

    found = split(text, encode_characters(text), limit=18, overlap=0)

    assert [text[one.start : one.end] for one in found] == [
        "我们选择了数据库。因为它很稳定。",
        "还有很多别的理由。",
    ]


def test_one_endless_word_is_cut_at_the_limit() -> None:
    text = "漢" * 25

    assert [(one.start, one.end) for one in split(text, encode_characters(text), limit=10, overlap=2)] == [
        (0, 10),
        (8, 18),
        (16, 25),
    ]


@given(
    text=st.text(alphabet=st.sampled_from('ab .!?\n。語é😀"'), max_size=400),
    limit=st.integers(1, 40),
    overlap=st.integers(0, 60),
)
def test_every_code_point_lies_in_a_passage_and_no_passage_exceeds_the_limit(
    text: str, limit: int, overlap: int
) -> None:
    for encoding in (encode_words(text), encode_characters(text)):
        found = split(text, encoding, limit=limit, overlap=overlap)

        assert found[0].start == 0
        assert len(text) == found[-1].end
        assert found[0].first == 0
        assert len(encoding.ids) == found[-1].last
        for one, following in itertools.pairwise(found):
            assert one.first < following.first <= one.last < following.last
            assert one.start <= following.start <= one.end <= following.end
        assert all(one.last - one.first <= limit for one in found)


@pytest.mark.parametrize("text", ["." * 65_536, '."' * 32_768, "a." * 32_768, "。" * 65_536, "x\n" * 32_768])
def test_hostile_runs_of_marks_take_linear_time(text: str) -> None:
    encoding = encode_characters(text)
    began = time.process_time()

    found = split(text, encoding, limit=254, overlap=32)

    # Quadratic time would take minutes; the bound only tells the two apart.
    assert time.process_time() - began < 5
    assert len(found) <= 4 * len(encoding.ids) / 254 + 1
