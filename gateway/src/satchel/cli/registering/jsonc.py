"""Changes one member of a JSON text and leaves every other byte as it is.

Clients allow comments and commas after the last member in their files (VS Code calls it "JSON with
comments"), and people format them by hand: reading and writing the whole would lose that. Pure.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from satchel.cli.registering.entry import FileUnusable

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | float | bool | None"

_GAP = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLAIN = re.compile(r"[^\s,:{}\[\]\"/]+")
_REST_OF_LINE = re.compile(r"(?:[ \t]|//[^\n]*|/\*.*?\*/)*(?=\r?\n)")
_INDENT = "  "


class _Member(NamedTuple):
    """A member of an object: its name, and where its value begins and ends in the text."""

    name: str
    start: int
    end: int


class _Object(NamedTuple):
    """An object of the text: its members, where the last ends, and whether a comma follows that."""

    start: int
    end: int
    members: tuple[_Member, ...]
    last: int
    has_comma: bool

    def find(self, name: str) -> _Member | None:
        """Return the member of a name; of several the last, which is the one that counts."""
        return next((member for member in reversed(self.members) if member.name == name), None)


def with_member(text: str, path: Sequence[str], value: Json) -> str:
    """Return the text with a value at a path of names; objects on the way are made where they are missing.

    An empty text is an empty object.

    Raises:
        FileUnusable: the text is no object, or something on the way is none.
    """
    text = text if text.strip() else "{}\n"
    place = end = _gap(text, 0)
    for depth, name in enumerate(path):
        found = _object(text, place)
        member = found.find(name)
        if member is None:
            return _inserted(text, found, name, _nested(path[depth + 1 :], value), depth)
        place, end = member.start, member.end
    return text[:place] + _written(value, len(path)) + text[end:]


def read(text: str) -> Json:
    """Return the value of a text with comments.

    Raises:
        FileUnusable: it is no JSON.
    """
    if not text.strip():
        return {}
    try:
        found: Json = json.loads(_plain_json(text))
    except ValueError as error:
        raise FileUnusable(f"It is no JSON: {error}.") from error
    return found


def _plain_json(text: str) -> str:
    """Return a text without comments, and without commas after the last member."""
    pieces = list[str]()
    place = 0
    while place < len(text):
        after = _gap(text, place)
        if after > place:
            pieces.append(" ")
        elif (string := _STRING.match(text, place)) is not None:
            after = string.end()
            pieces.append(string[0])
        elif text[place] == "," and text[_gap(text, place + 1) : _gap(text, place + 1) + 1] in ("}", "]"):
            after = place + 1
        else:
            after = place + 1
            pieces.append(text[place])
        place = after
    return "".join(pieces)


def _gap(text: str, place: int) -> int:
    """Return where white space and comments end."""
    found = _GAP.match(text, place)
    return place if found is None else found.end()


def _object(text: str, start: int) -> _Object:
    """Read the object that begins at a place, without going into its values."""
    if text[start : start + 1] != "{":
        raise FileUnusable("It does not hold an object where the servers belong.")
    members, last, has_comma, place = list[_Member](), start + 1, False, _gap(text, start + 1)
    while text[place : place + 1] != "}":
        name = _STRING.match(text, place)
        colon = place if name is None else _gap(text, name.end())
        if name is None or text[colon : colon + 1] != ":":
            raise FileUnusable("It is no JSON.")
        value = _gap(text, colon + 1)
        last = _end_of_value(text, value)
        members.append(_Member(json.loads(name[0], strict=False), value, last))
        place = _gap(text, last)
        has_comma = text[place : place + 1] == ","
        if has_comma:
            last, place = place + 1, _gap(text, place + 1)
        elif text[place : place + 1] != "}":
            raise FileUnusable("It is no JSON.")
    return _Object(start, place, tuple(members), last, has_comma)


def _end_of_value(text: str, start: int) -> int:
    """Return where a value ends: a string, a number or word, or all between two brackets."""
    if (simple := _STRING.match(text, start) or _PLAIN.match(text, start)) is not None:
        return simple.end()
    depth, place = 0, start
    while place < len(text):
        place = _gap(text, place)
        token = _STRING.match(text, place)
        if token is None:
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(text[place : place + 1], 0)
        place = place + 1 if token is None else token.end()
        if depth <= 0:
            return place
    raise FileUnusable("It is no JSON: a bracket is not closed.")


def _inserted(text: str, into: _Object, name: str, value: Json, depth: int) -> str:
    """Put a member behind the last one, and behind the comment that stands on its line."""
    comma = "," if into.members and not into.has_comma else ""
    line = _REST_OF_LINE.match(text, into.last)
    place = into.last if line is None else line.end()
    member = f"\n{_INDENT * (depth + 1)}{json.dumps(name)}: {_written(value, depth + 1)}"
    closing = text[place : into.end]
    if "\n" not in closing:
        closing = f"{closing.rstrip()}\n{_INDENT * depth}"
    return text[: into.last] + comma + text[into.last : place] + member + closing + text[into.end :]


def _nested(path: Sequence[str], value: Json) -> Json:
    for name in reversed(path):
        value = {name: value}
    return value


def _written(value: Json, depth: int) -> str:
    return json.dumps(value, ensure_ascii=False, indent=_INDENT).replace("\n", "\n" + _INDENT * depth)
