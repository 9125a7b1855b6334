"""Splits long texts at the borders that a reader would choose, without losing a character of content."""

import re
from collections.abc import Iterator, Sequence

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def open_fence(line: str, fence: str) -> str:
    """Return the code fence that is open after ``line``, given the one before; empty for none.

    Source: CommonMark 0.31, section 4.5 (a fence is closed by one of its own kind, at least as long).
    """
    found = _FENCE.match(line)
    if found is None:
        return fence
    mark = found.group(1)
    if not fence:
        return "" if mark[0] == "`" and "`" in line[found.end() :] else mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not line[found.end() :].strip()
    return "" if closes else fence


def split_text(text: str, target: int, limit: int) -> list[str]:
    """Split a text into parts of about ``target`` code points, none longer than ``limit``.

    Parts end at blank lines outside code blocks where possible, so that a block of code stays whole; a
    paragraph over ``limit`` is cut at a line, a word, or a code point, in that order of preference.
    White space at the ends of a part is dropped. Blank texts give no part.
    """
    if len(text.strip()) <= target:
        return [text.strip()] if text.strip() else []
    blocks = [piece for block in _blocks(text) for piece in _cut(block, limit)]
    return list(_packed(blocks, target))


def _blocks(text: str) -> Iterator[str]:
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if not line.strip() and not fence:
            yield from _joined(lines)
            lines = []
        else:
            lines.append(line)
        fence = open_fence(line, fence)
    yield from _joined(lines)


def _joined(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield "\n".join(lines)


def _cut(block: str, limit: int) -> Iterator[str]:
    while len(block) > limit:
        end = next((at for mark in ("\n", " ") if (at := block.rfind(mark, limit // 2, limit)) > 0), limit)
        yield block[:end]
        block = block[end:].lstrip("\n ")
    if block.strip():
        yield block


def _packed(blocks: Sequence[str], target: int) -> Iterator[str]:
    part = ""
    for block in blocks:
        if part and len(part) + 2 + len(block) > target:
            yield part.strip()
            part = ""
        part = f"{part}\n\n{block}" if part else block
    if part.strip():
        yield part.strip()
