"""Cutting quoted text to the part that matters."""

import re

from satchel.store.extraction.reading import tidy

LONGEST = 200  # code points of one quoted fact

SEPARATOR = re.compile(r"\s*[,;]\s*(?:(?:and|or|et|ou|nor|ni)\s+)?|\s+(?:and|or|et|ou|nor|ni|&)\s+")
"""What stands between the items of a list."""

_DANGLING = re.compile(r"[\s,]+(?:en|à|au|à la|and|et)$")


def cut(text: str, tail: re.Pattern[str]) -> str:
    """Return ``text`` up to where the pattern, written in lower case, first matches."""
    match = tail.search(text.lower())
    return text[: match.start()] if match else text


def clip(text: str) -> str:
    """Tidy ``text`` and shorten it to `LONGEST`, at a space where there is one."""
    short = _DANGLING.sub("", tidy(text))
    return short if len(short) <= LONGEST else short[:LONGEST].rsplit(" ", 1)[0].rstrip(" ,")
