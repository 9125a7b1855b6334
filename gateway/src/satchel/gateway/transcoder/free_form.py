"""JSON values to the well-known types that hold any JSON: Struct, ListValue and Value."""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from satchel.gateway.transcoder import faults
from satchel.gateway.transcoder.encoding import MAX_EXACT
from satchel.gateway.transcoder.json_text import Json, MalformedJson, loads
from satchel.gateway.transcoder.scalars import bad_character
from satchel.runtime.errors import Violation

# Fills a message from a JSON value; adds what is wrong to the list.
Filler: TypeAlias = Callable[[Any, Json, str, list[Violation]], None]


def parse_object(text: str) -> dict[str, Json] | None:
    """Return the JSON object that a text holds; `None` if it holds none."""
    value = _parse(text)
    return value if isinstance(value, dict) else None


def parse_list(text: str) -> list[Json] | None:
    """Return the JSON list that a text holds; `None` if it holds none."""
    value = _parse(text)
    return value if isinstance(value, list) else None


def _parse(text: str) -> Json:
    try:
        return loads(text)
    except MalformedJson:
        return None


def _fill_struct(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
    if not isinstance(value, dict):
        found.append(faults.wrong_type(path, "an object", value))
        return
    # A Struct without members is told from an absent one.
    message.SetInParent()
    for key, member in value.items():
        violation = bad_character(key, path)
        if violation is None:
            _fill_value(message.fields[key], member, f"{path}.{key}", found)
        else:
            found.append(violation)


def _fill_list(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
    if not isinstance(value, list):
        found.append(faults.wrong_type(path, "a list", value))
        return
    message.SetInParent()
    for index, item in enumerate(value):
        _fill_value(message.values.add(), item, f"{path}[{index}]", found)


def _fill_value(message: Any, value: Json, path: str, found: list[Violation]) -> None:  # noqa: ANN401
    match value:
        case None:
            message.null_value = 0
        case bool():
            message.bool_value = value
        case int() | float():
            _fill_number(message, value, path, found)
        case str():
            violation = bad_character(value, path)
            if violation is None:
                message.string_value = value
            else:
                found.append(violation)
        case list():
            _fill_list(message.list_value, value, path, found)
        case dict():
            _fill_struct(message.struct_value, value, path, found)


def _fill_number(message: Any, value: float, path: str, found: list[Violation]) -> None:  # noqa: ANN401
    if isinstance(value, int) and abs(value) > MAX_EXACT:
        found.append(faults.inexact(path))
    elif math.isfinite(value):
        message.number_value = value
    else:
        found.append(faults.out_of_range(path, "a finite number", value))


FREE_FORM: Mapping[str, Filler] = {
    "google.protobuf.Struct": _fill_struct,
    "google.protobuf.ListValue": _fill_list,
    "google.protobuf.Value": _fill_value,
}
