"""Whether two texts that are near in meaning state different facts: other numbers, dates or negations.

Embeddings hardly see them: "on Monday the build took 12 minutes" is as near to the same about Tuesday
and 31 minutes as to a plain repetition. A wrong "distinct" shows a text twice, a wrong "same" hides a fact;
so doubt means distinct. Pure, and linear in the texts.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from satchel.runtime.folding import fold

# A word with its accents also where they are marks of their own, and with the end of "don't".
_WORD = re.compile(r"[\w\u0300-\u036f]+(?:['\u2019][tT]\b)?")
_CONTRACTED = re.compile(r"['\u2019][tT]\b")
_DIGITS = re.compile(r"\d+")

_CALENDAR = frozenset(
    """
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec today yesterday tomorrow tonight
lundi mardi mercredi jeudi vendredi samedi dimanche
janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre aujourd hier demain
""".split()  # noqa: SIM905  # a list would take a page
)
_NEGATIONS = frozenset(
    """
no not never none nothing nobody nowhere neither nor without cannot dont doesnt didnt isnt arent wasnt werent
wont wouldnt cant couldnt shouldnt hasnt havent hadnt
ne n pas jamais rien aucun aucune sans ni non
""".split()  # noqa: SIM905
)
# Words of one number in a row; not "one", "un" and "une", which are pronouns and articles more often.
_SMALL_NUMBERS = """
zero
-
two deux
three trois
four quatre
five cinq
six
seven sept
eight huit
nine neuf
ten dix
eleven onze
twelve douze
"""
_NUMBER_WORDS = {
    word: str(number)
    for number, row in enumerate(_SMALL_NUMBERS.strip().splitlines())
    for word in row.split()
    if word != "-"
}
_OTHER_NUMBERS = frozenset(
    """
thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty
ninety hundred thousand million billion half quarter once twice
first second third fourth fifth sixth seventh eighth ninth tenth
treize quatorze quinze seize vingt trente quarante cinquante soixante cent cents mille milliard demi
premier premiere deuxieme seconde troisieme quatrieme cinquieme sixieme
""".split()  # noqa: SIM905
)
_NAMED_NUMBERS = _OTHER_NUMBERS.union(_NUMBER_WORDS)


class Marks(NamedTuple):
    """What tells facts apart: numbers in their order, names of days and months, how often it is negated."""

    numbers: tuple[str, ...]
    calendar: frozenset[str]
    negations: int


def marks_of(text: str) -> Marks:
    """Return the marks of a text.

    Most texts have few: sets of whole texts are compared first, and words looked at only where one is found.
    """
    folded = fold(text)
    words = _WORD.findall(folded)
    present = frozenset(words)
    has_negations = _CONTRACTED.search(folded) or not _NEGATIONS.isdisjoint(present)
    return Marks(
        numbers=_numbers(words, present),
        calendar=_CALENDAR & present,
        negations=sum(map(_is_negation, words)) if has_negations else 0,
    )


class Facts:
    """The marks of some texts, each read once, when it is first compared."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._digits: dict[int, list[str]] = {}
        self._marks: dict[int, Marks] = {}

    def are_distinct(self, one: int, other: int) -> bool:
        """Tell whether two of the texts differ in a number, a day or month, or a negation.

        A text that is not known (empty: the store keeps it back) is taken to differ from any.
        """
        first, second = self._texts[one], self._texts[other]
        if not first or not second:
            return True
        if first == second:
            return False
        # Found ten times sooner than all marks. ("two" and "2" are the same: there the lengths differ.)
        digits, others = self._digits_of(one), self._digits_of(other)
        if len(digits) == len(others) and digits != others:
            return True
        return self._marks_of(one) != self._marks_of(other)

    def _digits_of(self, index: int) -> list[str]:
        found = self._digits.get(index)
        if found is None:
            found = self._digits[index] = _DIGITS.findall(self._texts[index])
        return found

    def _marks_of(self, index: int) -> Marks:
        found = self._marks.get(index)
        if found is None:
            found = self._marks[index] = marks_of(self._texts[index])
        return found


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith(("'t", "\u2019t"))


def _numbers(words: Sequence[str], present: frozenset[str]) -> tuple[str, ...]:
    """Return the numbers of a text in their order; names of numbers are looked up where there are any."""
    if _NAMED_NUMBERS.isdisjoint(present):
        return tuple(word for word in words if not word.isalpha() and _DIGITS.search(word))
    return tuple(number for word in words if (number := _number(word)))


def _number(word: str) -> str:
    """Return the number that a word is or holds; empty for none."""
    if not word.isalpha() and _DIGITS.search(word):
        return word
    return word if word in _OTHER_NUMBERS else _NUMBER_WORDS.get(word, "")
