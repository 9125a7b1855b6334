import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.runtime import tokens
from satchel.runtime.tokens import EncodingName, RankFileError, count_in_pieces, count_tokens, encoding

NAMES: tuple[EncodingName, ...] = ("cl100k_base", "o200k_base")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("Counting tokens must not open a connection.")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        # Published in the OpenAI cookbook, "How to count tokens with tiktoken".
        ("cl100k_base", "tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),
        ("cl100k_base", "antidisestablishmentarianism", [519, 85342, 34500, 479, 8997, 2191]),
        ("cl100k_base", "2 + 2 = 4", [17, 489, 220, 17, 284, 220, 19]),
        ("cl100k_base", "お誕生日おめでとう", [33334, 45918, 243, 21990, 9080, 33334, 62004, 16556, 78699]),
        ("o200k_base", "2 + 2 = 4", [17, 659, 220, 17, 314, 220, 19]),
        ("o200k_base", "お誕生日おめでとう", [8930, 9697, 243, 128225, 8930, 17693, 4344, 48669]),
    ],
)
def test_tokens_are_those_that_are_published(name: EncodingName, text: str, expected: list[int]) -> None:
    assert expected == encoding(name).encode_ordinary(text)
    assert len(expected) == count_tokens(text, name)


@pytest.mark.parametrize(("name", "size"), [("cl100k_base", 100277), ("o200k_base", 200019)])
def test_vocabulary_has_its_published_size(name: EncodingName, size: int) -> None:
    assert size == encoding(name).n_vocab


@pytest.mark.parametrize("name", NAMES)
def test_empty_text_has_no_tokens(name: EncodingName) -> None:
    assert count_tokens("", name) == 0


def test_special_tokens_in_a_text_count_as_text() -> None:
    assert count_tokens("<|endoftext|>") > 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["a", " ", "\n", "漢", "1", ".", "😀"])
def test_long_run_of_one_character_is_counted(name: EncodingName, text: str) -> None:
    assert 0 < count_tokens(text * 65536, name) <= 65536 * len(text.encode())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("end", ["", "x", "\n", "\nx"])
def test_a_million_blanks_do_not_break_the_engine(name: EncodingName, end: str) -> None:
    if (name, end) == ("cl100k_base", ""):
        assert count_tokens(" " * 1_000_000, name) == 7813
    else:
        assert count_tokens(" " * 1_000_000 + end, name) > 7800


BLANKS = st.text(alphabet=" \t\u00a0\u2003\u3000", min_size=1, max_size=12)
LINES = st.text(alphabet="\r\n", max_size=3)
WORDS = st.text(alphabet="aA1.'/漢\u0301é\u200b\x1c", max_size=4)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=300, deadline=None)
@given(parts=st.lists(st.one_of(BLANKS, LINES, WORDS), max_size=12))
def test_counting_in_pieces_is_exact(name: EncodingName, parts: list[str]) -> None:
    text = "".join(parts)

    expected = len(encoding(name).encode_ordinary(text))

    assert expected == count_in_pieces(text, name, 3)


def test_changed_rank_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tokens._SHA256, "o200k_base", "0" * 64)

    with pytest.raises(RankFileError, match="not the published one"):
        tokens._read_ranks("o200k_base")
