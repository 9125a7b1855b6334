"""Reads JSON Lines: one memory on each line, as `satchel export` writes them or as a client stores them.

A JSON array of such objects is read too. Which fields an object may have is for the contract to say.
"""

import json
from collections.abc import Iterable, Iterator

from satchel.cli.importing.records import Exported, Json, Record, Refused


def read_lines(lines: Iterable[str], name: str) -> Iterator[Record]:
    """Make a record of each line that is not blank; ``name`` is for the labels."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _record(f"{name}:{number}", line)


def read_objects(items: Iterable[Json], name: str) -> Iterator[Record]:
    """Make a record of each item of a JSON array."""
    for number, item in enumerate(items, start=1):
        yield _of_object(f"{name} item {number}", item)


def _record(label: str, line: str) -> Record:
    try:
        return _of_object(label, json.loads(line))
    except (ValueError, RecursionError) as exc:
        return Refused(label, f"The line is no JSON: {exc}.")


def _of_object(label: str, item: Json) -> Record:
    if isinstance(item, dict):
        return Exported(label, item)
    return Refused(label, f"The record is a JSON {_json_name(item)}, not an object.")


def _json_name(item: Json) -> str:
    names = {type(None): "null", bool: "boolean", str: "string", list: "array"}
    return names.get(type(item), "number")
