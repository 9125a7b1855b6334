"""What kind of memory a text is, when its writer does not say.

Rules in order, the first that holds: debug log, decision, preference, error report, fact; otherwise a
session note. Words count whole ("likely" states no preference).
"""

import re
from enum import StrEnum

from satchel.runtime.stopwords import word_set
from satchel.store.extraction.normal import UPPER
from satchel.store.extraction.reading import Reading


class Kind(StrEnum):
    """The five types of memory; the value is the public name."""

    DECISION = "decision"
    FACT = "fact"
    PREFERENCE = "preference"
    SESSION_NOTE = "session_note"
    DEBUG_LOG = "debug_log"


_DECLARED = frozenset(kind.value for kind in Kind)

_TRACE_LINE = re.compile(
    r"(?m)^[ \t]{0,16}(?:at [\w.$<>]{1,120} ?\(|at (?:async )?/?[\w./-]{1,120}:\d"
    r"|File \"[^\"\n]{1,200}\", line \d"
    r"|goroutine \d{1,9} \[|panic: |thread '[^'\n]{1,60}' panicked|Caused by: \w|\d{1,3}: 0x[0-9a-f]{4})"
)
_LEVEL = r"(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC|WARN|WARNING|INFO|DEBUG|TRACE|NOTICE|ERR|E|W)"
_LOG_LINE = re.compile(
    r"(?m)^[ \t]{0,8}(?:\[?(?:ERROR|FATAL|CRITICAL)\b[\]:]?[ \t]|\[?(?:DEBUG|TRACE)(?:\]|:|[ ][-|])"
    rf"|\W{{0,3}}(?:\d{{4}}[-/]\d\d[-/]\d\d[T ]|\w{{3}} [ \d]\d )?\d\d:\d\d:\d\d[^\n]{{0,60}}?\b{_LEVEL}\b)"
)
_EXCEPTION = rf"(?:[a-z_]{{1,30}}\.){{0,6}}[{UPPER}]\w{{0,60}}(?:Error|Exception)"
_EXCEPTION_LINE = re.compile(
    rf"(?m)^[ \t]{{0,8}}(?:Exception in thread |Uncaught |Unhandled )?{_EXCEPTION}(?::|$)"
)
_EXCEPTION_NAME = re.compile(rf"(?<![\w.]){_EXCEPTION}\b")
_FAILURE = word_set(
    """
    raised raises raise threw throws thrown failed fails fail failure crash crashed crashes line stack
    debug bug traceback occurred exited plante planté échoue échoué levée lève erreur ligne
    """
)
# Words without which a pattern cannot match: looking them up is much cheaper than to search.
_TRACE_WORDS = word_set("at file goroutine panic thread caused")
_LEVEL_WORDS = word_set("error fatal critical severe panic warn warning info debug trace notice err e w")
_CRASH_PARTS = ("segmentation", "segfault", "core dumped", "stack", "exit", "out of memory", "oomkilled")
_CRASH = re.compile(
    r"segmentation fault|segfault|core dumped|stack ?trace|exit(?:ed with)? code \d|out of memory|oomkilled"
)


def infer_kind(reading: Reading, *, declared: str | None, decided: bool) -> Kind:
    """Return the declared kind, or infer it; an unknown declared name is treated as none.

    ``decided`` says that the text states a decision.
    """
    if declared in _DECLARED:
        return Kind(declared)
    if _is_log(reading):
        return Kind.DEBUG_LOG
    if decided:
        return Kind.DECISION
    if _is_preference(reading):
        return Kind.PREFERENCE
    if _is_failure(reading):
        return Kind.DEBUG_LOG
    return Kind.FACT if _is_fact(reading) else Kind.SESSION_NOTE


def _is_log(reading: Reading) -> bool:
    text = reading.text
    return (
        "Traceback (most recent call last)" in text
        or ((reading.has_any(_TRACE_WORDS) or ": 0x" in text) and bool(_TRACE_LINE.search(text)))
        or (reading.has_any(_LEVEL_WORDS) and bool(_LOG_LINE.search(text)))
        or (_names_error(text) and bool(_EXCEPTION_LINE.search(text)))
    )


