"""Directives in plain English and French, read to what they ask for.

Words are compared whole, so that "informal" is never "formal". A negation or a comparison holds for the list
that follows ("not formal, serious or technical"), up to the next verb, the next contrast ("but") or the next
comparison.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from satchel.runtime.stopwords import word_set
from satchel.store.identity.directive_words import HARMLESS_AFTER_NOT, WORDS
from satchel.store.identity.phrases import words_of

_SENTENCE_END = re.compile(r"[.;:!?\n()\u2013\u2014]+")
_FAMILY = "family:"
_JOINERS = word_set("and or nor et ou ni")


class Intent(NamedTuple):
    """What is asked for: a family, for or against it, compared with now or not, and how strongly.

    ``degree`` is ``little``, ``much`` or empty.
    """

    family: str
    wanted: bool
    compared: bool = False
    degree: str = ""

    def __str__(self) -> str:
        """Return it as the caller is told, such as ``formal: much less``."""
        if self.compared:
            amount = {"little": "a little ", "much": "much "}.get(self.degree, "")
            return f"{self.family}: {amount}{'more' if self.wanted else 'less'}"
        very = "very much" if self.degree == "much" and self.wanted else "yes"
        return f"{self.family}: {very if self.wanted else 'no'}"


@dataclass(slots=True)
class _Reader:
    """Walks along the words; what it has read since the last verb says what the next family is wanted for."""

    found: list[Intent] = field(default_factory=list)
    negated: bool = False
    used: bool = False  # whether the negation has met a family
    turn: str = ""  # "more", "less" or "too"
    degree: str = ""
    rather: bool = False  # whether "than" turns down what follows it

    def read(self, words: Sequence[str]) -> None:
        at = 0
        while at < len(words):
            match = WORDS.at(words, at)
            if match is not None:
                following = words[match.end] if match.end < len(words) else ""
                self._take(match.meanings[0], following)
            at = match.end if match is not None else at + 1

    def reset(self) -> None:
        self.negated = self.used = self.rather = False
        self.turn = self.degree = ""

    def _take(self, meaning: str, following: str) -> None:
        if meaning.startswith(_FAMILY):
            self.found.append(self._intent(meaning.removeprefix(_FAMILY)))
            self.used = True
        elif meaning == "not":
            if following not in HARMLESS_AFTER_NOT:
                self.negated, self.used, self.turn, self.degree = True, False, "", ""
        elif meaning in {"much", "little"}:
            self.degree = meaning
        elif meaning == "rather":
            self.reset()
            self.rather = True
        elif meaning == "than":
            self.negated, self.used = self.negated or self.rather, False
        elif meaning == "enough":
            self._take_enough()
        elif meaning == "break" or (meaning == "verb" and self.used):
            self.reset()
        elif meaning in {"more", "less", "too"}:
            self._compare(meaning)

    def _compare(self, turn: str) -> None:
        """Begin a comparison; it ends a negation that has met its family ("not formal and more direct")."""
        if self.used:
            self.reset()
        # "ne ... plus" takes away: the negation stays, and nothing is compared.
        self.turn = "" if turn == "more" and self.negated else turn

    def _take_enough(self) -> None:
        """Take "not formal enough" and "pas assez formel" as wishes for more."""
        if not self.negated:
            return
        if self.used:
            self.found[-1] = Intent(self.found[-1].family, wanted=True, compared=True)
        self.reset()
        self.turn = "more"

    def _intent(self, family: str) -> Intent:
        match self.turn:
            case "too":
                return Intent(family, wanted=False, compared=True, degree=self.degree)
            case "less":
                return Intent(family, wanted=self.negated, compared=True, degree=self.degree)
            case "more":
                return Intent(family, wanted=True, compared=True, degree=self.degree)
        compared = self.degree == "little" and not self.negated
        return Intent(family, wanted=not self.negated, compared=compared, degree=self.degree)


def read_directive(text: str) -> tuple[Intent, ...]:
    """Return what a directive asks for, in its order; empty where nothing is understood.

    Where it says two things of a family, the last counts.
    """
    reader = _Reader()
    for sentence in _SENTENCE_END.split(text):
        reader.reset()
        for part in sentence.split(","):
            words = words_of(part)
            if not _goes_on(words):
                reader.reset()
            reader.read(words)
    return tuple({intent.family: intent for intent in reader.found}.values())


def _goes_on(words: Sequence[str]) -> bool:
    """Tell whether what follows a comma carries on a list: it begins with a family, but for "and" or "or"."""
    at = next((place for place, word in enumerate(words) if word not in _JOINERS), len(words))
    match = WORDS.at(words, at) if at < len(words) else None
    return match is not None and match.meanings[0].startswith(_FAMILY)
