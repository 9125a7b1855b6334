"""Words and tags as they are compared: without case, accents and compatibility forms. Pure."""

import re
import unicodedata

_ACCENTS = re.compile("[\u0300-\u036f]")
_LIGATURES = str.maketrans(
    {"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "\u0131": "i"}
)


def fold(text: str) -> str:
    """Return a short text in compatibility form, without case and without accents.

    For words and tags: normal forms take quadratic time over a long run of combining marks.
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", folded).translate(_LIGATURES))


def tag_key(tag: str) -> str:
    """Return a tag as it is compared, blanks in a row made one: the rule of the store, which keeps tags."""
    return fold(" ".join(tag.split()))
