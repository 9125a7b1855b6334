"""What a question asks for and what a text has to offer, by their wording, in English and French."""

import re
from collections.abc import Sequence

import numpy as np

from satchel.allocator.model import Floats

# Code points of a text that are looked at: cues of a talk stand in short texts, and a long one has them all.
_LOOKED_AT = 2_000

_WHEN = re.compile(
    r"^\W*(?:when|quand)\b|\b(?:how long|since when|combien de temps|depuis (?:quand|combien))\b"
    r"|\b(?:what|which|quel(?:le)?s?)\s+(?:date|year|month|day|week|time|ann[ée]e|mois|jour|semaine|heure)s?\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|weeks?|weekend|months?|years?|since|recently|just"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|hier|aujourd['\u2019]hui|demain|derni[eè]re?s?|prochaine?s?|semaines?|mois|ann[ée]es?|ans?|depuis|r[ée]cemment"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche"
    r"|janvier|f[ée]vrier|mars|avril|mai|juin|juillet|ao[uû]t|septembre|octobre|novembre|d[ée]cembre"
    r"|\d{4}|\d{1,2}(?:/|\.)\d{1,2})\b",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\s*\[[^\[\]]*\]$")
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")


def asks_when(question: str) -> bool:
    """Tell whether a question asks for a time."""
    return bool(_WHEN.search(question))


def tell_time(texts: Sequence[str]) -> Floats:
    """Return 1 for each text that speaks of a time, 0 for others."""
    return np.array([float(bool(_TIME.search(text, 0, _LOOKED_AT))) for text in texts])


def are_questions(texts: Sequence[str]) -> Floats:
    """Return 1 for each text that ends in a question, whatever remark in brackets follows; 0 for others."""
    return np.array([float(_is_question(text)) for text in texts])


def _is_question(text: str) -> bool:
    end = text[-_LOOKED_AT:].rstrip()
    return (_REMARK.sub("", end) if end.endswith("]") else end).endswith(_QUESTION_MARKS)
