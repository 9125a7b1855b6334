"""Says which words of an answer must be found in a context."""

import re
from collections.abc import Iterable

# Words of English and French that say nothing of their own, letters of elisions and contractions among them.
_LISTED = """
a about after all also am an and any are as at back be because been before being but by can could d did
do does doing done down during each even for from get gets getting got had has have having he her here
hers him his how i if in into is it its just ll m may me might more most much my no nor not now of off on
once one only onto or other our out over own re s same she should since so some still such t than that
the their them then there these they this those through to too under until up upon us ve very via was we
were what when where whether which while who whom whose why will with within without would yes yet you
your au aux avec c ce ces cet cette chez comme dans de des du elle elles en est et eu il ils j je l la le
les leur leurs lui ma mais mes mon n ne nos notre nous on ont ou où par pas pour qu que qui sa sans ses
si son sont sur ta tes ton tu un une vos votre vous y à été être
"""
STOP_WORDS = frozenset(_LISTED.split())

_WORD = re.compile(r"[^\W_]+")
_SHORTEST_PLURAL = 4


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, each without the ``s`` of a plural."""
    return [_singular(word) for word in _WORD.findall(text.casefold())]


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning; all of them when none does."""
    found = _WORD.findall(text.casefold())
    telling = [word for word in found if word not in STOP_WORDS]
    return frozenset(_singulars(telling or found))


def _singulars(found: Iterable[str]) -> Iterable[str]:
    return (_singular(word) for word in found)


def _singular(word: str) -> str:
    is_plural = len(word) >= _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural else word
