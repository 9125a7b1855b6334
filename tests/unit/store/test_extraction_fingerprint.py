"""The fingerprint as JSON and as a line, and the properties that hold for any text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.store.extraction import Fingerprint, canonical_json, extract, from_json, render_line

CUES = st.sampled_from(
    [
        *(
            "because",
            "since",
            "as",
            "decided to",
            "chose",
            "rejected:",
            "approved by",
            "will implement",
            "Jean",
        ),
        *("(not ACID)", "instead of", ",", "over", "by", "Friday", "deadline:", "sprint 12", "ERROR", "."),
        *(
            "\n",
            "- ",
            "é",
            "漢",
            "décidé de",
            "car",
            "parce que",
            "d'ici",
            "about",
            ":",
            "was rejected",
            "CTO",
        ),
    ]
)
TEXTS = st.one_of(
    st.text(), st.lists(CUES, max_size=40).map(" ".join), st.text(st.characters(), max_size=200)
)
FULL = Fingerprint(
    type="decision",
    subjects=("base", "PostgreSQL"),
    entities=("PostgreSQL", "Élodie"),
    decision="use PostgreSQL",
    rejected=("MySQL", "MongoDB"),
    reasons=("ACID",),
    assignee="Élodie",
    validator="CTO",
    deadline="Friday",
    negated=True,
)


def test_canonical_json_has_sorted_keys_no_spaces_and_plain_letters() -> None:
    expected = (
        '{"assignee":"Élodie","deadline":"Friday","decision":"use PostgreSQL","entities":'
        '["PostgreSQL","Élodie"],"negated":true,"reasons":["ACID"],"rejected":["MySQL","MongoDB"],"subjects":["base","PostgreSQL"],'
        '"type":"decision","validator":"CTO"}'
    )

    assert expected == canonical_json(FULL)


def test_fields_without_a_value_are_left_out_of_the_json() -> None:
    assert canonical_json(Fingerprint(type="fact")) == '{"type":"fact"}'


def test_facts_are_counted_one_by_one_and_subjects_once() -> None:
    assert FULL.fact_count == 8
    assert Fingerprint(type="fact").fact_count == 0


@pytest.mark.parametrize(
    "document",
    [
        "",
        "[]",
        "{}",
        '{"type":3}',
        '{"type":"fact","decision":[]}',
        '{"type":"fact","subjects":"x"}',
        '{"type":"fact","rejected":[1]}',
        '{"type":"fact","negated":"yes"}',
    ],
)
def test_a_malformed_document_is_refused(document: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(document)


def test_unknown_keys_are_ignored() -> None:
    assert Fingerprint(type="fact") == from_json('{"type":"fact","later":1}')


def test_the_line_shows_the_facts_in_a_fixed_order() -> None:
    expected = (
        "base, PostgreSQL | decision: use PostgreSQL | rejected: MySQL, MongoDB | because: ACID | @Élodie"
        " | approved: CTO | due: Friday"
    )

    assert expected == render_line(FULL)


def test_the_line_names_entities_when_there_is_no_other_fact() -> None:
    found = Fingerprint(type="fact", subjects=("Paris",), entities=("Paris", "France"))

    assert render_line(found) == "Paris, France"


def test_the_gist_stands_in_for_a_missing_decision() -> None:
    found = Fingerprint(type="fact", subjects=("database",))

    assert (
        render_line(found, gist="the pool has\n100 | connections")
        == "database | the pool has 100 / connections"
    )
    assert "pool" not in render_line(FULL, gist="the pool")


def test_parts_that_do_not_fit_the_line_are_left_out_whole() -> None:
    assert render_line(FULL, max_chars=30) == "base, PostgreSQL | @Élodie"
    assert render_line(FULL, max_chars=6) == "base,…"


def test_a_line_of_no_length_is_refused() -> None:
    with pytest.raises(ValueError, match="max_chars"):
        render_line(FULL, max_chars=0)


@given(TEXTS)
def test_any_text_has_one_fingerprint_that_survives_json(text: str) -> None:
    found = extract(text)
    document = canonical_json(found)

    assert found == extract(text)
    assert found == from_json(document)
    assert document == canonical_json(from_json(document))
    assert document == json.dumps(
        json.loads(document.encode()), ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    assert found.fact_count >= 1


@given(TEXTS, st.integers(1, 300))
def test_any_fingerprint_renders_on_one_short_line(text: str, limit: int) -> None:
    line = render_line(extract(text), max_chars=limit)

    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


@pytest.mark.parametrize(
    "unit",
    ["a", "(", " ", "\n", "A. ", "because ", "Élodie ", "a@", "\u0344\u0327", "漢", "\ud800", "1-", "by "],
)
def test_the_longest_text_of_one_repeated_unit_has_a_fingerprint(unit: str) -> None:
    text = (unit * 65_536)[:65_536]

    assert extract(text).fact_count >= 1
