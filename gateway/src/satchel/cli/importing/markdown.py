"""Reads Markdown and plain text: one memory for each section under a heading.

A section is a heading with the text up to the next heading of any level. Its title is the path of
headings that leads to it. Headings inside code blocks are code. A long section becomes several memories,
split at blank lines, with code blocks kept whole. A heading without a text of its own makes no memory:
its words stay in the titles of the sections below it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from satchel.cli.importing.records import MAX_CONTENT, MAX_TITLE, Draft, Record, Refused
from satchel.cli.importing.splitting import open_fence, split_text

MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdx"})
TEXT_SUFFIXES = frozenset({".txt", ".text", ".rst", ".adoc", ".org"})

# Long enough for a thought with its code, short enough that a budget of a few thousand tokens holds several.
TARGET_LENGTH = 6000

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a document: the headings that lead to it, outermost first, and its text with its heading."""

    headings: tuple[str, ...]
    text: str


def read_document(name: str, text: str, *, markdown: bool) -> Iterator[Record]:
    """Make the memories of one document; ``name`` is its path as a person would write it, with slashes."""
    if "\x00" in text:
        yield Refused(name, "The file holds a NUL character; it is not a text.")
        return
    sections = list(sections_of(text)) if markdown else [Section((), text)]
    number = 0
    for section in sections:
        parts = split_text(section.text, TARGET_LENGTH, MAX_CONTENT)
        for index, part in enumerate(parts, start=1):
            number += 1
            yield _draft(name, section, part, index if len(parts) > 1 else 0, number)


def sections_of(text: str) -> Iterator[Section]:
    """Split Markdown into sections; those without any text but their heading are left out.

    Headings are the ATX and (on one line) setext headings of CommonMark 0.31, sections 4.2 and 4.3.
    """
    trail: list[tuple[int, str]] = []
    lines: list[str] = []
    has_text, fence = False, ""
    for line in text.split("\n"):
        heading = None if fence else _heading(line, lines)
        fence = open_fence(line, fence)
        if heading is None:
            lines.append(line)
            has_text = has_text or bool(line.strip())
            continue
        level, title, underlined = heading
        opening = [lines.pop(), line] if underlined else [line]
        if has_text and _has_text(lines, trail):
            yield _section(trail, lines)
        trail = [*[entry for entry in trail if entry[0] < level], (level, title)]
        lines, has_text = opening, False
    if has_text:
        yield _section(trail, lines)


def _heading(line: str, before: Sequence[str]) -> tuple[int, str, bool] | None:
    """Return level, words and whether the heading began on the line before; `None` for no heading."""
    atx = _ATX.match(line)
    if atx:
        return len(atx.group(1)), (atx.group(2) or "").strip(), False
    setext = _SETEXT.match(line)
    if setext and _is_single_line_paragraph(before):
        return (1 if setext.group(1)[0] == "=" else 2), before[-1].strip(), True
    return None


def _is_single_line_paragraph(before: Sequence[str]) -> bool:
    if not before or not before[-1].strip() or before[-1].startswith(("    ", "\t", "---", "- ", ">", "|")):
        return False
    return len(before) == 1 or not before[-2].strip()


def _has_text(lines: Sequence[str], trail: Sequence[tuple[int, str]]) -> bool:
    # The words of a setext heading may have been the only text, and are gone from the lines by now.
    own = lines[1:] if trail else lines
    return any(line.strip() for line in own)


def _section(trail: Sequence[tuple[int, str]], lines: Sequence[str]) -> Section:
    return Section(tuple(title for _, title in trail if title), "\n".join(lines))


def _draft(name: str, section: Section, text: str, part: int, number: int) -> Draft:
    title = " > ".join(section.headings) or name
    label = f"{name}#{number}"
    return Draft(
        label=label,
        content=text,
        title=(f"{title} ({part})" if part else title)[:MAX_TITLE],
        path=label,
        metadata={"file": name, "headings": list(section.headings), **({"part": part} if part else {})},
    )
