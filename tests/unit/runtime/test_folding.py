"""Folding decides which texts count as the same word."""

import pytest

from satchel.runtime.folding import fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Règles", "regles"),
        ("REGLES", "regles"),
        ("re\u0300gles", "regles"),
        ("Straße", "strasse"),
        ("Œuvre", "oeuvre"),
        ("ﬁn", "fin"),
        ("Ελλάδα", "ελλαδα"),
        ("面粉", "面粉"),
        ("\ud800", "\ufffd"),
    ],
)
def test_words_that_people_call_the_same_fold_to_the_same_text(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_folding_again_changes_nothing() -> None:
    for text in ("Règles", "Straße", "ǅ", "İstanbul", "ﬃ"):
        assert fold(fold(text)) == fold(text)
