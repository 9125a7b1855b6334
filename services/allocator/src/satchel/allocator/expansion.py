"""Query expansion: the query cleaned, without stop words, and as its keywords.

Unicode throughout: letters of every script survive, and accents stay. Pure text; embedding the variants
and averaging their vectors is the pipeline's work.
"""

import re
import unicodedata

import numpy as np

from satchel.allocator.model import Vectors

_WORD = re.compile(r"\w+(?:[-'\u2019.@:/_]\w+)*")
_MAX_KEYWORDS = 3

# Function words that carry no subject. English and French, the languages that facts are found in.
_FUNCTION_WORDS = """
a about after again all also am an and any are as at be because been before being below between both but by
can could did do does doing down during each few for from further had has have having he her here hers him
his how i if in into is it its itself just me more most my no nor not of off on once only or other our ours
out over own same she should so some such than that the their theirs them then there these they this those
through to too under until up very was we were what when where which while who whom why will with would you
your yours
au aux avec ce ces cette dans de des du elle elles en est et eux il ils je la le les leur leurs lui mais mes
mon ne nos notre nous ou par pas pour qu que quel quelle quelles quels qui quoi sa se ses son sont sur ta te
tes toi ton tu un une vos votre vous
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


def clean(query: str) -> str:
    """Return the query in NFC, on one line, with blanks in a row made one."""
    return " ".join(unicodedata.normalize("NFC", query).split())


def content_words(query: str) -> list[str]:
    """Return the words that are no stop words, in order, each once; all words if nothing else is left."""
    words = list(dict.fromkeys(match.group() for match in _WORD.finditer(query)))
    return [word for word in words if word.lower() not in STOP_WORDS] or words


def keywords(query: str) -> list[str]:
    """Return the longest content words, at most three, in the order of the query; ties by first place."""
    words = content_words(query)
    longest = sorted(words, key=lambda word: (-len(word), words.index(word)))[:_MAX_KEYWORDS]
    return [word for word in words if word in longest]


def variants(query: str, *, expand: bool, most: int = 3) -> list[str]:
    """Return the texts to embed, none twice: the cleaned query and, with ``expand``, ``most`` others."""
    cleaned = clean(query)
    if not expand:
        return [cleaned]
    found = (cleaned, " ".join(content_words(cleaned)), " ".join(keywords(cleaned)))
    return list(dict.fromkeys(text for text in found if text))[: most + 1]


def centroid(vectors: Vectors) -> Vectors:
    """Average the rows, shape (variants, dimension), to one row of unit norm.

    The first row, if they cancel out.
    """
    first: Vectors = vectors[0]
    mean = vectors.astype(np.float64).mean(axis=0)
    norm = float(np.linalg.norm(mean))
    if len(vectors) == 1 or norm == 0:
        return first
    return np.asarray(mean / norm, dtype=np.float32)
