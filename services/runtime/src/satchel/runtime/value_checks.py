"""Provides the checks of single values: text, number, enum, bytes, and the size of a message."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.json_format import MessageToDict

from satchel.api.options.v1 import options_pb2

_UUID = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_MEMORY_ID_PREFIX = r"(?:[Ii][Dd]: ?)?(?:(?:[Tt]0|[Ff]0|[Vv]0|[Ff][Pp]):)?"
# Bounds of google.protobuf.Timestamp, in seconds since 1970; source: google/protobuf/timestamp.proto.
EARLIEST_SECONDS = -62_135_596_800
LATEST_SECONDS = 253_402_300_799
NANOS_PER_SECOND = 1_000_000_000

FORMATS: dict[int, tuple[str, str, str]] = {
    options_pb2.FORMAT_UUID: (
        _UUID,
        "must be a UUID",
        "use a UUID such as 0190a6b2-8f1e-7c3d-9a4b-5e6f70818293",
    ),
    options_pb2.FORMAT_MEMORY_ID: (
        _MEMORY_ID_PREFIX + _UUID,
        "must be a memory id, a UUID",
        "use the id that an earlier answer gave",
    ),
}

_FLOATS = frozenset({FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE})
_INTEGERS = frozenset(
    {
        FieldDescriptor.CPPTYPE_INT32,
        FieldDescriptor.CPPTYPE_INT64,
        FieldDescriptor.CPPTYPE_UINT32,
        FieldDescriptor.CPPTYPE_UINT64,
    }
)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a value; ``text`` continues a sentence that begins with the field's path."""

    reason: str
    text: str
    remedy: str
    limit: str = ""
    actual: str = ""


@dataclass(frozen=True, slots=True)
class FieldLimits:
    """The options of one field."""

    rules: options_pb2.FieldRules
    required: bool = False

    @classmethod
    def none(cls) -> "FieldLimits":
        """Return the limits of a field without options."""
        return cls(options_pb2.FieldRules())


# Takes a value of the field's type, returns what is wrong with it or None.
ValueCheck: TypeAlias = Callable[[Any], Fault | None]


def make_value_check(field: FieldDescriptor, limits: FieldLimits) -> ValueCheck | None:
    """Make the check of one value of ``field`` (of one item if it is repeated); `None` if none is needed."""
    rules = limits.rules
    if field.enum_type is not None:
        return _enum_check(field.enum_type, is_item=field.is_repeated)
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return _bytes_check(rules) if field.type == FieldDescriptor.TYPE_BYTES else _text_check(rules)
    if field.cpp_type in _FLOATS:
        return _number_check(rules, check_finite=True)
    if field.cpp_type in _INTEGERS:
        return _number_check(rules, check_finite=False)
    if field.message_type is not None:
        return _message_check(field.message_type.full_name, rules.max_bytes)
    return None


def _text_check(rules: options_pb2.FieldRules) -> ValueCheck:
    shortest, longest = rules.min_length, rules.max_length or math.inf
    is_form_needed = rules.not_blank or bool(rules.pattern) or bool(rules.format)
    check_form = _form_check(rules)

    def check(text: str) -> Fault | None:
        if "\0" in text:
            return _NUL
        if not text:
            return None
        if len(text) > longest:
            return _too_long(rules.max_length, len(text), "characters")
        if len(text) < shortest:
            return _too_short(shortest, len(text))
        return check_form(text) if is_form_needed else None

    return check


def _form_check(rules: options_pb2.FieldRules) -> ValueCheck:
    not_blank = rules.not_blank
    forms: list[tuple[re.Pattern[str], Fault]] = []
    if rules.pattern:
        remedy = _clause(rules.pattern_hint) or "use a value of that form"
        fault = _mismatch(f"must match {rules.pattern}", rules.pattern, remedy)
        forms.append((re.compile(rules.pattern), fault))
    if rules.format in FORMATS:
        pattern, text, remedy = FORMATS[rules.format]
        forms.append((re.compile(pattern), _mismatch(text, text.removeprefix("must be "), remedy)))

    def check(text: str) -> Fault | None:
        if not_blank and text.isspace():
            return _BLANK
        return next((fault for pattern, fault in forms if not pattern.fullmatch(text)), None)

    return check


def _number_check(rules: options_pb2.FieldRules, *, check_finite: bool) -> ValueCheck | None:
    least = rules.minimum if rules.HasField("minimum") else -math.inf
    most = rules.maximum if rules.HasField("maximum") else math.inf
    if not check_finite and (least, most) == (-math.inf, math.inf):
        return None
    wanted = _range_text(least, most)

    def check(value: float) -> Fault | None:
        if check_finite and not math.isfinite(value):
            return _out_of_range("must be a finite number", "finite", "use a finite number", value)
        if least <= value <= most:
            return None
        text = f"must be {wanted}, not {_plain(value)}"
        return _out_of_range(text, wanted, "use a number in that range", value)

    return check


def _enum_check(enum: EnumDescriptor, *, is_item: bool) -> ValueCheck:
    """Check that a value is known; one item of several must also say something, so it is not 0."""
    known = frozenset(enum.values_by_number) - ({0} if is_item else set())
    names = ", ".join(value.name for value in enum.values if value.number)

    def check(value: int) -> Fault | None:
        if value in known:
            return None
        text = f"has the value {value}, which is none of {enum.name}"
        return Fault("ERROR_REASON_FIELD_UNKNOWN_ENUM_VALUE", text, f"use one of {names}", limit=names)

    return check


