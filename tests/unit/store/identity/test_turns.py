"""Only what the agent said counts."""

import json

import pytest

from satchel.store.identity.turns import Message, agent_messages, agent_turns


@pytest.mark.parametrize(
    ("user", "assistant"),
    [
        ("User", "Assistant"),
        ("Human", "AI"),
        ("Utilisateur", "Assistant"),
        ("**User**", "**Assistant**"),
        ("Alice", "Agent"),
        ("[12:03] User", "[12:04] Assistant (some-model)"),
    ],
)
def test_turns_are_told_apart_by_their_labels(user: str, assistant: str) -> None:
    text = f"{user}: one\nmore of one\n{assistant}: two\nmore of two\n{user}: three\n{assistant}: four"

    assert agent_turns(text, "x") == ("two\nmore of two", "four")


def test_headings_name_speakers_too() -> None:
    assert agent_turns("## User\nhello\n\n## Assistant\nworld\nagain", "x") == ("world\nagain",)


def test_a_french_label_may_have_a_space_before_its_colon() -> None:
    assert agent_turns("Utilisateur : salut\nAssistant : bonjour", "x") == ("bonjour",)


def test_the_agents_own_name_wins_over_other_assistants() -> None:
    text = "Assistant: not me\nClara: it is me\nUser: hi\nAssistant: not me again"

    assert agent_turns(text, "clara") == ("it is me",)


def test_a_name_that_is_not_the_agents_ends_its_turn() -> None:
    assert agent_turns("Assistant: mine\nBob: not mine\nstill not mine", "x") == ("mine",)


def test_a_word_that_heads_a_paragraph_ends_no_turn() -> None:
    text = (
        "User: hi\nAssistant: start\nNote: part of it\n**Pros:** part of it\nhttps://example.org: part of it"
    )

    assert agent_turns(text, "x") == (text.split("Assistant: ")[1],)


@pytest.mark.parametrize("text", ["", "no labels at all", "User: only me\nand me", "Note: nobody"])
def test_a_text_without_a_turn_of_the_agent_has_none(text: str) -> None:
    assert agent_turns(text, "x") == ()


def test_messages_as_json_are_read_with_their_parts() -> None:
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        {"role": "tool", "content": "result"},
        {"role": "assistant", "content": None},
    ]

    assert agent_turns(json.dumps(messages), "x") == ("one\ntwo",)
    assert agent_turns(json.dumps({"messages": messages}), "x") == ("one\ntwo",)


@pytest.mark.parametrize("text", ["[1, 2]", "[{]", '{"a": 1}', "[" * 100_000])
def test_other_json_is_read_as_text(text: str) -> None:
    assert agent_turns(f"{text}\nAssistant: hi", "x") == ("hi",)


def test_messages_that_bear_the_agents_name_are_the_only_ones() -> None:
    messages = [
        Message("assistant", "mine", "Clara"),
        Message("assistant", "of another agent", "Bert"),
        Message("user", "of a namesake", "clara"),
    ]

    assert agent_messages(messages, "clara") == ("mine",)
    assert agent_messages(messages, "nobody") == ("mine", "of another agent")
