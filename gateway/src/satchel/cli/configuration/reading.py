"""Reads a YAML file into texts that know their lines, and constructs nothing else.

Aliases are refused, so that a file is never larger than it looks, and so are keys that stand twice. What is
wrong is told by line and never by what stands there: it may be a secret.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import yaml

from satchel.runtime.settings import Origin, Problem, SettingsError

_MOST_BYTES = 1 << 20
_MOST_DEPTH = 20
_STANDARD_TAG = "tag:yaml.org,2002:"
_NULL_TAG = f"{_STANDARD_TAG}null"
_READ_AS = {
    f"{_STANDARD_TAG}bool": "true or false",
    f"{_STANDARD_TAG}int": "a number",
    f"{_STANDARD_TAG}float": "a number",
    f"{_STANDARD_TAG}timestamp": "a date",
}
_PLAIN_TAGS = frozenset(
    f"{_STANDARD_TAG}{name}" for name in ("str", "int", "float", "bool", "null", "timestamp", "map", "seq")
)

# What the parser says, by a part of its words, and what a person is to look for.
_FAULTS = {
    "mapping values are not allowed here": "a colon stands where none can be; put a value "
    "that holds one into quotes",
    "could not find expected ':'": "a key has no colon after it",
    "cannot start any token": "a value begins with a tab or another character that begins none; indent with "
    "blanks, and put the value into quotes",
    "unexpected end of stream": "a quotation mark is not closed",
    "expected <block end>": "the indentation does not fit that of the lines before",
    "expected ',' or ']'": "a list in brackets is not closed, or lacks a comma",
    "expected ',' or '}'": "a section in braces is not closed, or lacks a comma",
    "unknown escape character": "a backslash in double quotes begins nothing known; use single quotes",
    "undefined alias": "a value begins with an asterisk; put it into quotes",
    "duplicate anchor": "an anchor (&) is there twice",
    "found another document": "a second document begins (---); keep one",
    "special characters are not allowed": "a control character is not allowed",
}
# A text, nothing, a list, or a section.
Content: TypeAlias = "str | Sequence[Item] | Mapping[str, Item] | None"


@dataclass(frozen=True, slots=True)
class Item:
    """What stands at a key, or in a list, and in which line.

    ``read_as`` says what YAML takes a single value for that is not in quotes; empty for a text.
    """

    line: int
    content: Content
    read_as: str = ""

    @property
    def plain(self) -> object:
        """The content as texts, lists and dictionaries; nothing is an empty text."""
        if isinstance(self.content, Mapping):
            return {name: item.plain for name, item in self.content.items()}
        if isinstance(self.content, str):
            return self.content
        return "" if self.content is None else [item.plain for item in self.content]


def read_file(path: Path) -> Mapping[str, Item]:
    """Return the sections of a file; none for an empty one.

    Raises:
        SettingsError: it cannot be read, is no YAML, or no mapping; tells the line.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError as exc:
        raise SettingsError(f"{path} cannot be read: {(exc.strerror or str(exc)).lower()}.") from exc
    if len(raw) > _MOST_BYTES:
        raise SettingsError(f"{path} has more than {_MOST_BYTES} bytes and is no configuration of Satchel.")
    root = _compose(path, raw)
    if root is None:
        return {}
    item = _Reader(path).item(root, 0)
    if item.content is None:
        return {}
    if not isinstance(item.content, Mapping):
        raise _error(path, item.line, "the file", "must be a mapping of sections", "a mapping")
    return item.content


def _compose(path: Path, raw: bytes) -> yaml.Node | None:
    try:
        found: yaml.Node | None = yaml.compose(raw.decode(), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as exc:
        line = raw.count(b"\n", 0, exc.start) + 1
        raise _error(path, line, "the file", "is no UTF-8 text", "UTF-8") from None
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line = mark.line + 1 if mark else 1
        raise _error(path, line, "the file", f"is no YAML: {_fault(exc.problem or '')}", "YAML") from None
    except yaml.reader.ReaderError as exc:
        line = raw.decode().count("\n", 0, exc.position) + 1
        raise _error(path, line, "the file", f"is no YAML: {_fault(exc.reason)}", "YAML") from None
    except (yaml.YAMLError, RecursionError):
        raise _error(path, 1, "the file", "is no YAML: it cannot be parsed", "YAML") from None
    return found


def _fault(problem: str) -> str:
    """Return what is wrong in words of ours: those of the parser name its parts, and may hold a secret."""
    return next((told for part, told in _FAULTS.items() if part in problem), "it cannot be parsed")


class _Reader:
    """Turns nodes into items, each node once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: set[int] = set()

    def item(self, node: yaml.Node, depth: int) -> Item:
        """Return the item of a node."""
        line = node.start_mark.line + 1
        if id(node) in self._seen:
            raise _error(
                self._path,
                line,
                "the file",
                "names a value (&) to use it again (*): write it out",
                "no aliases",
            )
        self._seen.add(id(node))
        if depth > _MOST_DEPTH or node.tag not in _PLAIN_TAGS:
            raise _error(self._path, line, "the file", "holds more than texts, lists and sections", "plain")
        if isinstance(node, yaml.ScalarNode):
            content = None if node.tag == _NULL_TAG else str(node.value)
            return Item(line, content, _READ_AS.get(node.tag, ""))
        if isinstance(node, yaml.SequenceNode):
            return Item(line, [self.item(one, depth + 1) for one in node.value])
        return Item(line, dict(self._members(node, depth + 1)))

    def _members(self, node: yaml.Node, depth: int) -> Iterator[tuple[str, Item]]:
        names: set[str] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise _error(self._path, line, "a key", "must be a text", "a text")
            if key.value in names:
                raise _error(self._path, line, "a key", "stands there a second time: keep one", "once")
            names.add(key.value)
            # The line of the key, which is where a person looks for it.
            yield str(key.value), replace(self.item(value, depth), line=line)


def _error(path: Path, line: int, name: str, fault: str, limit: str) -> SettingsError:
    return SettingsError.of([Problem(Origin(name, str(path), line), fault, limit)])
