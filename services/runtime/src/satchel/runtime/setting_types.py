"""Provides values of the types that settings may have, read from text.

Types: str, int, float, bool, Path, Secret, Enum, Literal, ``T | None`` (an empty text is `None`),
tuple[T, ...] (comma separated, or a JSON list) and dataclasses (a JSON object, or a text for the first
field). What is wrong is told without the text of a secret.
"""

import dataclasses
import enum
import json
import types
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class Secret:
    """A text that never shows in a repr, a log or an f-string; `reveal` returns it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the secret itself."""
        return self._value

    def __repr__(self) -> str:
        return "Secret('***')" if self._value else "Secret('')"

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)


class BadValue(ValueError):  # noqa: N818  # the name says what happened
    """A text is no value of its type; the message goes on after the name of the setting.

    ``limit`` says what would be taken, in as few words as it can.
    """

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


def parse(hint: object, text: str) -> Any:  # noqa: ANN401  # a value of the type ``hint``
    """Return the value of type ``hint`` that ``text`` stands for.

    Raises:
        BadValue: there is none.
        TypeError: settings cannot have this type.
    """
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return None if text == "" else parse(inner_type(hint), text)
    if origin is tuple:
        return tuple(parse(get_args(hint)[0], item) for item in _items(text))
    if origin is Literal:
        return _one_of({str(value): value for value in get_args(hint)}, text)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _one_of({str(member.value): member for member in hint}, text)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _parse_object(hint, text)
    parser = _PARSERS.get(hint)
    if parser is None:
        msg = f"has the type {hint}, which settings cannot read"
        raise TypeError(msg)
    return parser(text)


def checked(field: "dataclasses.Field[object]", value: object) -> object:
    """Return a value that lies within the bounds of its field.

    Raises:
        BadValue: it does not.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    minimum, maximum = field.metadata.get("minimum"), field.metadata.get("maximum")
    if minimum is not None and value < minimum:
        raise BadValue(
            f"must be at least {number(minimum)}, not {number(value)}", f"at least {number(minimum)}"
        )
    if maximum is not None and value > maximum:
        raise BadValue(
            f"must be at most {number(maximum)}, not {number(value)}", f"at most {number(maximum)}"
        )
    return value


def number(value: float) -> str:
    """Return a number as a person writes it: whole, if it is."""
    return str(int(value)) if value == int(value) else f"{value:g}"


def inner_type(hint: object) -> object:
    """Return the type behind ``T | None``, else the type itself."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    return next(arg for arg in get_args(hint) if arg is not type(None))


def may_hold_secret(hint: object) -> bool:
    """Say whether a value of the type is a secret, or has one in it."""
    inner = inner_type(hint)
    if get_origin(inner) is tuple:
        return may_hold_secret(get_args(inner)[0])
    if isinstance(inner, type) and dataclasses.is_dataclass(inner):
        return any(may_hold_secret(one) for one in get_type_hints(inner).values())
    return inner is Secret


def type_name(hint: object) -> str:
    """Return how documentation names a type."""
    if get_origin(hint) is None and isinstance(hint, type):
        return hint.__name__
    return str(hint).replace("typing.", "").replace("pathlib.", "")


def text_of(value: object) -> str:
    """Return the text that `parse` reads as ``value``; of a JSON value, the text of its parts."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _items(text: str) -> Iterable[str]:
    if text.startswith("["):
        try:
            found = json.loads(text)
        except json.JSONDecodeError:
            raise BadValue("must be a JSON list, or items with commas between them", "a list") from None
        return [text_of(item) for item in found]
    return [part.strip() for part in text.split(",") if part.strip()]


def _parse_object(cls: type, text: str) -> object:
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    members = _members(next(iter(fields)), text)
    unknown = sorted(members.keys() - fields.keys())
    if unknown:
        known = ", ".join(fields)
        raise BadValue(f"has an unknown member '{unknown[0]}'; the members are {known}", known)
    hints = get_type_hints(cls)
    found: dict[str, object] = {}
    for name, field in fields.items():
        if name in members:
            found[name] = _member(field, hints[name], members[name])
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise BadValue(f"lacks the member '{name}'", f"a member '{name}'")
    return cls(**found)


def _members(first: str, text: str) -> Mapping[str, str]:
    if not text.startswith("{"):
        return {first: text}
    try:
        return {name: text_of(value) for name, value in json.loads(text).items()}
    except json.JSONDecodeError:
        raise BadValue("must be a JSON object", "a JSON object") from None


def _member(field: "dataclasses.Field[object]", hint: object, text: str) -> object:
    try:
        return checked(field, parse(hint, text))
    except BadValue as exc:
        raise BadValue(f"has a member '{field.name}' that {exc}", exc.limit) from None


def _one_of(known: Mapping[str, object], text: str) -> object:
    """Return the value of a word, whose case does not matter."""
    text = next((word for word in known if word.casefold() == text.casefold()), text)
    if text not in known:
        raise BadValue(f"must be one of {', '.join(known)}, not '{text}'", ", ".join(known))
    return known[text]


def _bool(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise BadValue(f"must be true or false, not '{text}'", "true or false")


def _int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadValue(f"must be a whole number, not '{text}'", "a whole number") from None


def _float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise BadValue(f"must be a number, not '{text}'", "a number") from None
    if value in (float("inf"), float("-inf")) or value != value:  # noqa: PLR0124  # NaN differs from itself
        raise BadValue(f"must be a finite number, not '{text}'", "a finite number")
    return value


def _path(text: str) -> Path:
    return Path(text).expanduser()


_PARSERS: dict[object, Callable[[str], object]] = {
    str: str,
    bool: _bool,
    int: _int,
    float: _float,
    Path: _path,
    Secret: Secret,
}
