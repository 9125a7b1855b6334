"""What memories are about, as names that can be compared, and the memory that shares most of them."""

import json
import re
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

from satchel.runtime.folding import fold
from satchel.runtime.stopwords import word_set
from satchel.store.extraction.gazetteer import LABELS
from satchel.store.model import Clues

Key = TypeVar("Key")

_WORD = re.compile(r"[^\W_]+")
_SHORTEST = 2  # code points of a name
# What a text without a subject gets for one: its type. And words that say that there is a cause, not which.
_KINDS = frozenset({"decision", "fact", "preference", "session note", "debug log"})
_RELATING = word_set(
    """
    following after because since response triggered suite apres parce raison cause
    contradicts contradict contradicted conflicts conflict inconsistent contredit
    updates updated replaces replaced supersedes superseded jour remplace remplacee actualise
    resolves resolved solves solved fixes fixed addresses addressed resout resolu regle corrige solutionne
    """
)
_DULL = _RELATING | frozenset(map(fold, LABELS))


class Earlier(NamedTuple, Generic[Key]):
    """An earlier memory: its key, and its facts as canonical JSON."""

    key: Key
    fingerprint: str


def words_of(text: str) -> str:
    """Return the folded words of a text with one space around each, so that a name can be looked up."""
    return f" {' '.join(_WORD.findall(fold(text)))} "


def names_of(fingerprint: str) -> frozenset[str]:
    """Return subjects and entities, folded, each as its words with one space between.

    ``fingerprint`` is canonical JSON. Words that any text may hold, and the type, are no names.
    """
    facts = json.loads(fingerprint)
    names = (words_of(name).strip() for part in ("subjects", "entities") for name in facts.get(part, ()))
    return frozenset(name for name in names if _tells(name))


def _tells(name: str) -> bool:
    return len(name) >= _SHORTEST and name not in _KINDS and not _DULL.issuperset(name.split())


def best_cause(clues: Clues, earlier: Iterable[Earlier[Key]]) -> Key | None:
    """Return the memory that shares most names with a text; the first of several; None if none shares any.

    A name is shared when it is a name of both, or when the text mentions it.
    """
    best: Key | None = None
    most = 0
    for one in earlier:
        count = sum(name in clues.names or f" {name} " in clues.words for name in names_of(one.fingerprint))
        if count > most:
            best, most = one.key, count
    return best
