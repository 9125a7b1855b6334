import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.runtime import tokens
from satchel.runtime.tokens import RankFileError, count_in_pieces, count_tokens, encoding


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("Counting tokens must not open a connection.")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Published in the OpenAI cookbook, "How to count tokens with tiktoken".
        ("tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),
        ("antidisestablishmentarianism", [519, 85342, 34500, 479, 8997, 2191]),
        ("2 + 2 = 4", [17, 489, 220, 17, 284, 220, 19]),
        ("お誕生日おめでとう", [33334, 45918, 243, 21990, 9080, 33334, 62004, 16556, 78699]),
    ],
)
def test_tokens_are_those_that_are_published(text: str, expected: list[int]) -> None:
    assert expected == encoding().encode_ordinary(text)
    assert len(expected) == count_tokens(text)


def test_vocabulary_has_its_published_size() -> None:
    assert encoding().n_vocab == 100277


def test_empty_text_has_no_tokens() -> None:
    assert count_tokens("") == 0


def test_special_tokens_in_a_text_count_as_text() -> None:
    assert count_tokens("<|endoftext|>") > 1


@pytest.mark.parametrize("text", ["a", " ", "\n", "漢", "1", ".", "😀"])
def test_long_run_of_one_character_is_counted(text: str) -> None:
    assert 0 < count_tokens(text * 65536) <= 65536 * len(text.encode())


@pytest.mark.parametrize("end", ["x", "\n", "\nx"])
def test_a_million_blanks_do_not_break_the_engine(end: str) -> None:
    assert count_tokens(" " * 1_000_000) == 7813
    assert count_tokens(" " * 1_000_000 + end) > 7800


BLANKS = st.text(alphabet=" \t\u00a0\u2003\u3000", min_size=1, max_size=12)
LINES = st.text(alphabet="\r\n", max_size=3)
WORDS = st.text(alphabet="aA1.'/漢\u0301é\u200b\x1c", max_size=4)


@settings(max_examples=300, deadline=None)
@given(parts=st.lists(st.one_of(BLANKS, LINES, WORDS), max_size=12))
def test_counting_in_pieces_is_exact(parts: list[str]) -> None:
    text = "".join(parts)

    expected = len(encoding().encode_ordinary(text))

    assert expected == count_in_pieces(text, 3)


def test_changed_rank_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_SHA256", "0" * 64)

    with pytest.raises(RankFileError, match="not the published one"):
        tokens._read_ranks()
