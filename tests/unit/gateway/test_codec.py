# ruff: noqa: ANN401  # bad values are of any type

import json
import math
from typing import Any

import pytest
from google.protobuf.message import Message

from satchel.gateway.transcoder.codec import MAX_DEPTH, MalformedJson, decode, encode, loads
from satchel.gateway.transcoder.descriptors import Contract, load_contract, message_class
from satchel.gateway.transcoder.times import parse_duration, parse_time
from satchel.gateway.transcoder.words import known_words
from satchel.runtime.errors import InvalidRequest

STORE = "satchel.api.store.v1.StoreMemoryRequest"


@pytest.fixture(scope="session")
def contract() -> Contract:
    return load_contract()


@pytest.fixture
def store(contract: Contract) -> type[Message]:
    return message_class(contract.message(STORE))


def refused(message_type: type[Message], members: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidRequest) as raised:
        decode(message_type, members)
    return [(one.field, one.reason.removeprefix("ERROR_REASON_")) for one in raised.value.violations]


def test_scalars_are_always_written_and_absent_messages_never(store: type[Message]) -> None:
    written = encode(store())

    assert (written["content"], written["tags"], written["project"]) == ("", [], "")
    assert {"metadata", "occurred_at", "component", "type"}.isdisjoint(written)


def test_enums_are_short_words_and_full_names_are_read_too(store: type[Message]) -> None:
    assert encode(decode(store, {"type": "session_note"}))["type"] == "session_note"
    assert encode(decode(store, {"type": "MEMORY_TYPE_FACT"}))["type"] == "fact"


def test_words_leave_the_unspecified_value_out(contract: Contract) -> None:
    enum = contract.message(STORE).fields_by_name["sensitivity"].enum_type
    assert enum is not None
    assert known_words(enum) == ("low", "medium", "high")


def test_every_fault_is_named_by_its_path(store: type[Message]) -> None:
    members = {
        "content": 3,
        "tags": ["a", 1],
        "component": {"core": {"limit": "x"}, "vault": {}},
        "colour": 1,
    }

    assert refused(store, members) == [
        ("content", "FIELD_WRONG_TYPE"),
        ("tags[1]", "FIELD_WRONG_TYPE"),
        ("component.core.limit", "FIELD_WRONG_TYPE"),
        ("component.vault", "FIELDS_CONFLICT"),
        ("colour", "FIELD_UNKNOWN"),
    ]


def test_an_unknown_field_is_answered_with_the_known_ones(store: type[Message]) -> None:
    with pytest.raises(InvalidRequest, match="content, wing, room") as raised:
        decode(store, {"colour": 1})

    assert "content, wing" in raised.value.metadata["limit"]


def test_null_counts_as_absent(store: type[Message]) -> None:
    assert store() == decode(store, {"content": None, "metadata": None, "tags": None, "type": None})


@pytest.mark.parametrize(
    ("value", "expected"), [(5, 5), ("5", 5), (5.0, 5), (0, 0), ("0", 0), (2**31 - 1, 2**31 - 1)]
)
def test_whole_numbers_are_read_from_numbers_and_digits(
    contract: Contract, value: Any, expected: int
) -> None:
    recall = message_class(contract.message("satchel.api.allocator.v1.RecallRequest"))
    assert expected == encode(decode(recall, {"budget": value}))["budget"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (4.5, "FIELD_WRONG_TYPE"),
        ("4.5", "FIELD_WRONG_TYPE"),
        (" 4", "FIELD_WRONG_TYPE"),
        ("0x10", "FIELD_WRONG_TYPE"),
        (True, "FIELD_WRONG_TYPE"),
        ([], "FIELD_WRONG_TYPE"),
        (2**31, "FIELD_OUT_OF_RANGE"),
        (math.inf, "FIELD_OUT_OF_RANGE"),
        (math.nan, "FIELD_OUT_OF_RANGE"),
        ("9" * 5000, "FIELD_OUT_OF_RANGE"),
    ],
)
def test_what_is_no_whole_number_of_the_field_is_refused(contract: Contract, value: Any, reason: str) -> None:
    recall = message_class(contract.message("satchel.api.allocator.v1.RecallRequest"))
    assert [("budget", reason)] == refused(recall, {"budget": value})


def test_64_bit_numbers_are_written_as_numbers(contract: Contract) -> None:
    recall = message_class(contract.message("satchel.api.allocator.v1.RecallRequest"))
    assert encode(decode(recall, {"min_revision": 2**62 + 1}))["min_revision"] == 2**62 + 1


