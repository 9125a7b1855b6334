"""Every field of every RPC behind a door, and what is wrong to put in it, derived from the descriptors."""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from google.protobuf import struct_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from misshapen import misshapen

from satchel.api.options.v1 import options_pb2
from satchel.gateway.mcp.tools import ROWS
from satchel.gateway.transcoder.decoding import decode
from satchel.gateway.transcoder.descriptors import (
    Rpc,
    is_map,
    is_required,
    load_contract,
    message_class,
    rules_of,
)
from satchel.gateway.transcoder.words import known_words

CONTRACT = load_contract()
UNKNOWN_ID = "0190a6b2-8f1e-7c3d-9a4b-5e6f70818293"
LONG = 210_000  # more than any field takes
# Wire types; source: https://protobuf.dev/programming-guides/encoding/
_VARINT, _FIXED64, _TEXT = 0, 1, 2
GREATEST = {FieldDescriptor.CPPTYPE_INT32: 2**31 - 1, FieldDescriptor.CPPTYPE_INT64: 2**63 - 1}
# A case that breaks no rule of its field.
LEGAL = ""
# The value cannot be told from a right one on the wire, or cannot be written there.
NOT_ON_WIRE = None


@dataclass(frozen=True, slots=True)
class Bad:
    """One value for one field: as JSON, as bytes after the field's tag, and why it is refused."""

    name: str
    json: Any
    wire: bytes | None
    reason: str


def rpcs() -> tuple[Rpc, ...]:
    """Return the RPCs that have a REST route or a tool."""
    tools = {row.rpc for row in ROWS}
    return tuple(
        rpc
        for rpc in CONTRACT.rpcs.values()
        if rpc.full_name in tools or (rpc.http and not rpc.is_hidden and not rpc.is_streaming)
    )


def fields_of(
    message: Descriptor, above: tuple[FieldDescriptor, ...] = ()
) -> Iterator[tuple[FieldDescriptor, ...]]:
    """Yield the path to each field of a message and of the messages inside."""
    for field in message.fields:
        yield (*above, field)
        if (
            field.message_type
            and not field.message_type.full_name.startswith("google.")
            and not is_map(field)
        ):
            yield from fields_of(field.message_type, (*above, field))


