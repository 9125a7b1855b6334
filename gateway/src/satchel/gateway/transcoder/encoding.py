"""Messages to JSON values.

Names are those of the contract. Scalars, lists and maps are always there, so that the shape is stable;
absent messages, unset optional fields, unset members of a oneof and unspecified enums are left out.
"""

import base64
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeAlias, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from satchel.gateway.transcoder.descriptors import is_map
from satchel.gateway.transcoder.json_text import Json
from satchel.gateway.transcoder.words import words_of

_NANOS_PER_SECOND = 1_000_000_000
_NANOS_PER_MICROSECOND = 1_000
# Whole numbers up to here are exact in a double.
MAX_EXACT = 2**53

_ToJson: TypeAlias = Callable[[Any], Json]
# Name, whether absence can be told, and how the value is written (None leaves the member out).
_Step: TypeAlias = tuple[str, bool, _ToJson]


def encode(message: Message) -> dict[str, Json]:
    """Return a message as a JSON object.

    Raises:
        TypeError: the message is a well-known type that JSON shows as something else than an object.
    """
    value = _writer(message.DESCRIPTOR)(message)
    if not isinstance(value, dict):
        raise TypeError(f"{message.DESCRIPTOR.full_name} is no JSON object.")
    return value


def encode_field(message: Message, name: str) -> Json:
    """Return one field of a message; `None` if it is absent."""
    return encode(message).get(name)


@cache
def _writer(descriptor: Descriptor) -> _ToJson:
    special = _SPECIAL.get(descriptor.full_name)
    if special is not None:
        return special
    steps: list[_Step] = []

    def write(message: Any) -> dict[str, Json]:  # noqa: ANN401
        members: dict[str, Json] = {}
        for name, can_be_absent, to_json in steps:
            if can_be_absent and not message.HasField(name):
                continue
            value = to_json(getattr(message, name))
            if value is not None:
                members[name] = value
        return members

    # Filled in at the first use, since messages may hold themselves.
    def write_first(message: Any) -> dict[str, Json]:  # noqa: ANN401
        if not steps:
            steps.extend(_step(field) for field in descriptor.fields)
        return write(message)

    return write_first


def _step(field: FieldDescriptor) -> _Step:
    if is_map(field):
        return field.name, False, _map_writer(field)
    if field.is_repeated:
        item = _value_writer(field, is_item=True)
        return field.name, False, lambda values: [item(value) for value in values]
    return field.name, field.has_presence, _value_writer(field, is_item=False)


def _map_writer(field: FieldDescriptor) -> _ToJson:
    value_field = cast("Descriptor", field.message_type).fields_by_name["value"]
    write = _value_writer(value_field, is_item=True)
    return lambda entries: {_key(key): write(entries[key]) for key in sorted(entries)}


def _key(key: object) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _value_writer(field: FieldDescriptor, *, is_item: bool) -> _ToJson:
    if field.enum_type is not None:
        words: Mapping[int, Json] = words_of(field.enum_type)
        hidden: Mapping[int, Json] = {} if is_item else {0: None}
        shown = {**words, **hidden}
        return lambda number: shown.get(number, number)
    if field.message_type is not None:
        return _writer(field.message_type)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return lambda value: base64.b64encode(value).decode("ascii")
    if field.cpp_type in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        return lambda value: value if math.isfinite(value) else None
    return lambda value: cast("Json", value)


def format_time(seconds: int, nanos: int) -> str:
    """Return a time as RFC 3339 text in UTC, with as many microseconds as are needed: none or six digits."""
    moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=nanos // _NANOS_PER_MICROSECOND)
    return f"{moment.isoformat().removesuffix('+00:00')}Z"


def _write_time(value: Any) -> Json:  # noqa: ANN401
    return format_time(value.seconds, value.nanos)


def _write_duration(value: Any) -> Json:  # noqa: ANN401
    total = value.seconds * _NANOS_PER_SECOND + value.nanos
    whole, rest = divmod(abs(total), _NANOS_PER_SECOND)
    digits = f"{rest:09d}".rstrip("0")
    return f"{'-' if total < 0 else ''}{whole}{'.' if digits else ''}{digits}s"


def _write_mask(value: Any) -> Json:  # noqa: ANN401
    return ",".join(value.paths)


def _write_struct(value: Any) -> Json:  # noqa: ANN401
    fields = value.fields
    return {key: _write_value(fields[key]) for key in sorted(fields)}


def _write_list(value: Any) -> Json:  # noqa: ANN401
    return [_write_value(item) for item in value.values]


def _write_value(value: Any) -> Json:  # noqa: ANN401
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return _write_struct(value.struct_value)
    if kind == "list_value":
        return _write_list(value.list_value)
    if kind == "number_value":
        return _number(value.number_value)
    return None if kind in (None, "null_value") else cast("Json", getattr(value, kind))


def _number(value: float) -> Json:
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) <= MAX_EXACT else value


_SPECIAL: Mapping[str, _ToJson] = {
    "google.protobuf.Timestamp": _write_time,
    "google.protobuf.Duration": _write_duration,
    "google.protobuf.FieldMask": _write_mask,
    "google.protobuf.Struct": _write_struct,
    "google.protobuf.ListValue": _write_list,
    "google.protobuf.Value": _write_value,
}
