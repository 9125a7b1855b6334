"""What a text is about: what it says it is about, its domain words, then its names, then its words."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from satchel.runtime.stopwords import word_set
from satchel.store.extraction.gazetteer import LABELS, ORDINARY, TOPICS
from satchel.store.extraction.phrases import clip
from satchel.store.extraction.reading import Reading, unique

_MAX_SUBJECTS = 5
_MAX_TOPICS = 2
_MAX_NAMES = 3
_MAX_WORDS = 2
_PHRASE_WORDS = 4

_LABELLED = {
    word: re.compile(rf"{word}\s{{0,4}}:[ \t]{{0,4}}(?P<rest>[^\s:/])")
    for word in ("subject", "topic", "sujet", "thème", "objet", "re")
}
_ABOUT = {
    "about": re.compile(r"about\s{1,4}"),
    "regarding": re.compile(r"regarding\s{1,4}"),
    "concerning": re.compile(r"concerning\s{1,4}"),
    "concernant": re.compile(r"concernant\s{1,4}"),
    "propos": re.compile(r"(?<=à )propos\s(?:de\s|du\s|des\s|d')"),
    "sujet": re.compile(r"(?<=au )sujet\s(?:de\s|du\s|des\s|d')"),
}
_DETERMINERS = word_set(
    """
    the a an our my your his her its their this these le la les l un une des nos notre mon ma mes ce cette
    """
)
_GENERIC = word_set(
    """
    prefer prefers preferred preference préfère préfères préférons préfèrent like likes love loves aime
    adore chosen chose decided failed error looks want wants need needs have made make going
    """
)
_DULL = ORDINARY | LABELS | _GENERIC
_WORD = re.compile(r"[^\W_]+(?:[-'_.]?[^\W_]+)*+")
_LETTERS = re.compile(r"[^\W\d_]{4,40}")


def find_subjects(reading: Reading, *, names: Sequence[str], fallback: str) -> tuple[str, ...]:
    """Return one to five subjects, the most explicit first.

    ``names`` are the entities that may serve, best first; ``fallback`` is returned for a text that has
    neither subjects nor words.
    """
    found = unique(_subjects(reading, names), _MAX_SUBJECTS)
    return found or unique(_frequent(reading), _MAX_WORDS) or (fallback,)


def _subjects(reading: Reading, names: Sequence[str]) -> Iterator[str]:
    for match in reading.matches(_LABELLED):
        start = match.start("rest")
        yield clip(reading.text[start : min(reading.clause_end(start), start + 80)])
    for match in reading.matches(_ABOUT):
        yield _phrase(reading.text[match.end() : match.end() + 80])
    places = sorted((reading.starts[word][0], TOPICS[word]) for word in TOPICS.keys() & reading.starts.keys())
    yield from list(dict.fromkeys(topic for _, topic in places))[:_MAX_TOPICS]
    yield from names[:_MAX_NAMES]


def _phrase(text: str) -> str:
    """Return the words at the start of ``text`` up to a function word, number or punctuation."""
    words: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match.group()
        ordinary = word.casefold() in ORDINARY
        if ordinary and not words and not text[end : match.start()].strip(" '\u2019"):
            end = match.end()
            if word.casefold() in _DETERMINERS:
                continue
        if (
            ordinary
            or word[0].isdigit()
            or text[end : match.start()].strip(" '\u2019")
            or len(words) == _PHRASE_WORDS
        ):
            break
        words.append(word)
        end = match.end()
    return " ".join(words)


def _frequent(reading: Reading) -> Iterator[str]:
    """Yield the words that occur most, earliest first among equals."""
    counts = Counter(
        {
            word: len(starts)
            for word, starts in reading.starts.items()
            if word not in _DULL and _LETTERS.fullmatch(word)
        }
    )
    yield from (word for word, _ in counts.most_common(_MAX_WORDS))
