"""Changes one table of a TOML text and leaves every other line as it is. Pure."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence

from satchel.cli.registering.entry import FileUnusable

_HEADER = re.compile(r"\s*\[")


def with_table(text: str, path: Sequence[str], members: Mapping[str, str | list[str]]) -> str:
    """Return the text with members of the table at a path; other members of it stay, and so do line ends.

    Raises:
        FileUnusable: the text is no TOML.
    """
    read(text)
    header = f"[{'.'.join(path)}]"
    end = "\r" if "\r\n" in text else ""  # stays at the end of each line
    lines = text.removesuffix("\n").split("\n") if text else []
    places = [
        place for place, line in enumerate(lines) if line.split("#")[0].replace(" ", "").strip() == header
    ]
    wanted = [f"{name} = {_written(value)}{end}" for name, value in members.items()]
    if not places:
        before = [*lines, end] if lines and lines[-1].strip() else lines
        return "\n".join([*before, header + end, *wanted]) + "\n"
    start = places[0] + 1
    own = next((n for n in range(start, len(lines)) if _HEADER.match(lines[n])), len(lines))
    kept = _without(lines[start:own], members)
    return "\n".join([*lines[:start], *wanted, *kept, *lines[own:]]) + "\n"


def read(text: str) -> Mapping[str, object]:
    """Return what a text holds.

    Raises:
        FileUnusable: it is no TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileUnusable(f"It is no TOML: {error}.") from error


def _without(lines: Sequence[str], names: Mapping[str, object]) -> list[str]:
    """Return the lines of a table without the members of these names; a value may take several lines."""
    kept, place = list[str](), 0
    while place < len(lines):
        name = lines[place].split("=")[0].strip().strip("\"'")
        end = place + 1
        if name in names:
            while end < len(lines) and not _is_whole("\n".join(lines[place:end])):
                end += 1
        else:
            kept.append(lines[place])
        place = end
    return kept


def _is_whole(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _written(value: str | list[str]) -> str:
    """Return a value as TOML; a basic string has the escapes of JSON.

    Source: TOML 1.0.0, section String.
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"[{', '.join(map(_written, value))}]"
