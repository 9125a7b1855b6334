import numpy as np
import pytest

from satchel.embedder.content import MOST_CODES, coded_places, token_kinds
from satchel.embedder.model import TokenKinds

WORD_PIECES = ("[CLS]", "[SEP]", "the", "The", "whale", "##the", "##s", "42", "é", "日", "?", "##,", "été")


def kinds_of(*tokens: str, special: tuple[int, ...] = ()) -> TokenKinds:
    return token_kinds({token: index for index, token in enumerate(tokens)}, special)


def content_of(*tokens: str, special: tuple[int, ...] = ()) -> list[str]:
    kinds = kinds_of(*tokens, special=special)
    return [token for token, is_content in zip(tokens, kinds.is_content, strict=True) if is_content]


def test_content_has_a_letter_or_digit_and_is_neither_special_nor_a_function_word() -> None:
    assert content_of(*WORD_PIECES, special=(0, 1)) == ["whale", "##the", "##s", "42", "é", "日"]


@pytest.mark.parametrize("mark", ["\u2581", "\u0120"])
def test_vocabularies_that_mark_beginnings_keep_what_continues_a_word(mark: str) -> None:
    tokens = (f"{mark}the", "the", f"{mark}whale", mark, f"{mark}?", "s")

    assert content_of(*tokens) == ["the", f"{mark}whale", "s"]


def test_ids_may_leave_gaps() -> None:
    kinds = token_kinds({"whale": 5, "the": 2, "[PAD]": 0}, [0])

    assert np.flatnonzero(kinds.is_content).tolist() == [5]
    assert np.flatnonzero(kinds.is_special).tolist() == [0]


def test_places_are_those_of_content_tokens_in_order() -> None:
    kinds = kinds_of("[SEP]", "the", "whale", "sings", special=(0,))

    assert coded_places(np.array([1, 3, 0, 2, 1], dtype=np.int32), kinds).tolist() == [1, 3]


def test_a_text_that_says_nothing_has_all_its_tokens_but_special_ones() -> None:
    kinds = kinds_of("[SEP]", "the", "?", "whale", special=(0,))

    assert coded_places(np.array([1, 0, 2], dtype=np.int32), kinds).tolist() == [0, 2]
    assert coded_places(np.zeros(2, dtype=np.int32), kinds).tolist() == []


def test_no_text_has_more_than_the_first_512() -> None:
    found = coded_places(np.zeros(2000, dtype=np.int32), kinds_of("whale"))

    assert found.tolist() == list(range(MOST_CODES)) == list(range(512))
