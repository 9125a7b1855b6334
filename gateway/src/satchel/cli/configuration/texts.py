"""Refuses what YAML reads as something else where a setting is a text: a token is never `yes` by accident.

The very characters of the file are kept, so that `1.10` stays what it looks like; but whoever writes
`auth_token: yes` means to switch something on, and would get a token that anybody guesses.
"""

import dataclasses
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, get_args, get_origin, get_type_hints

from satchel.cli.configuration.conversions import Listening, To
from satchel.cli.configuration.mira import MiraKey
from satchel.cli.configuration.reading import Item
from satchel.cli.configuration.sections import NativeKey, native_keys
from satchel.runtime.setting_types import BadValue, inner_type
from satchel.runtime.settings import Secret

_TEXTS: Final = (str, Secret, Path)


def require_texts(key: MiraKey | NativeKey, item: Item) -> None:
    """Check the value of a key, and all parts of a list or an object.

    Raises:
        BadValue: a text is meant and YAML reads a number, a date, or true or false. Its value is not told.
    """
    if isinstance(key, NativeKey):
        _require(item, _hints()[key.doc.variable])
    elif isinstance(key.conversion, To | Listening):
        _require(item, _hints()[key.conversion.variable])


def _require(item: Item, hint: object) -> None:
    inner = inner_type(hint)
    if get_origin(inner) is tuple:
        listed = item.content if isinstance(item.content, list) else [item]
        for one in listed:
            _require(one, get_args(inner)[0])
    elif isinstance(inner, type) and dataclasses.is_dataclass(inner):
        _require_members(item, get_type_hints(inner))
    elif inner in _TEXTS and item.read_as:
        raise BadValue(
            f"must be a text, and YAML reads {item.read_as}: put what you mean into quotes", "a text"
        )


def _require_members(item: Item, hints: Mapping[str, object]) -> None:
    """Check the members of an object; what is none stands for its first member."""
    members = item.content if isinstance(item.content, Mapping) else {next(iter(hints)): item}
    for name in members.keys() & hints.keys():
        _require(members[name], hints[name])


@cache
def _hints() -> Mapping[str, object]:
    """Return the type of every setting by its variable."""
    return {
        key.doc.variable: get_type_hints(key.section.cls)[key.doc.field] for key in native_keys().values()
    }
