"""What the commands config validate and config show do."""

import dataclasses
import json
import os
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from satchel.cli.configuration.loading import Configuration, read_configuration
from satchel.cli.configuration.locating import FILE_VARIABLES
from satchel.cli.configuration.mira import VARIABLES
from satchel.cli.configuration.sections import SECTIONS, NativeKey, Section, native_keys
from satchel.cli.output import tell, write_json, write_line
from satchel.cli.place import Given, Place
from satchel.gateway.settings import WebhookEndpoint
from satchel.runtime.settings import Problem, Secret, SettingsError, Values, load

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_HIDDEN = "***"
_PREFIXES = ("SATCHEL_", "MIRA_")
# Name and password before the host of a URL, and what it asks for after its path.
_CREDENTIALS = re.compile(r"//[^/@\s]+@")
_QUERY = re.compile(r"(\w://[^\s?#]*)[?#]\S*")
# Variables that are no settings: they name the file, an option of one command, or help to find a fault.
_OTHER_VARIABLES = frozenset({*FILE_VARIABLES, *VARIABLES, "SATCHEL_HTTP", "SATCHEL_DEBUG"})


def validate(given: Given, *, as_json: bool) -> bool:
    """Check the file, if there is one, and the variables; tell whether all can be used."""
    try:
        configuration = read_configuration(given.config, os.environ)
        problems = [] if configuration.file else list(_environment_problems(configuration.values))
    except SettingsError as exc:
        _report(None, list(exc.problems), str(exc), [], as_json=as_json)
        return False
    unknown = _unknown_variables()
    text = "\n".join(map(str, problems))
    _report(configuration, problems, text, unknown, as_json=as_json)
    return not problems


def show(place: Place, *, as_json: bool) -> None:
    """Print every setting with its value and, where that is not the default, where it was written."""
    configuration = place.configuration
    if as_json:
        origins = {
            path: str(configuration.values.origin(key.doc.variable))
            for path, key in native_keys().items()
            if key.doc.variable in configuration.values
        }
        write_json({**_about(configuration), "settings": _settings(configuration.values), "origins": origins})
        return
    write_line(f"# Configuration file: {configuration.described}")
    for section in dict.fromkeys(section.name for section in SECTIONS):
        write_line(f"{section}:")
        for key in native_keys().values():
            if key.section.name == section:
                write_line(f"  {_line(key, configuration.values)}")


def _about(configuration: Configuration) -> dict[str, object]:
    return {
        "config_file": str(configuration.file) if configuration.file else None,
        "named_by": configuration.named_by or None,
        "passed_over": configuration.passed_over or None,
    }


def _report(
    configuration: Configuration | None,
    problems: list[Problem],
    text: str,
    unknown: list[str],
    *,
    as_json: bool,
) -> None:
    is_valid = configuration is not None and not problems
    if as_json:
        about = _about(configuration) if configuration else {}
        told = [_told(problem) for problem in problems] or ([] if is_valid else [{"error": text}])
        write_json({"valid": is_valid, **about, "problems": told, "unknown_variables": unknown})
        return
    for variable in unknown:
        tell(f"{variable} is no variable of Satchel, and has no effect.")
    if configuration is None or problems:
        tell(text)
    elif configuration.file:
        write_line(f"{configuration.described} is valid: {len(configuration.keys)} keys are set.")
    else:
        write_line(
            f"{configuration.passed_over or 'There is no configuration file'}. The variables are valid."
        )


def _told(problem: Problem) -> dict[str, object]:
    return {
        "key": problem.origin.name,
        "file": problem.origin.file or None,
        "line": problem.origin.line or None,
        "error": str(problem),
        "limit": problem.limit or None,
        "remedy": problem.remedy or None,
    }


def _environment_problems(values: Values) -> Iterator[Problem]:
    for section in SECTIONS:
        try:
            load(section.cls, section.prefix, values)
        except SettingsError as exc:
            yield from exc.problems or [Problem(values.origin(f"{section.prefix}_*"), str(exc).rstrip("."))]


def _unknown_variables() -> list[str]:
    """Return variables with our prefix that nothing reads."""
    known = {key.doc.variable for key in native_keys().values()} | _OTHER_VARIABLES
    return sorted(name for name in os.environ if name.startswith(_PREFIXES) and name not in known)


def _settings(values: Values) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for section in SECTIONS:
        found.setdefault(section.name, {}).update(_of_section(section, values))
    return found


def _of_section(section: Section, values: Values) -> Mapping[str, object]:
    loaded: object = load(section.cls, section.prefix, values)
    return {field.name: _shown(getattr(loaded, field.name)) for field in dataclasses.fields(section.cls)}


def _line(key: NativeKey, values: Values) -> str:
    """Return a line of YAML; the value of a key that nobody set is its default."""
    loaded: object = load(key.section.cls, key.section.prefix, values)
    text = f"{key.doc.field}: {json.dumps(_shown(getattr(loaded, key.doc.field)), ensure_ascii=False)}"
    return f"{text}  # {values.origin(key.doc.variable)}" if key.doc.variable in values else text


def _shown(value: object) -> object:
    """Return a value as JSON; a secret is shown as stars, and one that is empty as an empty text."""
    match value:
        case Secret():
            found: object = _HIDDEN if value else ""
        case Enum():
            found = value.value
        case tuple():
            found = [_shown(item) for item in value]
        case bool() | int() | float() | None:
            found = value
        case Path():
            found = str(value.expanduser())
        case WebhookEndpoint():
            found = {**_members(value), "url": _place_of(value.url)}
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            found = _members(value)
        case _:
            found = _QUERY.sub(rf"\1?{_HIDDEN}", _CREDENTIALS.sub(f"//{_HIDDEN}@", str(value)))
    return found


def _members(value: "DataclassInstance") -> dict[str, object]:
    return {field.name: _shown(getattr(value, field.name)) for field in dataclasses.fields(value)}


def _place_of(url: str) -> str:
    """Return scheme, host and port of a URL: path and query of a webhook often are its only secret."""
    parts = urlsplit(url)
    credentials = f"{_HIDDEN}@" if "@" in parts.netloc else ""
    rest = f"/{_HIDDEN}" if parts.path.strip("/") or parts.query or parts.fragment else parts.path
    return f"{parts.scheme}://{credentials}{parts.netloc.rpartition('@')[2]}{rest}"