def _bytes_check(rules: options_pb2.FieldRules) -> ValueCheck | None:
    limit = rules.max_bytes
    if not limit:
        return None
    return lambda value: _too_long(limit, len(value), "bytes") if len(value) > limit else None


def _message_check(full_name: str, limit: int) -> ValueCheck | None:
    """Check the content of Google's own messages, and the size of any message that has a limit."""
    checks = [check for check in (_WELL_KNOWN.get(full_name), _size_check(limit) if limit else None) if check]
    if len(checks) < 2:  # noqa: PLR2004  # one check needs no loop
        return checks[0] if checks else None
    return lambda message: next((fault for check in checks if (fault := check(message))), None)


def _struct_fault(message: Any) -> Fault | None:  # noqa: ANN401
    for key, value in message.fields.items():
        fault = _NUL if "\0" in key else _json_fault(value)
        if fault is not None:
            return fault
    return None


def _list_fault(message: Any) -> Fault | None:  # noqa: ANN401
    return next((fault for value in message.values if (fault := _json_fault(value))), None)


def _json_fault(value: Any) -> Fault | None:  # noqa: ANN401
    match value.WhichOneof("kind"):
        case "string_value":
            return _NUL if "\0" in value.string_value else None
        case "number_value":
            return _finite_fault(value.number_value)
        case "struct_value":
            return _struct_fault(value.struct_value)
        case "list_value":
            return _list_fault(value.list_value)
        case _:
            return None


def _finite_fault(number: float) -> Fault | None:
    if math.isfinite(number):
        return None
    return _out_of_range("must hold finite numbers only", "finite", "use finite numbers", number)


def _time_fault(message: Any) -> Fault | None:  # noqa: ANN401
    if EARLIEST_SECONDS <= message.seconds <= LATEST_SECONDS and 0 <= message.nanos < NANOS_PER_SECOND:
        return None
    return Fault(
        "ERROR_REASON_FIELD_OUT_OF_RANGE",
        "must be a time from the year 1 to 9999, with nanos from 0 to 999999999",
        "use a time in that range",
        limit="0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z",
        actual=f"{message.seconds} s and {message.nanos} ns since 1970-01-01T00:00:00Z",
    )


_WELL_KNOWN: dict[str, ValueCheck] = {
    "google.protobuf.Struct": _struct_fault,
    "google.protobuf.ListValue": _list_fault,
    "google.protobuf.Value": _json_fault,
    "google.protobuf.Timestamp": _time_fault,
}


def _size_check(limit: int) -> ValueCheck:
    """Compare the size of a message as compact JSON in UTF-8 with ``limit``."""

    def check(message: Any) -> Fault | None:  # noqa: ANN401
        # JSON is rarely more than 24 times the wire size (\u escapes, numbers): skip what is surely small.
        if message.ByteSize() * 24 <= limit:
            return None
        size = _json_bytes(message)
        return _too_long(limit, size, "bytes as JSON") if size > limit else None

    return check


def _json_bytes(message: Any) -> int:  # noqa: ANN401
    plain = cast("object", MessageToDict(message, preserving_proto_field_name=True))
    return len(json.dumps(plain, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace"))


_NUL = Fault(
    "ERROR_REASON_FIELD_INVALID_CHARACTER",
    "must not hold the NUL character",
    "remove it",
    limit="no U+0000",
)
_BLANK = Fault(
    "ERROR_REASON_FIELD_BLANK",
    "must not be blank",
    "use a text with more than white space",
    limit="not blank",
)


def _too_long(limit: int, actual: int, unit: str) -> Fault:
    text = f"must have at most {limit} {unit}, not {actual}"
    return Fault("ERROR_REASON_FIELD_TOO_LONG", text, "shorten or split it", str(limit), str(actual))


def _too_short(limit: int, actual: int) -> Fault:
    text = f"must have at least {limit} characters, not {actual}"
    return Fault("ERROR_REASON_FIELD_TOO_SHORT", text, "use a longer text", str(limit), str(actual))


def _mismatch(text: str, limit: str, remedy: str) -> Fault:
    return Fault("ERROR_REASON_FIELD_PATTERN_MISMATCH", text, remedy, limit=limit)


def _out_of_range(text: str, limit: str, remedy: str, actual: float) -> Fault:
    return Fault("ERROR_REASON_FIELD_OUT_OF_RANGE", text, remedy, limit=limit, actual=_plain(actual))


def _range_text(least: float, most: float) -> str:
    if math.isinf(most):
        return f"at least {_plain(least)}"
    if math.isinf(least):
        return f"at most {_plain(most)}"
    return f"from {_plain(least)} to {_plain(most)}"


def _plain(number: float) -> str:
    """Write whole numbers in full, others as short as they can be."""
    return str(int(number)) if math.isfinite(number) and number == int(number) else f"{number:g}"


def _clause(sentence: str) -> str:
    """Turn a sentence into the end of another one: no capital, no full stop."""
    stripped = sentence.strip().removesuffix(".")
    return stripped[:1].lower() + stripped[1:]
