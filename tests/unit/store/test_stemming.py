"""Stems by Porter's algorithm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.store.adapters.memory.stemming import stem

# The examples of the paper, taken through all steps.
STEMS = {
    "caresses": "caress", "ponies": "poni", "ties": "ti", "cats": "cat", "feed": "feed", "agreed": "agre",
    "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing", "conflated": "conflat",
    "troubled": "troubl", "sized": "size", "hopping": "hop", "tanned": "tan", "falling": "fall",
    "hissing": "hiss", "fizzed": "fizz", "failing": "fail", "filing": "file", "happy": "happi", "sky": "sky",
    "relational": "relat", "conditional": "condit", "rational": "ration", "valenci": "valenc",
    "digitizer": "digit", "radicalli": "radic", "vietnamization": "vietnam", "operator": "oper",
    "feudalism": "feudal", "decisiveness": "decis", "hopefulness": "hope", "formaliti": "formal",
    "sensibiliti": "sensibl", "triplicate": "triplic", "formative": "form", "electriciti": "electr",
    "electrical": "electr", "goodness": "good", "revival": "reviv", "allowance": "allow",
    "inference": "infer", "airliner": "airlin", "adjustable": "adjust", "replacement": "replac",
    "adoption": "adopt", "activate": "activ", "effective": "effect", "bowdlerize": "bowdler",
    "probate": "probat", "rate": "rate", "cease": "ceas", "controll": "control", "roll": "roll",
}  # fmt: skip


@pytest.mark.parametrize(("word", "expected"), STEMS.items())
def test_a_word_has_the_stem_of_the_paper(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize("word", ["", "is", "as", "err_4711-x", "regles2", "東京", "данные", "it's"])
def test_what_is_no_english_word_stays_as_it_is(word: str) -> None:
    assert stem(word) == word


@given(st.text("abcdefgilmnorstuyz", min_size=3))
def test_a_stem_is_made_of_the_beginning_of_its_word(word: str) -> None:
    found = stem(word)

    assert 0 < len(found) <= len(word)
    assert word.startswith(found[:-2])
