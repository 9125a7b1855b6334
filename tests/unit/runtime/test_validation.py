"""The validator against a message made for the purpose, with one field for each rule."""

import math
from typing import Any

import pytest
from google.api import field_behavior_pb2
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, struct_pb2, timestamp_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field
from google.protobuf.message import Message

from satchel.api.options.v1 import options_pb2
from satchel.runtime.errors import InvalidRequest, Violation
from satchel.runtime.validation import MAX_VIOLATIONS, validate, violations_of

RULES = options_pb2.FieldRules
UUID = "0190a6b2-8f1e-7c3d-9a4b-5e6f70818293"
PREFIX = "ERROR_REASON_"


def build() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="sample.proto", package="sample", syntax="proto3")
    file.dependency.extend(
        ["google/protobuf/struct.proto", "google/protobuf/timestamp.proto", "google/api/field_behavior.proto"]
    )
    colour = file.enum_type.add(name="Colour")
    for number, name in enumerate(("COLOUR_UNSPECIFIED", "COLOUR_RED", "COLOUR_BLUE")):
        colour.value.add(name=name, number=number)
    item = file.message_type.add(name="Item")
    add(item, "name", Field.TYPE_STRING, RULES(max_length=3), required=True)
    sample = file.message_type.add(name="Sample")
    add(sample, "plain", Field.TYPE_STRING)
    add(sample, "short", Field.TYPE_STRING, RULES(min_length=2, max_length=5))
    add(sample, "filled", Field.TYPE_STRING, RULES(not_blank=True))
    hint = "use letters only"
    add(sample, "letters", Field.TYPE_STRING, RULES(pattern="[a-z]{1,9}", pattern_hint=hint))
    add(sample, "uuid", Field.TYPE_STRING, RULES(format=options_pb2.FORMAT_UUID))
    add(sample, "memory_id", Field.TYPE_STRING, RULES(format=options_pb2.FORMAT_MEMORY_ID))
    add(sample, "count", Field.TYPE_INT32, RULES(minimum=1, maximum=10), optional=True)
    add(sample, "ratio", Field.TYPE_DOUBLE, RULES(minimum=0))
    add(sample, "data", Field.TYPE_BYTES, RULES(max_bytes=4))
    add(sample, "colour", Field.TYPE_ENUM, type_name=".sample.Colour")
    add(
        sample,
        "items",
        Field.TYPE_MESSAGE,
        RULES(min_items=0, max_items=2),
        type_name=".sample.Item",
        repeated=True,
    )
    add(sample, "words", Field.TYPE_STRING, RULES(max_length=3, min_items=2), repeated=True)
    add(sample, "extra", Field.TYPE_MESSAGE, RULES(max_bytes=40), type_name=".google.protobuf.Struct")
    add(sample, "time", Field.TYPE_MESSAGE, type_name=".google.protobuf.Timestamp")
    add(sample, "colours", Field.TYPE_ENUM, type_name=".sample.Colour", repeated=True)
    strict = file.message_type.add(name="Strict")
    add(strict, "text", Field.TYPE_STRING, required=True)
    add(strict, "colour", Field.TYPE_ENUM, type_name=".sample.Colour", required=True)
    add(strict, "item", Field.TYPE_MESSAGE, type_name=".sample.Item", required=True)
    add(strict, "list", Field.TYPE_STRING, required=True, repeated=True)
    add(strict, "zero", Field.TYPE_INT32, required=True, optional=True)
    pool = descriptor_pool.DescriptorPool()
    for known in (struct_pb2, timestamp_pb2, descriptor_pb2, field_behavior_pb2, options_pb2):
        pool.AddSerializedFile(known.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    found = (pool.FindMessageTypeByName(f"sample.{name}") for name in ("Sample", "Strict", "Item"))
    return {one.name: message_factory.GetMessageClass(one) for one in found}


def add(
    owner: descriptor_pb2.DescriptorProto,
    name: str,
    kind: "Field.Type.ValueType",
    rules: options_pb2.FieldRules | None = None,
    *,
    type_name: str = "",
    required: bool = False,
    repeated: bool = False,
    optional: bool = False,
) -> None:
    label = Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL
    field = owner.field.add(name=name, number=len(owner.field) + 1, type=kind, label=label)
    if type_name:
        field.type_name = type_name
    if optional:
        field.proto3_optional = True
        field.oneof_index = len(owner.oneof_decl)
        owner.oneof_decl.add(name=f"_{name}")
    if rules is not None:
        field.options.Extensions[options_pb2.field].CopyFrom(rules)
    if required:
        field.options.Extensions[field_behavior_pb2.field_behavior].append(field_behavior_pb2.REQUIRED)


CLASSES = build()
Sample, Strict, Item = CLASSES["Sample"], CLASSES["Strict"], CLASSES["Item"]


def only(message: Message) -> Violation:
    found = violations_of(message)
    assert len(found) == 1
    return found[0]


def test_message_within_its_limits_passes() -> None:
    message = Sample(
        plain="x" * 100_000,
        short="été",
        filled=" x ",
        letters="abc",
        uuid=UUID,
        memory_id=f"t0:{UUID}",
        count=10,
        ratio=0.5,
        data=b"1234",
        colour=2,
        items=[Item(name="a")],
        words=["a", "b"],
    )
    message.extra.update({"a": [1, {"b": None}]})

    assert violations_of(message) == ()


def test_nearly_empty_message_passes() -> None:
    assert violations_of(Sample(words=["a", "b"])) == ()


@pytest.mark.parametrize(
    ("fields", "field", "reason", "limit", "actual"),
    [
        ({"plain": "a\0"}, "plain", "FIELD_INVALID_CHARACTER", "no U+0000", ""),
        ({"short": "a"}, "short", "FIELD_TOO_SHORT", "2", "1"),
        ({"short": "ééééé€"}, "short", "FIELD_TOO_LONG", "5", "6"),
        ({"filled": " \n\u3000"}, "filled", "FIELD_BLANK", "not blank", ""),
        ({"letters": "abc1"}, "letters", "FIELD_PATTERN_MISMATCH", "[a-z]{1,9}", ""),
        ({"letters": "abc\n"}, "letters", "FIELD_PATTERN_MISMATCH", "[a-z]{1,9}", ""),
        ({"uuid": UUID + "0"}, "uuid", "FIELD_PATTERN_MISMATCH", "a UUID", ""),
        ({"uuid": f"T0:{UUID}"}, "uuid", "FIELD_PATTERN_MISMATCH", "a UUID", ""),
        ({"memory_id": f"X0:{UUID}"}, "memory_id", "FIELD_PATTERN_MISMATCH", "a memory id, a UUID", ""),
        ({"count": 0}, "count", "FIELD_OUT_OF_RANGE", "from 1 to 10", "0"),
        ({"count": 11}, "count", "FIELD_OUT_OF_RANGE", "from 1 to 10", "11"),
        ({"count": 2_147_483_647}, "count", "FIELD_OUT_OF_RANGE", "from 1 to 10", "2147483647"),
        ({"ratio": -0.5}, "ratio", "FIELD_OUT_OF_RANGE", "at least 0", "-0.5"),
        ({"ratio": math.nan}, "ratio", "FIELD_OUT_OF_RANGE", "finite", "nan"),
        ({"ratio": math.inf}, "ratio", "FIELD_OUT_OF_RANGE", "finite", "inf"),
        ({"data": b"12345"}, "data", "FIELD_TOO_LONG", "4", "5"),
        ({"colour": 7}, "colour", "FIELD_UNKNOWN_ENUM_VALUE", "COLOUR_RED, COLOUR_BLUE", ""),
        ({"colours": [1, 7]}, "colours[1]", "FIELD_UNKNOWN_ENUM_VALUE", "COLOUR_RED, COLOUR_BLUE", ""),
        ({"colours": [2, 0]}, "colours[1]", "FIELD_UNKNOWN_ENUM_VALUE", "COLOUR_RED, COLOUR_BLUE", ""),
        ({"items": [Item(name="a")] * 3}, "items", "TOO_MANY_ITEMS", "2", "3"),
        ({"items": [Item(name="a"), Item()]}, "items[1].name", "FIELD_REQUIRED", "required", ""),
        ({"words": ["a"]}, "words", "TOO_FEW_ITEMS", "2", "1"),
        ({"words": ["a", "long"]}, "words[1]", "FIELD_TOO_LONG", "3", "4"),
    ],
)
def test_broken_limit_names_field_reason_and_limit(
    fields: dict[str, Any], field: str, reason: str, limit: str, actual: str
) -> None:
    found = only(Sample(**{"words": ["a", "b"], **fields}))

    assert (field, PREFIX + reason, limit, actual) == (found.field, found.reason, found.limit, found.actual)
    assert found.remedy
    assert found.description.startswith(field + " ")
    assert found.description.endswith(f": {found.remedy}.")


def test_pattern_error_says_what_to_use_instead() -> None:
    found = only(Sample(letters="A", words=["a", "b"]))

    assert found.description == "letters must match [a-z]{1,9}: use letters only."


def test_required_fields_are_all_named() -> None:
    found = violations_of(Strict())

    assert [one.field for one in found] == ["text", "colour", "item", "list", "zero"]
    assert {PREFIX + "FIELD_REQUIRED"} == {one.reason for one in found}


def test_required_number_may_be_zero_when_it_is_present() -> None:
    message = Strict(text="a", colour=1, item=Item(name="a"), list=["a"], zero=0)

    assert violations_of(message) == ()


def test_items_of_a_required_list_may_not_be_empty() -> None:
    message = Strict(text="a", colour=1, item=Item(name="a"), list=["a", "b", "c", ""], zero=0)

    found = only(message)
    assert (found.field, found.reason) == ("list[3]", PREFIX + "FIELD_REQUIRED")
    assert found.description == "list[3] is required: set list[3]."


def test_items_of_a_list_that_is_not_required_may_be_empty() -> None:
    assert violations_of(Sample(words=["a", ""])) == ()


def test_required_enum_that_is_unspecified_is_missing() -> None:
    message = Strict(text="a", colour=0, item=Item(name="a"), list=["a"], zero=0)

    assert (only(message).field, only(message).reason) == ("colour", PREFIX + "FIELD_REQUIRED")


def test_size_of_json_is_limited() -> None:
    message = Sample(words=["a", "b"])
    message.extra.update({"k": "x" * 50})

    found = only(message)
    assert (
        found.field,
        found.reason,
        found.limit,
        found.actual,
    ) == ("extra", PREFIX + "FIELD_TOO_LONG", "40", "58")


@pytest.mark.parametrize("value", ["\0", ["\0"], {"a": {"b\0": 1}}, [[{"a": "\0"}]]])
def test_nul_inside_of_json_is_found(value: object) -> None:
    message = Sample(words=["a", "b"])
    message.extra.update({"k": value})

    assert only(message).reason == PREFIX + "FIELD_INVALID_CHARACTER"


def test_json_numbers_must_be_finite() -> None:
    message = Sample(words=["a", "b"])
    message.extra.update({"k": math.nan})

    found = only(message)
    assert (found.reason, found.limit, found.actual) == (PREFIX + "FIELD_OUT_OF_RANGE", "finite", "nan")


@pytest.mark.parametrize(
    ("seconds", "nanos"), [(-62_135_596_801, 0), (253_402_300_800, 0), (0, -1), (0, 1_000_000_000)]
)
def test_times_outside_of_the_calendar_are_refused(seconds: int, nanos: int) -> None:
    message = Sample(words=["a", "b"], time={"seconds": seconds, "nanos": nanos})

    found = only(message)
    assert (found.field, found.reason) == ("time", PREFIX + "FIELD_OUT_OF_RANGE")
    assert found.actual == f"{seconds} s and {nanos} ns since 1970-01-01T00:00:00Z"


def test_first_and_last_time_of_the_calendar_pass() -> None:
    for seconds in (-62_135_596_800, 253_402_300_799):
        message = Sample(words=["a", "b"], time={"seconds": seconds, "nanos": 999_999_999})
        assert violations_of(message) == ()


def test_violations_are_bounded() -> None:
    found = violations_of(Sample(words=["long"] * 1000))

    assert len(found) == MAX_VIOLATIONS


def test_validate_raises_with_the_first_violation_in_front() -> None:
    with pytest.raises(InvalidRequest) as caught:
        validate(Sample(plain="\0", short="a", words=["a", "b"]))

    assert caught.value.reason == PREFIX + "FIELD_INVALID_CHARACTER"
    assert [one.field for one in caught.value.violations] == ["plain", "short"]
