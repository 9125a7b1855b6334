"""One line that says what a memory is about: its title, else the first of its text. Pure."""

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

READ_FOR_SUMMARY: Final = 2000
"""Code points of a text that its summary may come from."""

_LONGEST: Final = 200
# What is shorter says too little alone: "Yes.", "1." or "Dr.".
_ENOUGH: Final = 20
_HEADER: Final = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_BLANK_LINES: Final = re.compile(r"\n\s*\n")
# After a full stop only behind three letters or a digit, so that most abbreviations end no sentence.
_SENTENCE_END: Final = re.compile(r"(?:(?<=\w\w\w)\.|(?<=\d)\.|[!?…])[\"')\]»”]*(?=\s)|[\u3002\uff01\uff1f]")


def summary_of(text: str, *, title: str = "") -> str:
    """Return what a memory is about, on one line of at most 200 code points; what is cut ends in an ellipsis.

    Without a title these are the first header or sentence of the text, and as many after it as make some
    words.
    """
    line = _one_line(title) or _headline(text[:READ_FOR_SUMMARY])
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"


def _headline(text: str) -> str:
    parts = filter(None, map(_one_line, _parts(text)))
    line = ""
    for line in accumulate(parts, "{} {}".format):
        if len(line) >= _ENOUGH:
            break
    return line


def _parts(text: str) -> Iterator[str]:
    """Yield headers and sentences in order; the lines of a paragraph belong together."""
    apart = _HEADER.sub(r"\n\n\1\n\n", text)
    for block in _BLANK_LINES.split(apart):
        start = 0
        for end in _SENTENCE_END.finditer(block):
            yield block[start : end.end()]
            start = end.end()
        yield block[start:]


def _one_line(text: str) -> str:
    return " ".join(text.split())
