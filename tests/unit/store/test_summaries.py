import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.store.summaries import summary_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=400)


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("The port is 9000 on staging. Ask Bob.", "The port is 9000 on staging."),
        ("The port of staging is 9000! Ask Bob.", "The port of staging is 9000!"),
        ("We met Dr. Smith, e.g. for lunch. It rained.", "We met Dr. Smith, e.g. for lunch."),
        ("Yes. Agreed on Friday then. Bye.", "Yes. Agreed on Friday then."),
        ('She said "we are done here." Then she left.', 'She said "we are done here."'),
        ("a line that\nis broken. And more.", "a line that is broken."),
        ("intro\n# A header of some length #\nText.", "intro A header of some length"),
        ("## Release plan for June\n\n- first", "Release plan for June"),
        ("a #hashtag is no header here. More.", "a #hashtag is no header here."),
        ("a paragraph of some words\n\nand another", "a paragraph of some words"),
        ("file.txt of v1.2.3 is what we ship now", "file.txt of v1.2.3 is what we ship now"),
        ("\u6211\u4eec" * 10 + "\u3002\u4e0b\u4e00\u53e5", "\u6211\u4eec" * 10 + "\u3002"),
        ("short", "short"),
        ("  \n ", ""),
    ],
)
def test_a_summary_is_the_first_header_or_sentence_that_says_enough(text: str, summary: str) -> None:
    assert summary_of(text) == summary


def test_a_title_wins_over_the_text_unless_it_is_blank() -> None:
    assert summary_of("A text of some words.", title=" The\nledger ") == "The ledger"
    assert summary_of("A text of some words.", title=" ") == "A text of some words."


@given(TEXTS, TEXTS)
def test_a_summary_is_one_line_of_bounded_length(text: str, title: str) -> None:
    summary = summary_of(text, title=title)

    assert len(summary) <= 200
    assert summary == " ".join(summary.split())
    assert bool(summary) == bool(text.split() or title.split())


def test_a_text_that_is_cut_ends_in_an_ellipsis() -> None:
    assert summary_of("word " * 100).endswith("word\u2026")
    assert len(summary_of("x" * 201)) == 200
