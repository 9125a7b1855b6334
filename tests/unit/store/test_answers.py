import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.store.extraction import Fingerprint, canonical_json, from_json
from satchel.store.llm.answers import UnusableAnswer, ground, join, read_answer
from satchel.store.llm.asking import messages, schema

RULES = Fingerprint(type="decision", subjects=("Kafka",), decision="use Kafka", negated=True)


def grounded(value: str, text: str) -> bool:
    return bool(ground({"decision": (value,)}, text)["decision"])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("event bus", "The  Event\nBus runs."),
        ("zoe", "Zoë runs it."),
        ("Œuvre", "an OEUVRE of hers"),
        ("C++", "We write C++ here."),
        ("3 May", "until 3 May."),
    ],
)
def test_words_that_stand_in_the_text_are_kept_whatever_their_case_and_accents(value: str, text: str) -> None:
    assert grounded(value, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Kaf", "Kafka runs."),
        ("bus event", "The event bus runs."),
        ("Confluent", "Kafka runs."),
        ("...", "Kafka runs..."),
        ("", "Kafka runs."),
    ],
)
def test_words_that_do_not_stand_in_the_text_as_they_are_are_dropped(value: str, text: str) -> None:
    assert not grounded(value, text)


def test_a_list_grows_by_what_is_new_and_a_single_value_is_set_once() -> None:
    found = {"subjects": ("kafka", "event bus"), "decision": ("Pulsar",), "assignee": ("Zoë",)}

    assert join(RULES, found, "m") == Fingerprint(
        type="decision",
        subjects=("Kafka", "event bus"),
        decision="use Kafka",
        assignee="Zoë",
        negated=True,
        extracted_by="m",
    )


def test_nothing_new_leaves_the_facts_of_the_rules_and_names_no_model() -> None:
    assert join(RULES, {"subjects": ("KAFKA",), "decision": ("Pulsar",)}, "m") is RULES


def test_who_found_the_facts_is_kept_with_them() -> None:
    joined = join(RULES, {"deadline": ("noon",)}, "m")

    assert from_json(canonical_json(joined)) == joined
    assert "extracted_by" not in canonical_json(RULES)


def test_the_examples_of_the_question_are_answers_that_hold() -> None:
    asked = messages("x" * 20_000)
    pairs = [(asked[at]["content"], asked[at + 1]["content"]) for at in (1, 3)]

    for note, answer in pairs:
        found = read_answer(answer)
        assert ground(found, note) == found
        assert list(json.loads(answer)) == schema()["required"]
    assert asked[-1] == {"role": "user", "content": "x" * 16_000}


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["decision", "subjects", "x"]), inner)
        ),
    ),
    st.text(),
)
def test_no_answer_does_more_than_be_refused(answer: object, text: str) -> None:
    try:
        found = ground(read_answer(json.dumps(answer)), text)
    except UnusableAnswer:
        return
    assert join(RULES, found, "m").decision == "use Kafka"
