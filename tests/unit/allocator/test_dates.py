"""Relative times mean days, weeks, months and years from the day on which they were said."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.allocator.dates import dates_note

WEDNESDAY = date(2023, 5, 10)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("I went yesterday.", "(yesterday: 9 May 2023)"),
        ("We met last night", "(last night: 9 May 2023)"),
        ("The day before yesterday it broke", "(the day before yesterday: 8 May 2023)"),
        ("See you tomorrow!", "(tomorrow: 11 May 2023)"),
        ("Last Friday, then", "(last friday: 5 May 2023)"),
        ("It was last Wednesday", "(last wednesday: 3 May 2023)"),
        ("next Wednesday", "(next wednesday: 17 May 2023)"),
        ("this Friday", "(this friday: 12 May 2023)"),
        ("last week", "(last week: week of 1 May 2023)"),
        ("last weekend", "(last weekend: weekend of 6 May 2023)"),
        ("next month", "(next month: June 2023)"),
        ("last year", "(last year: 2022)"),
        ("two weeks ago", "(two weeks ago: week of 24 April 2023)"),
        ("a couple of days ago", "(a couple of days ago: 8 May 2023)"),
        ("five months ago", "(five months ago: December 2022)"),
        ("10 years ago", "(10 years ago: 2013)"),
        ("hier et avant-hier", "(hier: 9 May 2023; avant-hier: 8 May 2023)"),
        ("vendredi dernier", "(vendredi dernier: 5 May 2023)"),
        ("la semaine prochaine", "(semaine prochaine: week of 15 May 2023)"),
        ("il y a trois mois", "(il y a trois mois: February 2023)"),
    ],
)
def test_a_relative_time_is_resolved(text: str, note: str) -> None:
    assert dates_note(text, WEDNESDAY) == note


@pytest.mark.parametrize(
    "text",
    [
        "",
        "today",
        "in May",
        "the last straw",
        "yesterdays",
        "999 years ago",
        "the last weeks",
        "last years",
        "The next day we left. On the last day it rained.",
        "la\u017ft week",
        "last fr\u0131day",
        "an derni\u00e8r",
    ],
)
def test_what_is_no_relative_time_or_beyond_the_calendar_has_no_note(text: str) -> None:
    assert not dates_note(text, date(500, 1, 1))


def test_a_time_that_is_named_twice_is_resolved_once_and_at_most_three_are() -> None:
    text = "Yesterday, yesterday, tomorrow, last week, last month"
    assert dates_note(text, WEDNESDAY).count(":") == 3


@given(st.text(max_size=50), st.dates())
def test_any_text_on_any_day_has_a_note_of_one_line(text: str, said: date) -> None:
    note = dates_note(f"two weeks ago {text} next year, 300 days ago", said)
    assert not {"\n", "<"} & set(note)
