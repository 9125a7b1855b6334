"""Bring text into one Unicode form, in linear time and for any `str`.

`unicodedata.normalize` sorts each run of combining marks by insertion, so a long run of marks costs
quadratic time. Text is therefore normalised in pieces of bounded length, which are cut at white space
where there is any.
"""

import itertools
import re
import unicodedata
from collections.abc import Callable
from typing import Literal

_PIECE = re.compile(r"(?s).{1,256}\S{0,256}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CASED_END = 0x2000  # Latin, Greek, Cyrillic, Armenian, Georgian: every script with names in capitals


def normalise(text: str, form: Literal["NFC", "NFKC", "NFKD"] = "NFC") -> str:
    """Return ``text`` in a Unicode normal form, with lone surrogates replaced by U+FFFD.

    The result can always be encoded as UTF-8. Equal to `unicodedata.normalize` but for a combining
    sequence longer than 256 code points, which may be cut (UAX 15, section 13, bounds one to 30).
    """
    if text.isascii():
        return text
    whole = _SURROGATE.sub("\ufffd", text)
    return "".join(unicodedata.normalize(form, piece) for piece in _PIECE.findall(whole))


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