def members(message: Descriptor, path: tuple[FieldDescriptor, ...], value: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the JSON of a request that is right but for ``value`` at the end of ``path``."""
    field, *below = path
    inner = members(_inside(field), tuple(below), value) if below else value
    return {**right(message), field.name: [inner] if below and field.is_repeated else inner}


def wire(message: Descriptor, path: tuple[FieldDescriptor, ...], value: bytes) -> bytes:
    """Return the bytes of the same request."""
    field, *below = path
    around = {name: member for name, member in right(message).items() if name != field.name}
    inner = field_bytes(field, wire(_inside(field), tuple(below), value)) if below else value
    return decode(message_class(message), around).SerializeToString() + inner


def _inside(field: FieldDescriptor) -> Descriptor:
    return cast("Descriptor", field.message_type)


def right(message: Descriptor) -> dict[str, Any]:
    """Return the JSON of the least request that breaks no rule."""
    return {field.name: _example(field) for field in message.fields if is_required(field)}


def _example(field: FieldDescriptor) -> Any:  # noqa: ANN401
    if field.message_type is not None:
        one: Any = right(field.message_type)
    elif field.enum_type is not None:
        one = known_words(field.enum_type)[0]
    elif field.cpp_type != FieldDescriptor.CPPTYPE_STRING:
        one = 1
    else:
        one = UNKNOWN_ID if rules_of(field).format else "w"
    return [one] if field.is_repeated else one


def field_bytes(field: FieldDescriptor, data: bytes) -> bytes:
    """Return a field of texts, bytes or messages on the wire."""
    return _tag(field, _TEXT) + _varint_bytes(len(data)) + data


def bad_values(field: FieldDescriptor) -> Iterator[Bad]:
    """Yield what may be wrong with a field; of a repeated one also with its items."""
    if is_map(field):
        return
    if not field.is_repeated:
        yield from _singular(field)
        return
    rules = rules_of(field)
    yield Bad("number", 5, NOT_ON_WIRE, "FIELD_WRONG_TYPE")
    yield Bad("empty", [], b"", "FIELD_REQUIRED" if is_required(field) else LEGAL)
    if rules.max_items and field.message_type is None:
        item = next(_on_wire(field, _example_item(field)))
        count = rules.max_items + 1
        yield Bad("too many", [_example_item(field)] * count, item * count, "TOO_MANY_ITEMS")
    for bad in _singular(field):
        if has_json(bad):
            yield Bad(f"item {bad.name}", [bad.json], bad.wire, bad.reason)


def _example_item(field: FieldDescriptor) -> Any:  # noqa: ANN401
    example = _example(field)
    return example[0] if field.is_repeated else example


def _on_wire(field: FieldDescriptor, value: Any) -> Iterator[bytes]:  # noqa: ANN401
    name, json = field.name, [value] if field.is_repeated else value
    yield decode(message_class(cast("Descriptor", field.containing_type)), {name: json}).SerializeToString()


def _singular(field: FieldDescriptor) -> Iterator[Bad]:
    if field.message_type is not None:
        yield from _message(field)
    elif field.enum_type is not None:
        yield Bad("object", {}, NOT_ON_WIRE, "FIELD_WRONG_TYPE")
        yield Bad("unknown word", "nonsense", _varint(field, 99), "FIELD_UNKNOWN_ENUM_VALUE")
        yield Bad("negative", -1, _varint(field, 2**64 - 1), "FIELD_UNKNOWN_ENUM_VALUE")
    elif field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        yield from _bytes(field) if field.type == FieldDescriptor.TYPE_BYTES else _text(field)
    elif field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        for wrong in cast("tuple[Any, ...]", ("yes", 1, {}, "")):
            yield Bad(f"{wrong!r}", wrong, NOT_ON_WIRE, "FIELD_WRONG_TYPE")
    else:
        yield from _number(field)


def _text(field: FieldDescriptor) -> Iterator[Bad]:
    rules = rules_of(field)
    form = "FIELD_PATTERN_MISMATCH" if rules.pattern or rules.format else LEGAL
    blank = "FIELD_BLANK" if rules.not_blank else form
    for name, text, reason in (
        ("empty", "", "FIELD_REQUIRED" if is_required(field) else LEGAL),
        ("blank", " \t", blank),
        ("too long", "a" * LONG, "FIELD_TOO_LONG" if rules.max_length else form),
        ("form", misshapen(rules.pattern), form),
        ("NUL", "a\0b", "FIELD_INVALID_CHARACTER"),
    ):
        yield Bad(name, text, field_bytes(field, text.encode()), reason)
    yield Bad("surrogate", "a\ud800", field_bytes(field, b"a\xed\xa0\x80"), "FIELD_INVALID_CHARACTER")
    for wrong in cast("tuple[Any, ...]", (5, True, {}, ["a"])):
        yield Bad(f"{wrong!r}", wrong, NOT_ON_WIRE, "FIELD_WRONG_TYPE")


def _bytes(field: FieldDescriptor) -> Iterator[Bad]:
    yield Bad("number", 5, NOT_ON_WIRE, "FIELD_WRONG_TYPE")
    yield Bad("form", "!", NOT_ON_WIRE, "FIELD_PATTERN_MISMATCH")
    if rules_of(field).max_bytes:
        yield Bad("too long", "AAAA" * LONG, field_bytes(field, bytes(3 * LONG)), "FIELD_TOO_LONG")


def _number(field: FieldDescriptor) -> Iterator[Bad]:
    rules, out = rules_of(field), "FIELD_OUT_OF_RANGE"
    is_real = field.cpp_type not in GREATEST
    for wrong in cast("tuple[Any, ...]", ("many", True, {}, "")):
        yield Bad(f"{wrong!r}", wrong, NOT_ON_WIRE, "FIELD_WRONG_TYPE")
    if is_real:
        yield Bad("NaN", "NaN", _double(field, math.nan), out)
        yield Bad("infinite", "Infinity", _double(field, math.inf), out)
        yield Bad("negative", -2, _double(field, -2), out if rules.HasField("minimum") else LEGAL)
        yield Bad("huge", 1e300, _double(field, 1e300), out if rules.HasField("maximum") else LEGAL)
        return
    greatest = GREATEST[field.cpp_type]
    yield Bad("negative", -2, _varint(field, 2**64 - 2), out if rules.HasField("minimum") else LEGAL)
    yield Bad("greatest", greatest, _varint(field, greatest), out if rules.HasField("maximum") else LEGAL)
    yield Bad("huge", 10**30, NOT_ON_WIRE, out)
    yield Bad("fraction", 1.5, NOT_ON_WIRE, "FIELD_WRONG_TYPE")


def _message(field: FieldDescriptor) -> Iterator[Bad]:
    yield Bad("number", 5, NOT_ON_WIRE, "FIELD_WRONG_TYPE")
    match _inside(field).full_name:
        case "google.protobuf.Timestamp":
            yield Bad("form", "yesterday", NOT_ON_WIRE, "FIELD_PATTERN_MISMATCH")
            yield Bad("no zone", "2026-01-01T00:00:00", NOT_ON_WIRE, "FIELD_PATTERN_MISMATCH")
            late = b"\x08" + _varint_bytes(10**15)
            yield Bad("late", "12026-01-01T00:00:00Z", NOT_ON_WIRE, "FIELD_PATTERN_MISMATCH")
            yield Bad("seconds", _NO_JSON, field_bytes(field, late), "FIELD_OUT_OF_RANGE")
        case "google.protobuf.Struct":
            yield from _struct(field, rules_of(field))
        case "google.protobuf.FieldMask":
            yield Bad(
                "unknown path", "nonsense", field_bytes(field, b"\x0a\x08nonsense"), "UPDATE_MASK_INVALID"
            )
            yield Bad("NUL", "a\0b", NOT_ON_WIRE, "FIELD_INVALID_CHARACTER")
        case _:
            yield Bad("unknown member", {"colour": 1}, NOT_ON_WIRE, "FIELD_UNKNOWN")


def _struct(field: FieldDescriptor, rules: options_pb2.FieldRules) -> Iterator[Bad]:
    for name, text, reason in (
        ("NUL", "a\0b", "FIELD_INVALID_CHARACTER"),
        ("too long", "a" * rules.max_bytes, "FIELD_TOO_LONG"),
    ):
        packed = struct_pb2.Struct()
        packed.update({"a": text})
        yield Bad(name, {"a": text}, field_bytes(field, packed.SerializeToString()), reason)
    yield Bad("surrogate", {"a": "\udfff"}, NOT_ON_WIRE, "FIELD_INVALID_CHARACTER")
    yield Bad("huge", {"a": 10**30}, NOT_ON_WIRE, "FIELD_OUT_OF_RANGE")


class _NoJson:
    """Stands for what JSON cannot express."""


_NO_JSON = _NoJson()


def has_json(bad: Bad) -> bool:
    """Say whether JSON can express a value."""
    return bad.json is not _NO_JSON


def _varint(field: FieldDescriptor, number: int) -> bytes:
    return _tag(field, _VARINT) + _varint_bytes(number)


def _double(field: FieldDescriptor, number: float) -> bytes:
    return _tag(field, _FIXED64) + struct.pack("<d", number)


def _tag(field: FieldDescriptor, wire_type: int) -> bytes:
    return _varint_bytes(field.number << 3 | wire_type)


def _varint_bytes(number: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first."""
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])
