"""Reads JSON Lines: one memory on each line, as `satchel export` writes them or as a client stores them.

A JSON array of such objects is read too. Which fields an object may have is for the contract to say.
"""

import codecs
import json
from collections.abc import Iterable, Iterator

from satchel.cli.importing.records import Exported, Json, Record, Refused


def read_lines(lines: Iterable[bytes], name: str) -> Iterator[Record]:
    """Make a record of each line that is not blank; ``name`` is for the labels.

    A line that is no JSON object in UTF-8 is refused, and the others are read.
    """
    for number, line in enumerate(lines, start=1):
        bare = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if bare.strip():
            yield _record(f"{name}:{number}", bare)


def read_objects(items: Iterable[Json], name: str) -> Iterator[Record]:
    """Make a record of each item of a JSON array."""
    for number, item in enumerate(items, start=1):
        yield _of_object(f"{name} item {number}", item)


def parse_json(text: bytes) -> Json:
    """Read JSON in UTF-8; a byte-order mark at its beginning is no part of it.

    Raises:
        ValueError: it is no JSON, no UTF-8, nests too deeply, or names a member twice in one object; the text
            of the error continues a sentence.
    """
    try:
        parsed: Json = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_members)
    except UnicodeDecodeError as exc:
        raise ValueError(f"is not UTF-8 text (byte {exc.start + 1})") from exc
    except json.JSONDecodeError as exc:
        raise ValueError(f"is no JSON: {exc}") from exc
    except RecursionError as exc:
        raise ValueError("nests too deeply") from exc
    return parsed


def _members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"names '{twice[:100]}' twice in one object")
    return members


def _record(label: str, line: bytes) -> Record:
    try:
        return _of_object(label, parse_json(line))
    except ValueError as exc:
        return Refused(label, f"The line {exc}.")


def _of_object(label: str, item: Json) -> Record:
    if isinstance(item, dict):
        return Exported(label, item)
    return Refused(label, f"The record is a JSON {_json_name(item)}, not an object.")


def _json_name(item: Json) -> str:
    names = {type(None): "null", bool: "boolean", str: "string", list: "array"}
    return names.get(type(item), "number")
