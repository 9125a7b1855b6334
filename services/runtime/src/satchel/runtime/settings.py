"""Reads environment variables into frozen dataclasses, with messages that name the variable.

A settings class is a frozen dataclass; the variable of a field is ``<PREFIX>_<FIELD>`` in capitals.
Types: str, int, float, bool, Path, Secret, Enum, Literal, tuple[T, ...] (comma separated) and
``T | None`` (an empty value is `None`). Nothing but `load` reads the environment.
"""

import dataclasses
import enum
import os
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

S = TypeVar("S")

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class SettingsError(ValueError):
    """One or more variables are missing or unusable; the text has one line a variable."""


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


@dataclass(frozen=True, slots=True)
class SettingDoc:
    """What the documentation says of one variable."""

    variable: str
    type_name: str
    default: str
    description: str


_REQUIRED = object()


def setting(
    default: object = _REQUIRED,
    description: str = "",
    *,
    minimum: float | None = None,
    maximum: float | None = None,
) -> typing.Any:  # noqa: ANN401  # stands for a value of the field's type, as dataclasses.field does
    """Declare a field with a description and, for numbers, inclusive bounds; no default: required."""
    details = {"description": description, "minimum": minimum, "maximum": maximum}
    if default is _REQUIRED:
        return dataclasses.field(metadata=details)
    return dataclasses.field(default=default, metadata=details)


def load(cls: type[S], prefix: str, environ: Mapping[str, str] | None = None) -> S:
    """Build ``cls`` from the variables ``<prefix>_<FIELD>``; a variable that is absent means the default.

    Raises:
        SettingsError: names every variable that is missing, unparsable or out of range.
    """
    values = os.environ if environ is None else environ
    problems: list[str] = []
    arguments: dict[str, object] = {}
    hints = get_type_hints(cls)
    for field in _fields(cls):
        variable = variable_name(prefix, field.name)
        try:
            if variable in values:
                arguments[field.name] = _checked(field, _parse(hints[field.name], values[variable].strip()))
            elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                problems.append(f"{variable} is not set and has no default.{_help(field)}")
        except ValueError as exc:
            problems.append(f"{variable} {exc}.{_help(field)}")
    if problems:
        raise SettingsError("\n".join(problems))
    try:
        return cls(**arguments)
    except ValueError as exc:
        raise SettingsError(f"{prefix}_*: {exc}") from exc


def describe(cls: type, prefix: str) -> tuple[SettingDoc, ...]:
    """Describe every variable of ``cls``, in the order of its fields; secrets show no default."""
    hints = get_type_hints(cls)
    return tuple(
        SettingDoc(
            variable=variable_name(prefix, field.name),
            type_name=_type_name(hints[field.name]),
            default=_default_text(field),
            description=str(field.metadata.get("description", "")),
        )
        for field in _fields(cls)
    )


def variable_name(prefix: str, field: str) -> str:
    """Return the environment variable of a field."""
    return f"{prefix}_{field}".upper()


def _fields(cls: type) -> tuple["dataclasses.Field[object]", ...]:
    return tuple(field for field in dataclasses.fields(cls) if field.init)


def _parse(hint: object, text: str) -> object:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        inner = next(arg for arg in get_args(hint) if arg is not type(None))
        return None if text == "" else _parse(inner, text)
    if origin is tuple:
        return tuple(_parse(get_args(hint)[0], part.strip()) for part in text.split(",") if part.strip())
    if origin is Literal:
        return _one_of({str(value): value for value in get_args(hint)}, text)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _one_of({str(member.value): member for member in hint}, text)
    parser = _PARSERS.get(hint)
    if parser is None:
        msg = f"has the type {hint}, which settings cannot read"
        raise TypeError(msg)
    return parser(text)


def _one_of(known: Mapping[str, object], text: str) -> object:
    if text not in known:
        raise ValueError(f"must be one of {', '.join(known)}, not '{text}'")
    return known[text]


def _bool(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError(f"must be true or false, not '{text}'")


def _int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"must be a whole number, not '{text}'") from None


def _float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"must be a number, not '{text}'") from None
    if value in (float("inf"), float("-inf")) or value != value:  # noqa: PLR0124  # NaN differs from itself
        raise ValueError(f"must be a finite number, not '{text}'")
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


def _checked(field: "dataclasses.Field[object]", value: object) -> object:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    minimum, maximum = field.metadata.get("minimum"), field.metadata.get("maximum")
    if minimum is not None and value < minimum:
        raise ValueError(f"must be at least {minimum:g}, not {value:g}")
    if maximum is not None and value > maximum:
        raise ValueError(f"must be at most {maximum:g}, not {value:g}")
    return value


def _help(field: "dataclasses.Field[object]") -> str:
    description = field.metadata.get("description", "")
    return f" {description}" if description else ""


def _type_name(hint: object) -> str:
    if get_origin(hint) is None and isinstance(hint, type):
        return hint.__name__
    return str(hint).replace("typing.", "").replace("pathlib.", "")


def _default_text(field: "dataclasses.Field[object]") -> str:
    if field.default is dataclasses.MISSING:
        return "" if field.default_factory is dataclasses.MISSING else str(field.default_factory())
    if isinstance(field.default, enum.Enum):
        return str(field.default.value)
    if isinstance(field.default, Secret | None):
        return ""
    return str(field.default)
