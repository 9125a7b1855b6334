"""JSON values to messages; every fault is found and named by its field, up to a bound.

Beyond proto3 JSON: unknown members are refused; enums are short words; where the contract says
``accepts_text``, a text with commas stands for a list of texts, and a JSON text for a list of messages or a
free-form object.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from satchel.gateway.transcoder import faults
from satchel.gateway.transcoder.descriptors import is_map, rules_of
from satchel.gateway.transcoder.free_form import FREE_FORM, parse_list, parse_object
from satchel.gateway.transcoder.json_text import Json, check_depth
from satchel.gateway.transcoder.scalars import bad_character, scalar_reader
from satchel.gateway.transcoder.times import parse_duration, parse_time
from satchel.runtime.errors import InvalidRequest, Violation

MAX_VIOLATIONS = 20

M = TypeVar("M", bound=Message)

# Sets one field of a message from a JSON value; adds what is wrong to the list.
_Setter: TypeAlias = Callable[[Any, Json, str, list[Violation]], None]
# Fills a message (of a singular field, or one item) from a JSON value.
_Filler: TypeAlias = Callable[[Any, Json, str, list[Violation]], None]


def decode(message_type: type[M], value: Json) -> M:
    """Make a message of a JSON object.

    A member that is null counts as absent. Limits of the contract are left to the services.

    Raises:
        InvalidRequest: lists up to `MAX_VIOLATIONS` faults, in the order of the members.
        MalformedJson: the value nests deeper than a message can hold.
    """
    check_depth(value)
    message = message_type()
    found: list[Violation] = []
    _fill_message(message, value, "", found)
    if found:
        raise InvalidRequest(found[:MAX_VIOLATIONS])
    return message


def _fill_message(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
    descriptor = cast("Descriptor", message.DESCRIPTOR)
    if not isinstance(value, dict):
        found.append(faults.wrong_type(path or "request", "an object", value))
        return
    setters, oneofs = _setters(descriptor), _Oneofs()
    for name, member in value.items():
        if len(found) >= MAX_VIOLATIONS:
            return
        setter = setters.get(name)
        if setter is None:
            found.append(faults.unknown_field(_join(path, faults.shown_name(name)), setters))
        elif member is not None:
            oneofs.see(descriptor.fields_by_name[name], path, found)
            setter(message, member, _join(path, name), found)


class _Oneofs:
    """Finds members of one oneof that are given together."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def see(self, field: FieldDescriptor, path: str, found: list[Violation]) -> None:
        if field.containing_oneof is None:
            return
        other = self._seen.setdefault(field.containing_oneof.full_name, field.name)
        if other != field.name:
            found.append(faults.conflict(_join(path, field.name), _join(path, other)))


@cache
def _setters(descriptor: Descriptor) -> Mapping[str, _Setter]:
    return {field.name: _setter(field) for field in descriptor.fields}


def _setter(field: FieldDescriptor) -> _Setter:
    if is_map(field):
        return _map_setter(field)
    if field.message_type is not None:
        return _messages_setter(field) if field.is_repeated else _message_setter(field)
    return _scalars_setter(field) if field.is_repeated else _scalar_setter(field)


