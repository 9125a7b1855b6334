"""The words of a memory without their order: how often it holds each stem, and which words just so."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from satchel.store.adapters.memory.stemming import stem
from satchel.store.model import Words
from satchel.store.ports import Term

_WEIGHTS = {"title": 5, "tags": 2, "summary": 2, "body": 1, "fields": 1}  # what one occurrence counts


@dataclass(frozen=True, slots=True)
class Bag:
    """``stems`` has weighted occurrences by stem, ``words`` what stands there; ``size`` counts all words."""

    stems: Mapping[str, int]
    words: frozenset[str]
    size: int

    def frequency(self, term: Term) -> int:
        """Return how often the memory holds a word in any form, weighted; 0 for not at all."""
        if term.prefix:
            return sum(count for found, count in self.stems.items() if found.startswith(term.token))
        return self.stems.get(stem(term.token), 0)


def bag_of(words: Words) -> Bag:
    """Count the words of a memory."""
    stems, exact, size = Counter[str](), set[str](), 0
    for part, text in words._asdict().items():
        for word in text.split():
            stems[stem(word)] += _WEIGHTS[part]
            exact.add(word)
            size += 1
    return Bag(stems, frozenset(exact), size)
