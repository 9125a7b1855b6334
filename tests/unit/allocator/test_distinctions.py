import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.allocator.distinctions import Facts


def are_distinct(one: str, other: str) -> bool:
    return Facts((one, other)).are_distinct(0, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("On Monday the build took 12 minutes.", "On Tuesday the build took 12 minutes."),
        ("The build took 12 minutes.", "The build took 14 minutes."),
        ("The build took two minutes.", "The build took 3 minutes."),
        ("The port moved from 9000 to 9001.", "The port moved from 9001 to 9000."),
        ("The review is in March.", "The review is in April."),
        ("La revue est en f\u00e9vrier.", "La revue est en mars."),
        ("La revue est en ao\u00fbt.", "La revue est en d\u00e9cembre."),
        ("La livraison est lundi.", "La livraison est mardi."),
        ("We use Redis.", "We do not use Redis."),
        ("We do use Redis.", "We don\u2019t use Redis."),
        ("Le cache est actif.", "Le cache n'est pas actif."),
        ("Ship release v2.", "Ship release v3."),
        ("", ""),
    ],
)
def test_texts_that_differ_in_number_date_or_negation_are_distinct(one: str, other: str) -> None:
    assert are_distinct(one, other)
    assert are_distinct(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use Go.", "We use Go!"),
        ("The build took 12 minutes on Monday.", "On Monday, the build took 12 minutes."),
        ("The build took two minutes.", "The build took 2 minutes."),
        ("Livraison en F\u00c9VRIER.", "Livraison en fe\u0301vrier, oui."),
    ],
)
def test_texts_that_only_word_it_differently_are_not_distinct(one: str, other: str) -> None:
    assert not are_distinct(one, other)


@given(st.text(min_size=1))
def test_a_text_is_never_distinct_from_itself(text: str) -> None:
    assert not are_distinct(text, text)