def _scalar_setter(field: FieldDescriptor) -> _Setter:
    read, name = scalar_reader(field), field.name

    def set_scalar(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
        result = read(value, path)
        if isinstance(result, Violation):
            found.append(result)
        else:
            setattr(message, name, result)

    return set_scalar


def _scalars_setter(field: FieldDescriptor) -> _Setter:
    read, name = scalar_reader(field), field.name
    to_list = _list_reader(field)

    def set_scalars(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
        items = to_list(value, path, found)
        target = getattr(message, name)
        for index, item in enumerate(items):
            result = read(item, f"{path}[{index}]")
            if isinstance(result, Violation):
                found.append(result)
                if len(found) >= MAX_VIOLATIONS:
                    return
            else:
                target.append(result)

    return set_scalars


def _message_setter(field: FieldDescriptor) -> _Setter:
    fill, name = _filler(field), field.name

    def set_message(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
        target = getattr(message, name)
        target.SetInParent()
        fill(target, value, path, found)

    return set_message


def _messages_setter(field: FieldDescriptor) -> _Setter:
    fill, name = _filler(field), field.name
    to_list = _list_reader(field)

    def set_messages(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
        for index, item in enumerate(to_list(value, path, found)):
            fill(getattr(message, name).add(), item, f"{path}[{index}]", found)
            if len(found) >= MAX_VIOLATIONS:
                return

    return set_messages


def _map_setter(field: FieldDescriptor) -> _Setter:
    """Set a map with text keys and scalar values: the only kind that the contract has."""
    entry = cast("Descriptor", field.message_type)
    value_field, name = entry.fields_by_name["value"], field.name
    if entry.fields_by_name["key"].cpp_type != FieldDescriptor.CPPTYPE_STRING or value_field.message_type:
        raise NotImplementedError(f"{field.full_name} is a map of a kind that the codec does not know.")
    read = scalar_reader(value_field)

    def set_map(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
        if not isinstance(value, dict):
            found.append(faults.wrong_type(path, "an object", value))
            return
        for key, item in value.items():
            result = read(item, f"{path}[{faults.shown_name(key)!r}]")
            if isinstance(result, Violation):
                found.append(result)
            else:
                getattr(message, name)[key] = result

    return set_map


def _list_reader(field: FieldDescriptor) -> Callable[[Json, str, list[Violation]], list[Json]]:
    accepts = rules_of(field).accepts_text
    takes_text = accepts and field.cpp_type == FieldDescriptor.CPPTYPE_STRING
    takes_json = accepts and field.message_type is not None
    wanted = "a list, or a text with commas" if takes_text else "a list"

    def read(value: Json, path: str, found: list[Violation]) -> list[Json]:
        if isinstance(value, list):
            return value
        if takes_text and isinstance(value, str):
            return [part.strip() for part in value.split(",") if part.strip()]
        if takes_json and isinstance(value, str) and (parsed := parse_list(value)) is not None:
            return parsed
        found.append(faults.wrong_type(path, wanted, value))
        return []

    return read


def _filler(field: FieldDescriptor) -> _Filler:
    name = cast("Descriptor", field.message_type).full_name
    if name == "google.protobuf.Struct" and rules_of(field).accepts_text:
        return _fill_struct_or_text
    return _FILLERS.get(name, _fill_message)


def _fill_struct_or_text(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
    parsed = parse_object(value) if isinstance(value, str) else value
    FREE_FORM["google.protobuf.Struct"](message, value if parsed is None else parsed, path, found)


def _fill_time(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
    wanted = "a time in RFC 3339 with an offset"
    if not isinstance(value, str):
        found.append(faults.wrong_type(path, wanted, value))
        return
    try:
        message.seconds, message.nanos = parse_time(value)
    except ValueError:
        found.append(faults.wrong_form(path, wanted, "use a time such as 2026-01-31T09:30:00Z"))


def _fill_duration(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
    wanted = "seconds with the letter s"
    if not isinstance(value, str):
        found.append(faults.wrong_type(path, wanted, value))
        return
    try:
        message.seconds, message.nanos = parse_duration(value)
    except ValueError:
        found.append(faults.wrong_form(path, wanted, "use a duration such as 1.5s"))


def _fill_mask(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
    if not isinstance(value, str):
        found.append(faults.wrong_type(path, "a text of field names with commas", value))
        return
    violation = bad_character(value, path)
    if violation is not None:
        found.append(violation)
        return
    message.paths.extend(part.strip() for part in value.split(",") if part.strip())


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


_FILLERS: Mapping[str, _Filler] = {
    "google.protobuf.Timestamp": _fill_time,
    "google.protobuf.Duration": _fill_duration,
    "google.protobuf.FieldMask": _fill_mask,
    **FREE_FORM,
}