def _is_failure(reading: Reading) -> bool:
    if any(part in reading.lower for part in _CRASH_PARTS) and _CRASH.search(reading.lower):
        return True
    return (
        _names_error(reading.text)
        and reading.has_any(_FAILURE)
        and bool(_EXCEPTION_NAME.search(reading.text))
    )


def _names_error(text: str) -> bool:
    return "Error" in text or "Exception" in text


_PREFERRING = word_set(
    """
    prefer prefers preferred preference preferences dislike dislikes disliked favourite favorite préfère
    préfères préfèrent préférons préférez préférait préférence préférences préféré préférée déteste
    détestent
    """
)
_ADVERB = (
    r"(?:(?:really|also|always|still|usually|generally|absolutely|just|do|does|don't|doesn't|would)\s+){0,2}"
)
_LIKING = re.compile(
    rf"\b(?:i|we|you|they|users|customers|clients|people|[a-z]{{2,20}} and [a-z]{{2,20}})\s+{_ADVERB}$"
)
_NOT_LIKING = re.compile(
    r"\b(?:would|what|how'd|did|looks?|feels?|sounds?|seems?|\w{1,9}'d)\s+(?:they\s|you\s|we\s|i\s)?$"
)
_LIKED = r"(?!this\s*[:,]|that\s*[:,.]|(?:it was|you said|i said|crazy|of|for|was|were|is|are|and)\b)\w"
_LIKES = dict.fromkeys(("like", "love", "hate", "enjoy"), re.compile(rf"\w+\s+{_LIKED}"))
_SINGULAR_LIKES = dict.fromkeys(
    ("likes", "loves", "hates", "enjoys"), re.compile(rf"(?<=[a-zé]\s)\w+\s+{_LIKED}")
)
_RATHER = {
    "rather": re.compile(r"(?<=\w'd )rather\s+(?!than)\w|(?<=would )rather\s+\w"),
    "aime": re.compile(r"aime\s+\w"),
    "adore": re.compile(r"adore\s+\w"),
}
_PREFERENCES = {**_RATHER, **_SINGULAR_LIKES}


def _is_preference(reading: Reading) -> bool:
    if reading.has_any(_PREFERRING) or any(True for _ in reading.matches(_PREFERENCES)):
        return True
    return any(_likes(reading.before(match.start(), 40)) for match in reading.matches(_LIKES))


def _likes(before: str) -> bool:
    return bool(_LIKING.search(before)) and not _NOT_LIKING.search(before)


_STATES = word_set(
    """
    is are was were has have contains contain equals equal means mean requires require supports support
    runs run uses use costs cost weighs weigh measures measure est sont était étaient ont contient
    contiennent vaut valent signifie nécessite nécessitent supporte supportent tourne utilise utilisent
    coûte coûtent pèse mesure
    """
)
_DATA = re.compile(
    r"\d{2}|\b(?:true|false|vrai|faux)\b|\bv\d{1,4}\.\d|\bversion\s\d|\bport\s\d|https?://|\b[a-z]{1,20}\d"
)
_EPISODE = word_set(
    """
    today yesterday tonight tomorrow discussed discussion meeting talked chatted session i we you my me
    aujourd hier demain réunion discuté parlé je nous vous
    """
)
_NAMED_STATE = dict.fromkeys(
    word_set(
        "is are uses use requires require supports support runs contains means"
        " est sont utilise utilisent nécessite supporte contient tourne"
    ),
    re.compile(rf"\w+(?:\s+on)?(?:\s+[\w'-]{{1,30}}){{0,2}}?\s+[{UPPER}]\w"),
)


def _is_fact(reading: Reading) -> bool:
    """Tell whether a state is given with a datum, or, outside a told episode, with a name."""
    if reading.has_any(_STATES) and _DATA.search(reading.lower):
        return True
    return not reading.has_any(_EPISODE) and any(True for _ in reading.matches(_NAMED_STATE, cased=True))
