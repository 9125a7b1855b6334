"""Letters and lower case for patterns over names."""

import itertools
import re
from collections.abc import Callable

_CASED_END = 0x2000  # Latin, Greek, Cyrillic, Armenian, Georgian: every script with names in capitals


def same_length_lower(text: str) -> str:
    """Return ``text`` in lower case so that every offset in one is an offset in the other.

    A letter whose lower case is longer than itself (``İ``) stays as it is.
    """
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


def letters(accept: Callable[[str], bool], start: int, end: int) -> str:
    """Return the accepted code points of ``[start, end)`` as ranges for a regular expression's class."""
    ranges = []
    for accepted, group in itertools.groupby(range(start, end), lambda point: accept(chr(point))):
        points = list(group)
        if accepted:
            ranges.append(f"{re.escape(chr(points[0]))}-{re.escape(chr(points[-1]))}")
    return "".join(ranges)


UPPER = letters(str.isupper, 0, _CASED_END)
"""Capital letters, as the inside of a character class."""

LOWER = letters(str.islower, 0, _CASED_END)
"""Small letters, as the inside of a character class."""
