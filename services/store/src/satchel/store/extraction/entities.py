"""Names, acronyms, identifiers, e-mail addresses and URLs, in order of first appearance.

A capital inside a sentence makes a name, and neighbouring names are one ("New York"). At the start of a
sentence any word has a capital, so there a word counts only if it is known, is a speaker ("Caroline: ..."),
is written like a product ("PostgreSQL"), or is a name elsewhere in the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from satchel.store.extraction.gazetteer import (
    COMMON_NOUNS,
    FIRST_NAMES,
    LABELS,
    NOT_ACRONYMS,
    ORDINARY,
    ORGANISATIONS,
    PLACES,
    TECHNOLOGIES,
)
from satchel.store.extraction.normal import LOWER, UPPER
from satchel.store.extraction.reading import Reading

_LIMIT = 64
_LONGEST_NAME = 50
_LONGEST = 120  # code points; a longer token is data, not a name

_WORD = (
    rf"(?P<word>(?:O['\u2019](?=[{UPPER}]))?[{UPPER}{LOWER}\d_]++"
    rf"(?:[-.][{UPPER}{LOWER}\d_]++|/(?=[A-Z\d])[{UPPER}{LOWER}\d_]++)*+)"
)
_TOKEN = re.compile(
    r"(?P<url>\b(?:https?|ftp)://[^\s<>\"'`|\\^{}]+)"
    r"|(?P<email>(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6})"
    rf"|{_WORD}"
)
_ONLY_WORDS = re.compile(_WORD)
_GAP_STARTS = re.compile(r"[.!?:;…。！？\n\"“«¿¡•|>]|[-–—*]\s")  # noqa: RUF001 - dashes and quotes open a sentence
_LETTER = re.compile(r"[^\W_]")
_ELISION = frozenset({"l", "d", "j", "n", "s", "t", "m", "c", "qu"})
_APOSTROPHES = ("'", "\u2019")
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "mme", "m", "prof", "st"})
_CODE = re.compile(r"(?=[^_]{0,60}[\d_])[^\W\d_][^\W_]*(?:[-_./][^\W_]+)+|[^\W\d_]+\d[^\W_]*")
_VERSION = re.compile(r"[vV]\d+(?:\.\d+)*")
_CAMEL = re.compile(rf"[{UPPER}]?[{LOWER}]+[{UPPER}]\w*|[{UPPER}]{{2,}}[{LOWER}]{{2,}}\w*")
_ACRONYM = re.compile(rf"[{UPPER}][{UPPER}\d]{{1,9}}(?:[-/][{UPPER}\d]{{1,9}}){{0,2}}")
_SHOUT = re.compile(rf"\b[{UPPER}]{{1,20}}+(?: [{UPPER}]{{1,20}}+\b){{2,}}")
_SPEAKER = re.compile(
    rf"(?m)^[ \t]{{0,4}}(?P<name>[{UPPER}][\w'-]{{1,30}}(?: [{UPPER}][\w'-]{{1,30}})?):[ \t]"
)
_KNOWN = TECHNOLOGIES | ORGANISATIONS | PLACES
_NO_SPEAKERS = LABELS | ORDINARY
_KNOWN_ANYWHERE = _KNOWN - COMMON_NOUNS
_VERBS = re.compile(
    r"\s(?:said|says|told|asked|asks|wants|wanted|thinks|thought|prefers|prefer|likes|loves|hates|works"
    r"|lives|moved|joined|approved|validated|suggested|proposed|agreed|mentioned|reported|explained|confirmed"
    r"|dit|veut|pense|préfère|travaille|habite|propose|a\s(?:dit|validé|approuvé|proposé))\b"
)


@dataclass(slots=True)
class _Mention:
    """A candidate: ``kind`` is name, acronym or token; ``sure`` is false at the start of a sentence."""

    start: int
    end: int
    kind: str
    sure: bool


def find_entities(reading: Reading) -> tuple[str, ...]:
    """Return at most 64 distinct entities in order of first appearance, compared without case."""
    text = reading.text
    mentions = list(_joined(text, _mentions(text, speakers(reading))))
    inside = {text[mention.start : mention.end].casefold() for mention in mentions if mention.sure}
    shouted = _shouted(text) if any(mention.kind == "acronym" for mention in mentions) else frozenset()
    found: dict[str, str] = {}
    for mention in mentions:
        name = text[mention.start : mention.end]
        if mention.kind == "acronym" and mention.start in shouted:
            continue
        if mention.sure or name.casefold() in inside:
            found.setdefault(name.casefold(), name)
        if len(found) == _LIMIT:
            break
    return tuple(found.values())


def _shouted(text: str) -> frozenset[int]:
    """Return the places that lie in runs of words in capitals."""
    return frozenset(place for match in _SHOUT.finditer(text) for place in range(*match.span()))


def speakers(reading: Reading) -> frozenset[str]:
    """Return the names that stand before a colon at the start of a line, labels left out."""
    if ":" not in reading.text:
        return frozenset()
    names = {match["name"] for match in _SPEAKER.finditer(reading.text)}
    return frozenset(name for name in names if name.split(" ")[0].casefold() not in _NO_SPEAKERS)


def _mentions(text: str, speaking: frozenset[str]) -> Iterator[_Mention]:
    previous, last_word, elided = 0, "", False
    tokens = _TOKEN if "@" in text or "://" in text else _ONLY_WORDS
    for match in tokens.finditer(text):
        (start, end), token = match.span(), match.group()
        lower = token.casefold()
        if lower in _ELISION and text[end : end + 1] in _APOSTROPHES:
            elided = True  # "l'API": the article is no word of its own
            continue
        if token.isalpha() and token.islower():  # most words; no name by any rule below
            previous, last_word, elided = end, lower, False
            continue
        gap = text[previous:start] if start - previous <= _LONGEST else "\n"
        initial = _opens(gap, last_word) if previous else not _LETTER.search(gap) or elided
        suffix = gap in _APOSTROPHES
        if match["word"] is None:
            yield _Mention(start, start + len(token.rstrip(".,;:!?)]}*_")), "token", sure=True)
        elif not suffix and end - start <= _LONGEST and (kind := _kind(token)):
            sure = not initial or kind == "token" or _recognised(text, token, end, speaking)
            yield _Mention(start, end, kind, sure)
        previous, last_word, elided = end, lower, False


def _opens(gap: str, last_word: str) -> bool:
    """Tell whether a sentence begins after this gap; "Dr. " opens none."""
    return bool(_GAP_STARTS.search(gap)) and last_word not in _TITLES


def _kind(token: str) -> str | None:
    """Classify a word by its letters: ``name``, ``acronym``, ``token`` (code), or None."""
    if token.isalpha() and token[0].isupper() and token[1:].islower():
        return None if token.casefold() in ORDINARY else "name"
    if len(token) == 1 or token.casefold() in ORDINARY or _VERSION.fullmatch(token):
        return None
    if _ACRONYM.fullmatch(token):
        return None if token in NOT_ACRONYMS else "acronym"
    if _CODE.fullmatch(token) or _CAMEL.fullmatch(token) or _snake(token):
        return "token"
    return "name" if token[0].isupper() and not token.isupper() and not token[-1].isdigit() else None


def _snake(token: str) -> bool:
    return "_" in token.strip("_") and token.strip("_").isascii()


def _recognised(text: str, token: str, end: int, speaking: frozenset[str]) -> bool:
    """Tell whether a word that opens a sentence is a name all the same."""
    if (
        token in FIRST_NAMES
        or token.casefold() in _KNOWN_ANYWHERE
        or any(token in name.split(" ") for name in speaking)
    ):
        return True
    return (token.isupper() and len(token) > 1) or bool(_VERBS.match(text, end))


def _joined(text: str, mentions: Iterator[_Mention]) -> Iterator[_Mention]:
    """Join names that only one space parts."""
    current: _Mention | None = None
    for mention in mentions:
        if current and text[current.end : mention.start] == " " and _belong(text, current, mention):
            current.end, current.sure = mention.end, True
            continue
        if current:
            yield current
        current = mention
    if current:
        yield current


def _belong(text: str, first: _Mention, second: _Mention) -> bool:
    """Tell whether two neighbours are one name.

    A doubtful first word ("Visit Paris", "Grace Hopper said") joins only an unknown name that acts.
    """
    if not first.kind == second.kind == "name" or second.end - first.start > _LONGEST_NAME:
        return False
    if text[first.start : first.end].casefold() in _KNOWN:
        return False
    name = text[second.start : second.end]
    unknown = name not in FIRST_NAMES and name.casefold() not in _KNOWN
    return first.sure or (unknown and bool(_VERBS.match(text, second.end)))
