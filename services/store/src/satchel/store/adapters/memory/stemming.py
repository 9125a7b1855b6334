"""Stems of English words, so that "running" finds "run".

Source: M. F. Porter, "An algorithm for suffix stripping", Program 14 (3), 1980, pages 130 to 137, with the
two rules that its author changed later (``bli`` and ``logi``): tartarus.org/martin/PorterStemmer.
"""

import functools
import re
from typing import NamedTuple, TypeAlias

_Rules: TypeAlias = tuple[tuple[str, str], ...]

_WORD = re.compile(r"[a-z]{3,}")
_VOWELS = frozenset("aeiou")
_PLURALS: _Rules = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_MENDED = ("at", "bl", "iz")  # what lost an e before ed or ing
_DOUBLED = re.compile(r"([^aeioulsz])\1$")
_STEP_2: _Rules = (
    ("ational", "ate"), ("ization", "ize"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("tional", "tion"), ("biliti", "ble"), ("entli", "ent"), ("ousli", "ous"), ("ation", "ate"),
    ("alism", "al"), ("aliti", "al"), ("iviti", "ive"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("alli", "al"), ("ator", "ate"), ("logi", "log"), ("bli", "ble"), ("eli", "e"),
)  # fmt: skip
_STEP_3: _Rules = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ness", ""),
    ("ful", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "sion", "tion", "ism", "ate", "iti", "ous",
    "ive", "ize", "al", "er", "ic", "ou",
)  # fmt: skip
_KEPT = {"sion": "s", "tion": "t"}  # of what step 4 takes off: ion goes, the letter before it stays


class _Shape(NamedTuple):
    """A word's beginning as letters, each ``v`` for a vowel or ``c`` for a consonant."""

    letters: str

    @property
    def measure(self) -> int:
        """How often a vowel is followed by a consonant: m of the paper."""
        return self.letters.count("vc")

    @property
    def has_vowel(self) -> bool:
        return "v" in self.letters


@functools.lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of a folded word; what is not made of letters a to z alone stays as it is."""
    if not _WORD.fullmatch(word):
        return word
    word = _without_past(_without_plural(word))
    if word.endswith("y") and _shape(word[:-1]).has_vowel:
        word = word[:-1] + "i"
    word = _replaced(_replaced(word, _STEP_2), _STEP_3)
    return _without_e(_without_ending(word))


def _shape(word: str) -> _Shape:
    """Tell vowels from consonants; y is a vowel after a consonant."""
    letters = ""
    for letter in word:
        is_vowel = letter in _VOWELS or (letter == "y" and letters.endswith("c"))
        letters += "v" if is_vowel else "c"
    return _Shape(letters)


def _without_plural(word: str) -> str:
    """Take off the ending of a plural: step 1a."""
    for ending, instead in _PLURALS:
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    return word


def _without_past(word: str) -> str:
    """Take off ed and ing, and mend what is left: step 1b."""
    if word.endswith("eed"):
        return word[:-1] if _shape(word[:-3]).measure else word
    for ending in ("ed", "ing"):
        left = word.removesuffix(ending)
        if left != word:
            return _mended(left) if _shape(left).has_vowel else word
    return word


def _mended(left: str) -> str:
    if left.endswith(_MENDED):
        return left + "e"
    if _DOUBLED.search(left):
        return left[:-1]
    return left + "e" if _shape(left).measure == 1 and _is_short(left) else left


def _is_short(word: str) -> bool:
    """Tell whether a word ends in consonant, vowel and a consonant that is not w, x or y: *o of the paper."""
    return _shape(word).letters.endswith("cvc") and word[-1] not in "wxy"


def _replaced(word: str, rules: _Rules) -> str:
    """Replace the first ending that fits, if what is before it has a measure: steps 2 and 3."""
    for ending, instead in rules:
        if word.endswith(ending):
            left = word.removesuffix(ending)
            return left + instead if _shape(left).measure else word
    return word


def _without_ending(word: str) -> str:
    """Take off a last ending where enough stays: step 4."""
    for ending in _STEP_4:
        if word.endswith(ending):
            left = word.removesuffix(ending) + _KEPT.get(ending, "")
            return left if _shape(left).measure > 1 else word
    return word


def _without_e(word: str) -> str:
    """Take off a last e, and one of two l: step 5."""
    if word.endswith("e"):
        left = word[:-1]
        measure = _shape(left).measure
        word = left if measure > 1 or (measure == 1 and not _is_short(left)) else word
    return word[:-1] if word.endswith("ll") and _shape(word[:-1]).measure > 1 else word
