"""Phrases in a text, as whole words without case and accents, and whether a negation stands before them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from satchel.runtime.folding import fold
from satchel.runtime.stopwords import word_set

T = TypeVar("T")

Words: TypeAlias = Sequence[str]

_WORD = re.compile(r"[^\W_]+")
_ANY_ENDING = "*"
_PREFIX_KEY = 3  # letters by which prefixes are found; no prefix is shorter
_REACH = 4  # words before a phrase among which a negation counts

NEGATIONS = word_set(
    "not never no nothing rien without t cannot neither nor hardly ne n pas jamais sans aucun aucune guere ni"
)
# After these a negation does not take anything back: "not only", "pas seulement", "no doubt".
_HARMLESS_AFTER = word_set("only just merely seulement uniquement doubt doute problem probleme")


def words_of(text: str) -> list[str]:
    """Return the folded words of a text; apostrophes and hyphens part them."""
    return _WORD.findall(fold(text))


class Match(NamedTuple, Generic[T]):
    """A phrase from the word ``start`` to before ``end``, and everything that it stands for."""

    start: int
    end: int
    meanings: tuple[T, ...]


class PhraseBook(Generic[T]):
    """Finds phrases of a fixed list in time that grows with the text and hardly with the list.

    A word that ends in ``*`` stands for every word that begins so; what stands before has three letters or
    more. The longest phrase at a place wins; equally long ones count together.
    """

    def __init__(self, phrases: Mapping[T, Iterable[str]]) -> None:
        meanings: dict[tuple[str, ...], list[T]] = {}
        for meaning, texts in phrases.items():
            for text in texts:
                known = meanings.setdefault(tuple(_pattern(text)), [])
                if meaning not in known:
                    known.append(meaning)
        self._by_word: dict[str, list[tuple[tuple[str, ...], tuple[T, ...]]]] = {}
        self._by_prefix: dict[str, list[tuple[tuple[str, ...], tuple[T, ...]]]] = {}
        for pattern, known in meanings.items():
            first = pattern[0]
            table = self._by_prefix if first.endswith(_ANY_ENDING) else self._by_word
            key = first[:_PREFIX_KEY] if table is self._by_prefix else first
            table.setdefault(key, []).append((pattern, tuple(known)))

    def find(self, words: Words) -> Iterator[Match[T]]:
        """Yield the longest match at each word at which one begins, in order; matches may overlap."""
        for start in range(len(words)):
            match = self.at(words, start)
            if match is not None:
                yield match

    def at(self, words: Words, start: int) -> Match[T] | None:
        """Return the longest match that begins at a word, with what every phrase of that length means."""
        word = words[start]
        entries = (*self._by_word.get(word, ()), *self._by_prefix.get(word[:_PREFIX_KEY], ()))
        if not entries:
            return None
        found = [
            (len(pattern), meanings)
            for pattern, meanings in entries
            if start + len(pattern) <= len(words)
            and all(map(_fits, pattern, words[start : start + len(pattern)]))
        ]
        if not found:
            return None
        longest = max(length for length, _ in found)
        same = (meaning for length, meanings in found if length == longest for meaning in meanings)
        return Match(start, start + longest, tuple(dict.fromkeys(same)))


def is_negated(words: Words, start: int) -> bool:
    """Tell whether a negation stands among the four words before ``start`` and is not harmless."""
    first = max(0, start - _REACH)
    return any(
        words[place] in NEGATIONS and words[place + 1] not in _HARMLESS_AFTER
        for place in range(first, start)
        if place + 1 < len(words)
    )


def split_phrases(text: str) -> tuple[str, ...]:
    """Return the phrases of a list that semicolons part."""
    return tuple(" ".join(part.split()) for part in text.split(";") if part.strip())


def _pattern(text: str) -> Iterator[str]:
    for part in text.split():
        yield from (
            (f"{word}{_ANY_ENDING}" for word in words_of(part[:-1]))
            if part.endswith(_ANY_ENDING)
            else words_of(part)
        )


def _fits(pattern: str, word: str) -> bool:
    return word.startswith(pattern[:-1]) if pattern.endswith(_ANY_ENDING) else word == pattern
