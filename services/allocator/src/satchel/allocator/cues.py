"""What a question asks for and what a text has to offer, by their wording, in English and French."""

import re
from collections.abc import Sequence

import numpy as np

from satchel.allocator.model import Floats
from satchel.runtime.stopwords import word_set

# Code points of a text that are looked at: cues of a talk stand in short texts, and a long one has them all.
_LOOKED_AT = 2_000

_WHEN = re.compile(
    r"^\W*(?:when|quand)\b|\b(?:how long|since when|combien de temps|depuis (?:quand|combien))\b"
    r"|\b(?:what|which|quel(?:le)?s?)\s+(?:date|year|month|day|week|time|ann[ée]e|mois|jour|semaine|heure)s?\b",
    re.IGNORECASE,
)
_TIME_WORDS = word_set(
    """
    yesterday today tonight tomorrow ago last next week weeks weekend month months year years since recently
    just monday tuesday wednesday thursday friday saturday sunday
    january february march april june july august september october november december
    hier aujourd demain dernier dernière derniere derniers dernières prochain prochaine semaine semaines mois
    ans année années annee annees depuis récemment recemment
    lundi mardi mercredi jeudi vendredi samedi dimanche
    janvier février fevrier mars avril mai juin juillet août aout septembre octobre novembre décembre decembre
    """
)
_YEARS = frozenset(map(str, range(1000, 3000)))
_BREAKS = ".,;:!?()[]{}\"'\u2019-\u2013\u2014/*_"
_TIMES = _TIME_WORDS | _YEARS
_TO_BLANKS = str.maketrans(_BREAKS, " " * len(_BREAKS))
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")


def asks_when(question: str) -> bool:
    """Tell whether a question asks for a time."""
    return bool(_WHEN.search(question))


def tell_time(texts: Sequence[str]) -> Floats:
    """Return 1 for each text that speaks of a time, 0 for others."""
    return np.array([float(_tells_time(text[:_LOOKED_AT])) for text in texts])


def _tells_time(text: str) -> bool:
    # Words in a set: one pattern of all of them takes ten times as long.
    return not _TIMES.isdisjoint(text.lower().translate(_TO_BLANKS).split())


def are_questions(texts: Sequence[str]) -> Floats:
    """Return 1 for each text that ends in a question, whatever remark in brackets follows; 0 for others."""
    return np.array([float(_is_question(text)) for text in texts])


def _is_question(text: str) -> bool:
    end = text[-_LOOKED_AT:].rstrip()
    if end.endswith("]"):
        opening = end.rfind("[")
        has_remark = opening >= 0 and "]" not in end[opening:-1]
        end = end[:opening].rstrip() if has_remark else end
    return end.endswith(_QUESTION_MARKS)
