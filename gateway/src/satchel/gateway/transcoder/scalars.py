"""JSON values to the scalar values of fields: numbers, booleans, texts, bytes and enums."""

import base64
import binascii
import math
import re
from collections.abc import Callable
from typing import TypeAlias

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

from satchel.gateway.transcoder import faults
from satchel.gateway.transcoder.descriptors import rules_of
from satchel.gateway.transcoder.json_text import Json
from satchel.gateway.transcoder.words import known_words, numbers_of
from satchel.runtime.errors import Violation

Scalar: TypeAlias = int | float | bool | str | bytes
# Takes a JSON value and the path of its field.
ReadScalar: TypeAlias = Callable[[Json, str], Scalar | Violation]

WHOLE_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
BASE64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"

_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MAX_DIGITS = 400
_UNSIGNED = (FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64)
_INTEGER_BITS = {
    FieldDescriptor.CPPTYPE_INT32: 32,
    FieldDescriptor.CPPTYPE_UINT32: 32,
    FieldDescriptor.CPPTYPE_INT64: 64,
    FieldDescriptor.CPPTYPE_UINT64: 64,
}


def scalar_reader(field: FieldDescriptor) -> ReadScalar:
    """Return how a JSON value becomes a value of ``field``, or of one item of it."""
    if field.enum_type is not None:
        return _enum_reader(field.enum_type)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _read_bytes
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return read_text
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return _read_bool
    if field.cpp_type in _INTEGER_BITS:
        return _integer_reader(field)
    return _float_reader(field)


def integer_range(field: FieldDescriptor) -> tuple[int, int]:
    """Return the least and greatest value, inclusive, of the field's rules within its type."""
    least, most = _type_range(field)
    rules = rules_of(field)
    if rules.HasField("minimum"):
        least = max(least, math.ceil(rules.minimum))
    if rules.HasField("maximum"):
        most = min(most, math.floor(rules.maximum))
    return least, most


def read_text(value: Json, path: str) -> str | Violation:
    """Take a text without NUL and without halves of surrogate pairs."""
    if not isinstance(value, str):
        return faults.wrong_type(path, "a text", value)
    return bad_character(value, path) or value


def bad_character(text: str, path: str) -> Violation | None:
    """Return what no text may hold, if it is there."""
    if "\0" in text:
        return faults.invalid_character(path, "the NUL character", "no U+0000")
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return faults.invalid_character(path, "half of a surrogate pair", "whole characters")
    return None


def _read_bool(value: Json, path: str) -> bool | Violation:
    return value if isinstance(value, bool) else faults.wrong_type(path, "true or false", value)


def _read_bytes(value: Json, path: str) -> bytes | Violation:
    if not isinstance(value, str):
        return faults.wrong_type(path, "a base64 text", value)
    plain = value.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return faults.wrong_form(path, "base64", "encode the bytes as base64")


def _enum_reader(enum: EnumDescriptor) -> ReadScalar:
    numbers, words = numbers_of(enum), known_words(enum)

    def read(value: Json, path: str) -> int | Violation:
        if isinstance(value, str):
            number = numbers.get(value)
            return faults.unknown_word(path, words) if number is None else number
        if isinstance(value, int | float) and not isinstance(value, bool):
            return faults.unknown_word(path, words)
        return faults.wrong_type(path, f"one of {', '.join(words)}", value)

    return read


def _integer_reader(field: FieldDescriptor) -> ReadScalar:
    (type_least, type_most), (least, most) = _type_range(field), integer_range(field)
    wanted = "a whole number"

    def read(value: Json, path: str) -> int | Violation:
        number = _number_from(value, WHOLE_NUMBER)
        if number is None:
            return faults.wrong_type(path, wanted, value)
        if math.isnan(number) or not type_least <= number <= type_most:
            return faults.out_of_range(path, f"from {least} to {most}", number)
        if isinstance(number, float) and not number.is_integer():
            return faults.not_whole(path, number)
        return int(number)

    return read


def _float_reader(field: FieldDescriptor) -> ReadScalar:
    rules = rules_of(field)
    has_bounds = rules.HasField("minimum") and rules.HasField("maximum")
    wanted = (
        f"from {faults.shown(rules.minimum)} to {faults.shown(rules.maximum)}"
        if has_bounds
        else "a finite number"
    )

    def read(value: Json, path: str) -> float | Violation:
        number = _number_from(value, NUMBER)
        if number is None:
            return faults.wrong_type(path, "a number", value)
        try:
            exact = float(number)
        except OverflowError:
            exact = math.inf
        return exact if math.isfinite(exact) else faults.out_of_range(path, wanted, exact)

    return read


def _number_from(value: Json, pattern: re.Pattern[str]) -> int | float | None:
    if isinstance(value, str):
        return _number_from_text(value, pattern)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _number_from_text(text: str, pattern: re.Pattern[str]) -> int | float | None:
    if text in _NOT_FINITE:
        return _NOT_FINITE[text]
    if not pattern.fullmatch(text):
        return None
    return int(text) if len(text) <= _MAX_DIGITS and WHOLE_NUMBER.fullmatch(text) else float(text)


def _type_range(field: FieldDescriptor) -> tuple[int, int]:
    bits = _INTEGER_BITS[field.cpp_type]
    return (0, 2**bits - 1) if field.cpp_type in _UNSIGNED else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
