from datetime import UTC, datetime

import pytest

from satchel.cli.importing.chat import read_chat
from satchel.cli.importing.records import (
    MAX_CONTENT,
    Draft,
    ImportFormatError,
    Json,
    Refused,
    Skipped,
    Turn,
)


def drafts(data: Json) -> list[Draft]:
    return [record for record in read_chat(data, "stem") if isinstance(record, Draft)]


def test_each_turn_becomes_a_memory_with_speaker_and_time() -> None:
    messages: Json = [
        {"role": "user", "content": "Hi", "timestamp": "2024-05-08T13:56:00Z"},
        {"role": "assistant", "name": "Ada", "content": "Hello", "timestamp": 1715176620},
    ]

    assert drafts(messages) == [
        Draft(
            "stem turn 1",
            "user: Hi",
            session_id="stem",
            occurred_at=datetime(2024, 5, 8, 13, 56, tzinfo=UTC),
            metadata={"turn": 1, "speaker": "user", "role": "user"},
            turn=Turn(1, 1),
        ),
        Draft(
            "stem turn 2",
            "Ada: Hello",
            session_id="stem",
            occurred_at=datetime(2024, 5, 8, 13, 57, tzinfo=UTC),
            metadata={"turn": 2, "speaker": "Ada", "role": "assistant"},
            turn=Turn(2, 2),
        ),
    ]


def test_an_object_with_messages_names_its_session() -> None:
    (draft,) = drafts({"id": "abc", "title": "Trip", "messages": [{"role": "user", "content": "Hi"}]})

    assert (draft.session_id, draft.title) == ("abc", "Trip")


def test_a_list_of_conversations_gives_each_its_session() -> None:
    data: Json = [{"messages": [{"role": "user", "content": text}]} for text in ("one", "two")]

    assert [draft.session_id for draft in drafts(data)] == ["stem-1", "stem-2"]


def test_the_texts_of_parts_are_joined() -> None:
    parts: Json = [{"type": "text", "text": "See"}, {"type": "image_url"}, "this"]

    (draft,) = drafts([{"role": "user", "content": parts}])

    assert draft.content == "user: See\n\nthis"


@pytest.mark.parametrize("message", [{"content": None}, {"tool_calls": []}, {"content": " "}, {"text": []}])
def test_turns_without_a_text_are_skipped_and_counted(message: dict[str, Json]) -> None:
    messages: list[Json] = [{"role": "assistant", **message}, {"role": "user", "content": "x"}]

    skipped, draft = read_chat({"messages": messages}, "stem")

    assert skipped == Skipped("stem turn 1")
    assert isinstance(draft, Draft)
    assert draft.turn == Turn(2, 2)


def test_a_turn_over_the_limit_is_split_and_keeps_its_speaker() -> None:
    pieces = drafts([{"role": "user", "content": "word " * 20000}])

    assert len(pieces) == 2
    assert all(piece.content.startswith("user: ") and len(piece.content) <= MAX_CONTENT for piece in pieces)


def test_the_turns_after_a_split_one_come_after_its_parts() -> None:
    pieces = drafts([{"role": "user", "content": "word " * 20000}, {"role": "user", "content": "next"}])

    assert [piece.turn for piece in pieces] == [Turn(1, 1, part=1), Turn(1, 2, part=2), Turn(2, 3)]


def test_a_message_that_is_no_object_is_refused_with_its_number() -> None:
    records = list(read_chat({"messages": [{"role": "user", "content": "x"}, 5]}, "stem"))

    assert records[1] == Refused("stem turn 2", "The message is not a JSON object.")


@pytest.mark.parametrize("data", [[], {}, [1], "text", [{"a": 1}]])
def test_anything_else_is_an_error_that_says_what_a_chat_is(data: Json) -> None:
    with pytest.raises(ImportFormatError, match="list of messages"):
        list(read_chat(data, "stem"))
