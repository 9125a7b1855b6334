"""Provides settings: variables read into frozen dataclasses, with messages that name the variable.

A settings class is a frozen dataclass of the types that `satchel.runtime.setting_types` reads; the variable
of a field is ``<PREFIX>_<FIELD>`` in capitals. Variables come from the environment or, as `Values`, from
several layers, each with the place that it was written at. Nothing but `load` reads the environment.
"""

import dataclasses
import os
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, get_type_hints

from satchel.runtime.setting_types import (
    BadValue,
    Secret,
    checked,
    may_hold_secret,
    parse,
    text_of,
    type_name,
)

__all__ = [
    "Origin",
    "Problem",
    "Secret",
    "SettingDoc",
    "SettingsError",
    "Values",
    "describe",
    "load",
    "problems_of",
    "setting",
    "variable_name",
]

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was written: ``name`` is that of a variable, an option, or a key of ``file``."""

    name: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.name}" if self.file else self.name


@dataclass(frozen=True, slots=True)
class Problem:
    """One value that cannot be used.

    ``fault`` goes on after the origin ("must be ..."); ``limit`` says what would be taken; ``remedy`` is a
    complete sentence or empty.
    """

    origin: Origin
    fault: str
    limit: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.origin} {self.fault}.{f' {self.remedy}' if self.remedy else ''}"


class SettingsError(ValueError):
    """One or more settings are missing or unusable; the text has one line for each of ``problems``."""

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> "SettingsError":
        """Make the error of some problems."""
        return cls("\n".join(map(str, problems)), problems)


class Values(Mapping[str, str]):
    """Texts of variables, and where each was written. The texts never show in a repr."""

    def __init__(self, texts: Mapping[str, str], origins: Mapping[str, Origin] | None = None) -> None:
        self._texts = dict(texts)
        self._origins = dict(origins or {})

    def __getitem__(self, variable: str) -> str:
        return self._texts[variable]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return f"Values({', '.join(sorted(self._texts))})"

    def origin(self, variable: str) -> Origin:
        """Return where the variable was written; the environment, unless something else was told."""
        return self._origins.get(variable, Origin(variable))

    def over(self, lower: "Values") -> "Values":
        """Return these values on top of others."""
        texts = {**lower, **self}
        return Values(texts, {name: (self if name in self else lower).origin(name) for name in texts})


@dataclass(frozen=True, slots=True)
class SettingDoc:
    """What the documentation says of one variable; ``field`` is its name in the class."""

    variable: str
    type_name: str
    default: str
    description: str
    field: str = ""
    is_secret: bool = False


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
    values = _as_values(environ)
    arguments, problems = _read(cls, prefix, values)
    if problems:
        raise SettingsError.of(problems)
    try:
        return cls(**arguments)
    except SettingsError:
        raise
    except ValueError as exc:
        raise SettingsError(f"{prefix}_*: {exc}") from exc


def problems_of(cls: type, prefix: str, environ: Mapping[str, str] | None = None) -> tuple[Problem, ...]:
    """Return what `load` would refuse, value by value."""
    return tuple(_read(cls, prefix, _as_values(environ))[1])


def describe(cls: type, prefix: str) -> tuple[SettingDoc, ...]:
    """Describe every variable of ``cls``, in the order of its fields; secrets show no default."""
    hints = get_type_hints(cls)
    return tuple(
        SettingDoc(
            variable=variable_name(prefix, field.name),
            type_name=type_name(hints[field.name]),
            default=_default_text(field),
            description=str(field.metadata.get("description", "")),
            field=field.name,
            is_secret=may_hold_secret(hints[field.name]),
        )
        for field in _fields(cls)
    )


def variable_name(prefix: str, field: str) -> str:
    """Return the environment variable of a field."""
    return f"{prefix}_{field}".upper()


def _as_values(environ: Mapping[str, str] | None) -> Values:
    if isinstance(environ, Values):
        return environ
    return Values(os.environ if environ is None else environ)


def _read(cls: type, prefix: str, values: Values) -> tuple[dict[str, object], list[Problem]]:
    """Return the values of the fields that are given, and what cannot be used."""
    arguments: dict[str, object] = {}
    problems: list[Problem] = []
    hints = get_type_hints(cls)
    for field in _fields(cls):
        variable = variable_name(prefix, field.name)
        help_ = str(field.metadata.get("description", ""))
        try:
            if variable in values:
                arguments[field.name] = checked(field, parse(hints[field.name], values[variable].strip()))
            elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                problems.append(
                    Problem(values.origin(variable), "is not set and has no default", remedy=help_)
                )
        except ValueError as exc:
            limit = exc.limit if isinstance(exc, BadValue) else ""
            problems.append(Problem(values.origin(variable), str(exc), limit, help_))
    return arguments, problems


def _fields(cls: type) -> tuple["dataclasses.Field[object]", ...]:
    return tuple(field for field in dataclasses.fields(cls) if field.init)


def _default_text(field: "dataclasses.Field[object]") -> str:
    if field.default is dataclasses.MISSING:
        made = () if field.default_factory is dataclasses.MISSING else field.default_factory()
        return ", ".join(map(text_of, made)) if isinstance(made, tuple) else text_of(made)
    if isinstance(field.default, Secret | None):
        return ""
    if isinstance(field.default, tuple):
        return ", ".join(map(text_of, field.default))
    return text_of(field.default)