def test_free_form_objects_are_plain_json_and_lose_no_digits(store: type[Message]) -> None:
    members: Any = {"metadata": {"a": [1, 2.5, None, True, {"b": "c"}], "n": 2**53}}

    assert members["metadata"] == encode(decode(store, members))["metadata"]
    assert refused(store, {"metadata": {"n": 2**53 + 1}}) == [("metadata.n", "FIELD_OUT_OF_RANGE")]
    assert refused(store, {"metadata": {"n": math.inf}}) == [("metadata.n", "FIELD_OUT_OF_RANGE")]
    assert refused(store, {"metadata": {"s": "\ud800"}}) == [("metadata.s", "FIELD_INVALID_CHARACTER")]


def test_texts_stand_for_lists_and_objects_where_the_contract_says_so(store: type[Message]) -> None:
    message = decode(store, {"tags": " a, b ,,c", "metrics": '{"k": 1}'})

    assert encode(message)["tags"] == ["a", "b", "c"]
    assert encode(message)["metrics"] == {"k": 1}
    assert refused(store, {"metrics": "[1]"}) == [("metrics", "FIELD_WRONG_TYPE")]
    assert refused(store, {"causal_links": "a,b"}) == [("causal_links", "FIELD_WRONG_TYPE")]


def test_bytes_are_base64_in_both_alphabets(contract: Contract) -> None:
    candidate = message_class(contract.message("satchel.api.allocator.v1.Candidate"))

    assert encode(decode(candidate, {"vector": "_-8"}))["vector"] == "/+8="
    assert refused(candidate, {"vector": "a"}) == [("vector", "FIELD_PATTERN_MISMATCH")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00Z", (0, 0)),
        ("1970-01-01t00:00:01.5z", (1, 500_000_000)),
        ("1970-01-01T02:00:00.000000001+02:00", (0, 1)),
        ("1969-12-31T23:59:59-00:00", (-1, 0)),
        ("2016-12-31T23:59:60Z", (1_483_228_800, 0)),
        ("9999-12-31T23:59:59.999999Z", (253_402_300_799, 999_999_000)),
    ],
)
def test_times_are_read_in_every_form_of_rfc_3339(text: str, expected: tuple[int, int]) -> None:
    assert expected == parse_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-13-01T00:00:00Z",
        "2026-01-01T00:00:00+24:00",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:60Z",
        "2026-02-30T00:00:00Z",
        "yesterday",
    ],
)
def test_what_is_no_moment_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_time(text)


def test_microseconds_survive(store: type[Message]) -> None:
    text = "2026-01-31T09:30:00.123456Z"
    assert text == encode(decode(store, {"occurred_at": text}))["occurred_at"]


def test_durations_keep_their_sign() -> None:
    assert (parse_duration("1.5s"), parse_duration("-1.5s")) == ((1, 500_000_000), (-1, -500_000_000))


@pytest.mark.parametrize(
    "text", ["", "{", "{'a': 1}", '{"a": 1, "a": 2}', '{"a": 1} x', "[" * 100_000, b"\xff\xfe"]
)
def test_text_that_is_not_one_json_value_is_refused(text: str | bytes) -> None:
    with pytest.raises(MalformedJson):
        loads(text)


def test_nesting_is_refused_beyond_what_a_message_can_hold(store: type[Message]) -> None:
    def nested(depth: int) -> Any:
        value: Any = 1
        for _ in range(depth):
            value = {"a": value}
        return value

    deepest = decode(store, {"metadata": nested(MAX_DEPTH - 1)})
    assert store.FromString(deepest.SerializeToString()) == deepest
    with pytest.raises(MalformedJson):
        decode(store, {"metadata": nested(MAX_DEPTH)})


def test_numbers_that_json_cannot_hold_are_refused_by_field(store: type[Message]) -> None:
    huge = loads('{"metadata": {"a": NaN, "b": -1e999, "c": %s}}' % ("9" * 5000))

    assert [field for field, _ in refused(store, huge)] == ["metadata.a", "metadata.b", "metadata.c"]


def test_names_of_unknown_members_cannot_break_the_answer(store: type[Message]) -> None:
    ((field, reason),) = refused(store, {"\ud800\0" + "x" * 500: 1})

    assert (reason, len(field) <= 100) == ("FIELD_UNKNOWN", True)
    json.dumps(field).encode()
