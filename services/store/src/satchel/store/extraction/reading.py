"""A text prepared for rules: cue words by place, and the clause around a place.

A rule is a cue word and a pattern that must match where the cue begins. All words are found in one pass,
and patterns are tried only at cues, so the cost grows with the text and not with text times rules. Patterns
must be bounded: no unlimited repeat that can be entered from many starts.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from satchel.runtime.folding import normalise
from satchel.store.extraction.normal import LOWER, same_length_lower

REACH = 300  # code points looked at on either side of a cue
_HITS = 512  # cues tried per rule set; the longest text has about 12,000 words

_STRAIGHT = str.maketrans({"\u2019": "'", "\u02bc": "'", "\uff1a": ":", "\xa0": " ", "\u202f": " "})
_WORD = re.compile(r"[^\W_]+")
_SPACES = re.compile(r"\s+")
_HANGING = " ,;:!?\"'«»“”*-\u2013—=>"
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]{0,200}(?:[)\]]|$)")
_BULLETS = re.compile(r"(?:[ \t]{0,8}\n[ \t]{0,8}(?:[-*•\u2013]|\d{1,2}[.)])[ \t]{1,8}[^\n]{1,200}){1,12}")
_BULLET = re.compile(r"\n[ \t]*(?:[-*•\u2013]|\d{1,2}[.)])[ \t]+")
# A single line break before a small letter is a wrapped line, not an end.
_STOP = re.compile(
    rf"[.!?;…](?=[\"'»”\u2019)\]]{{0,4}}(?:\s|$))|[。！？；]|\n(?![ \t]{{0,8}}[{LOWER}])|\n[ \t\r]{{0,8}}\n"  # noqa: RUF001
)
_ABBREVIATION = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|cf|dr|mr|mrs|ms|mme|mlle|prof|st|no|approx|ex|p\.ex)\.$|\bM\.$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, its lower case with the same offsets, and where each word begins, in text order.

    In ``lower`` typographic apostrophes, wide colons and no-break spaces are replaced by the plain ones.
    """

    text: str
    lower: str
    starts: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, text: str) -> Self:
        """Normalise and index ``text``; any `str` will do."""
        composed = normalise(text)
        lower = same_length_lower(composed).translate(_STRAIGHT)
        starts: defaultdict[str, list[int]] = defaultdict(list)
        for match in _WORD.finditer(lower):
            starts[match.group()].append(match.start())
        return cls(composed, lower, dict(starts))

    def matches(
        self, rules: Mapping[str, re.Pattern[str]], *, cased: bool = False
    ) -> Iterator[re.Match[str]]:
        """Yield the match of each rule at its cue, in text order.

        ``rules`` maps a lower-case cue to its pattern, which sees the lower-case text, or the text as
        written when ``cased``.
        """
        source = self.text if cased else self.lower
        found = rules.keys() & self.starts.keys()  # walks the shorter of the two
        places = sorted((start, cue) for cue in found for start in self.starts[cue][:_HITS])
        for start, cue in places[:_HITS]:
            if match := rules[cue].match(source, start):
                yield match

    def has_any(self, words: frozenset[str]) -> bool:
        """Tell whether one of these lower-case words occurs."""
        return not words.isdisjoint(self.starts)

    def before(self, place: int, length: int = 60, *, cased: bool = False) -> str:
        """Return up to ``length`` code points that stand before ``place``."""
        return (self.text if cased else self.lower)[max(0, place - length) : place]

    def clause_end(self, start: int) -> int:
        """Return where the sentence or line that holds ``start`` ends, at most `REACH` further on."""
        limit = min(len(self.text), start + REACH)
        for match in itertools.islice(_STOP.finditer(self.text, start, limit), 20):
            if match.group() != "." or not _ABBREVIATION.search(
                self.text, max(0, match.start() - 8), match.end()
            ):
                return match.start()
        return limit

    def clause_start(self, place: int) -> int:
        """Return where the sentence or line that holds ``place`` begins, at most `REACH` back."""
        start = max(0, place - REACH)
        for match in _STOP.finditer(self.text, start, place):
            if match.group() != "." or not _ABBREVIATION.search(
                self.text, max(0, match.start() - 8), match.end()
            ):
                start = match.end()
        return start

    def listed(self, start: int) -> str:
        """Return what follows a label: its sentence, or the bulleted lines below it, joined by ``;``."""
        limit = start + REACH
        if bullets := _BULLETS.match(self.text, start):
            return ";".join(_BULLET.split(bullets.group())[1:])
        start += len(self.text[start:limit]) - len(self.text[start:limit].lstrip())
        return self.text[start : self.clause_end(start)]


def tidy(text: str) -> str:
    """Collapse white space and drop punctuation that hangs at the ends."""
    return _SPACES.sub(" ", text).lstrip(_HANGING).rstrip(_HANGING + ".")


def unbracket(text: str) -> str:
    """Drop what stands in round or square brackets."""
    return _BRACKETS.sub("", text)


def unique(values: Iterator[str], limit: int) -> tuple[str, ...]:
    """Return the first ``limit`` distinct non-empty values, compared without case, in order."""
    seen: dict[str, str] = {}
    for value in values:
        if value:
            seen.setdefault(value.casefold(), value)
        if len(seen) == limit:
            break
    return tuple(seen.values())
