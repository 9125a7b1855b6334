"""Reads Markdown and plain text: one memory for each section under a heading.

A section is a heading with the text up to the next heading of any level. Its title is the path of
headings that leads to it. Headings inside code blocks are code. A long section becomes several memories,
split at blank lines, with code blocks kept whole. A heading without a text of its own makes no memory:
its words stay in the titles of the sections below it. Front matter (YAML between two lines ``---`` at the
very beginning) goes into the metadata.

The path of a section is its file and the anchor of its heading, ``guide.md#install``, so that a section
keeps its path when others come or go before it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from satchel.cli.importing.records import MAX_CONTENT, MAX_TITLE, Draft, Json, Record, Refused
from satchel.cli.importing.splitting import open_fence, split_text

MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdx"})
TEXT_SUFFIXES = frozenset({".txt", ".text", ".rst", ".adoc", ".org"})

# Long enough for a thought with its code, short enough that a budget of a few thousand tokens holds several.
TARGET_LENGTH = 6000

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MAX_FRONT_MATTER = 4000
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
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
    front, body = split_front_matter(text) if markdown else ("", text)
    more: dict[str, Json] = {"front_matter": front[:_MAX_FRONT_MATTER]} if front else {}
    used: set[str] = set()
    for section in sections_of(body) if markdown else [Section((), text)]:
        anchor = _free(anchor_of(section.headings[-1]) if section.headings else "", used)
        parts = split_text(section.text, TARGET_LENGTH, MAX_CONTENT)
        for number, part in enumerate(parts, start=1):
            numbered = f"{anchor}/{number}" if number > 1 else anchor
            path = f"{name}#{numbered}" if numbered else name
            known = {"file": name, "headings": list[Json](section.headings), **more}
            yield _draft(path, section, part, {**known, "part": number} if len(parts) > 1 else known)


def split_front_matter(text: str) -> tuple[str, str]:
    """Return the front matter of a document, empty for none, and the rest."""
    found = _FRONT_MATTER.match(text)
    return (found.group(1).strip(), text[found.end() :]) if found else ("", text)


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading, as renderers make it: ``Exit codes`` gives ``exit-codes``."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def _free(anchor: str, used: set[str]) -> str:
    """Return the anchor, numbered where an earlier section of the document has it."""
    found, number = anchor, 0
    while found in used:
        number += 1
        found = f"{anchor}-{number}"
    used.add(found)
    return found


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
        return len(atx.group(1)), _words(atx.group(2) or ""), False
    setext = _SETEXT.match(line)
    if setext and _is_single_line_paragraph(before):
        return (1 if setext.group(1)[0] == "=" else 2), _words(before[-1]), True
    return None


def _words(heading: str) -> str:
    """Return the words of a heading without the targets of its links."""
    return _LINK.sub(r"\1", heading).strip()


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


def _draft(path: str, section: Section, text: str, metadata: Mapping[str, Json]) -> Draft:
    title = " > ".join(section.headings) or str(metadata["file"])
    part = metadata.get("part")
    return Draft(
        label=path,
        content=text,
        title=(f"{title} ({part})" if part else title)[:MAX_TITLE],
        path=path,
        metadata=metadata,
    )
