"""Provides the comparison of texts without case and accents, the same in every process.

Texts that people would call the same word fold to the same text: "Règles" and "REGLES" both give "regles".
Source of the forms: Unicode Standard Annex 15; of case folding: The Unicode Standard, section 3.13.
"""

import re
import unicodedata
from typing import Literal

_SURROGATE = re.compile("[\ud800-\udfff]")
# Normalising sorts each run of combining marks by insertion, so that a long run costs quadratic time: text
# is normalised in pieces of bounded length, cut at white space where there is any.
_PIECE = re.compile(r"(?s).{1,256}\S{0,256}")
_ACCENTS = re.compile("[\u0300-\u036f]")
_LIGATURES = str.maketrans(
    {"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "\u0131": "i"}
)


def normalise(text: str, form: Literal["NFC", "NFKC", "NFKD"] = "NFC") -> str:
    """Return ``text`` in a Unicode normal form, in linear time, with lone surrogates replaced by U+FFFD.

    The result can always be encoded as UTF-8. Equal to `unicodedata.normalize` but for a combining
    sequence longer than 256 code points, which may be cut (UAX 15, section 13, bounds one to 30).
    """
    if text.isascii():
        return text
    whole = _SURROGATE.sub("\ufffd", text)
    return "".join(unicodedata.normalize(form, piece) for piece in _PIECE.findall(whole))


def fold(text: str) -> str:
    """Return ``text`` in compatibility form, without case and without accents."""
    if text.isascii():
        return text.lower()
    folded = normalise(normalise(text, "NFKC").casefold(), "NFKD")
    return normalise(_ACCENTS.sub("", folded).translate(_LIGATURES))
