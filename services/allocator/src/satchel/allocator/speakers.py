"""Who said a memory, where the text begins with a name, and whom a question names."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from satchel.allocator.model import Floats
from satchel.runtime.stopwords import word_set

# A name of at most 40 code points, a colon and a space, as chat transcripts are written.
_NAME = re.compile(r"[^\W\d_][\w .'\u2019-]{0,39}")
_LONGEST = 40
_WORD = re.compile(r"\w+")
# One memory that begins so may be a heading: who speaks, speaks twice.
_LEAST_MEMORIES = 2
# Begin questions, with a capital that makes no name of them, and headings ("How to: ...").
_ASKING = word_set(
    """
    what why how when where who whom whose which do does did is are was were can could should would
    que quoi pourquoi comment quand où ou qui quel quelle quels quelles est
    """
)


def speaker(text: str) -> str:
    """Return the name before the colon at the beginning of a text; empty where there is none."""
    end = text.find(": ", 1, _LONGEST + 2)
    name = text[:end] if end > 0 else ""
    return name if _is_name(name) else ""


def named_speakers(question: str, texts: Sequence[str]) -> Floats:
    """Return 1 for each text whose speaker the question names, 0 for others.

    A name counts with its capitals, unless the question has none at all ("will" is a word, "Will" a name),
    and in all its words or in its first.
    """
    speakers = [speaker(text) for text in texts]
    counts = Counter(speakers)
    words = _words(question)
    named = {name for name in counts if name and counts[name] >= _LEAST_MEMORIES and _is_named(name, words)}
    if not named:
        return np.zeros(len(texts))
    return np.array([float(name in named) for name in speakers])


@lru_cache(maxsize=4096)
def _is_name(text: str) -> bool:
    return bool(_NAME.fullmatch(text)) and not text[0].islower()


def _words(question: str) -> frozenset[str]:
    words = frozenset(_WORD.findall(question))
    return words if any(word[0].isupper() for word in words) else words | {word.title() for word in words}


def _is_named(name: str, words: frozenset[str]) -> bool:
    own = _WORD.findall(name)
    return bool(own) and own[0].lower() not in _ASKING and (own[0] in words or words.issuperset(own))
