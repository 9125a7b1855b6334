from datetime import UTC, datetime

import pytest

from satchel.cli.importing.locomo import is_locomo, parse_session_time, read_locomo
from satchel.cli.importing.records import Draft, ImportFormatError, Json, Refused, Skipped, Turn

SAMPLE: Json = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Ben",
        "session_10_date_time": "12:05 am on 1 June, 2023",
        "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "Late."}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {"speaker": "Ann", "dia_id": "D2:1", "text": "Look!", "blip_caption": "a red boat"},
        ],
    },
}


def test_turns_come_in_the_order_of_sessions_with_speaker_picture_and_time() -> None:
    assert list(read_locomo([SAMPLE], "stem")) == [
        Draft(
            "conv-1 session 2 turn 1",
            "Ann: Look! [shared image: a red boat]",
            wing="conv-1",
            session_id="conv-1/session_2",
            occurred_at=datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
            metadata={"sample_id": "conv-1", "speaker": "Ann", "session": 2, "dia_id": "D2:1"},
            turn=Turn(1, 1),
        ),
        Draft(
            "conv-1 session 10 turn 1",
            "Ben: Late.",
            wing="conv-1",
            session_id="conv-1/session_10",
            occurred_at=datetime(2023, 6, 1, 0, 5, tzinfo=UTC),
            metadata={"sample_id": "conv-1", "speaker": "Ben", "session": 10, "dia_id": "D10:1"},
            turn=Turn(1, 1),
        ),
    ]


def test_a_sample_without_a_name_is_named_after_its_file() -> None:
    (draft,) = read_locomo([{"conversation": {"session_1": [{"speaker": "A", "text": "x"}]}}], "my file")

    assert isinstance(draft, Draft)
    assert (draft.wing, draft.session_id) == ("my-file-1", "my file-1/session_1")


def test_a_turn_without_a_text_is_refused() -> None:
    (record,) = read_locomo([{"conversation": {"session_1": [{"speaker": "A"}]}}], "s")

    assert record == Refused("s-1 session 1 turn 1", "The turn is no object with a 'text'.")


def test_an_empty_turn_is_skipped() -> None:
    (record,) = read_locomo([{"conversation": {"session_1": [{"speaker": "A", "text": " "}]}}], "s")

    assert record == Skipped("s-1 session 1 turn 1")


def test_a_sample_without_a_conversation_is_an_error() -> None:
    with pytest.raises(ImportFormatError, match="Sample 2"):
        list(read_locomo([SAMPLE, {}], "s"))


def test_the_layout_is_recognised() -> None:
    assert is_locomo([SAMPLE])
    assert is_locomo(SAMPLE)
    assert not is_locomo([{"messages": []}])
    assert not is_locomo([])


def test_a_time_that_cannot_be_read_is_unknown() -> None:
    assert parse_session_time("soon") is None
    assert parse_session_time(None) is None
