from pathlib import Path

import pytest

from satchel.cli.importing.messages import in_requests, load_conversation, to_turns
from satchel.cli.importing.records import ImportFormatError, Json


def turns(*messages: dict[str, Json]) -> list[tuple[str, str, str]]:
    return [(turn.role, turn.name, turn.content) for turn in to_turns(messages)]


def test_a_conversation_is_a_list_or_an_object_and_names_its_session_or_its_file_does() -> None:
    as_list = load_conversation(Path("a/talk.json"), b'[{"role": "user", "content": "x"}]')
    as_object = load_conversation(
        Path("t.json"), b'{"id": "s1", "messages": [{"role": "u", "content": "x"}]}'
    )

    assert as_list == ("talk", [{"role": "user", "content": "x"}])
    assert as_object == ("s1", [{"role": "u", "content": "x"}])
    assert load_conversation(Path("-"), b'[{"role": "user", "content": "x"}]')[0] == ""


@pytest.mark.parametrize(
    "text", [b"{", b"[]", b'"x"', b'{"messages": 1}', b'[{"wing": "w", "content": "x"}]']
)
def test_what_is_no_conversation_is_refused_with_its_name(text: bytes) -> None:
    with pytest.raises(ImportFormatError, match=r"^talk\.json "):
        load_conversation(Path("talk.json"), text)


def test_a_turn_has_role_and_name_and_the_text_of_all_its_parts() -> None:
    assert turns(
        {"role": "user", "name": "Ana", "content": [{"type": "text", "text": "a"}, {"type": "image"}, "b"]},
        {"author": {"role": "tool", "name": "clock"}, "content": {"parts": ["noon"]}},
        {"speaker": "Bo", "text": "hi"},
        {"role": "assistant", "content": None},
    ) == [("user", "Ana", "a\n\nb"), ("tool", "clock", "noon"), ("", "Bo", "hi"), ("assistant", "", "")]


def test_a_turn_keeps_its_time_in_utc() -> None:
    (turn,) = to_turns([{"role": "user", "content": "x", "timestamp": "2024-05-08T15:56:00.000001+02:00"}])

    assert turn.timestamp.ToJsonString() == "2024-05-08T13:56:00.000001Z"


def test_a_turn_that_is_too_long_is_cut_between_words_and_loses_none() -> None:
    parts = turns({"role": "user", "content": "word " * 20_000})

    assert len(parts) == 2
    assert max(len(text) for _, _, text in parts) <= 65_000
    assert " ".join(text for _, _, text in parts).split() == ["word"] * 20_000


@pytest.mark.parametrize(
    ("count", "length", "sizes"), [(2001, 1, [1000, 1000, 1]), (12, 60_000, [8, 4]), (0, 1, [])]
)
def test_requests_hold_a_thousand_turns_and_half_a_million_characters(
    count: int, length: int, sizes: list[int]
) -> None:
    spoken = to_turns([{"role": "user", "content": "x" * length}] * count)

    assert [len(batch) for batch in in_requests(spoken)] == sizes


def test_half_a_character_becomes_a_question_mark() -> None:
    assert turns({"role": "user", "name": "A\ud800", "content": "x\ud800y"}) == [("user", "A?", "x?y")]
