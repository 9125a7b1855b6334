"""Reasons, in English and French.

A cue counts only in a construction that carries its meaning: "as" and "since" in particular have other
uses, so "was deployed", "as a service" and "since Monday" give no reason.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from satchel.store.extraction.phrases import SEPARATOR, clip, cut
from satchel.store.extraction.reading import Reading, unbracket, unique

_MAX_REASONS = 12
_MAX_CUES = 64
_SHORT_WORDS = 4

_NOT_TEMPORAL = (
    r"(?!then\b|ever\b|when\b|last\b|yesterday\b|early\b|late\b|mid\b|childhood\b|birth\b|before\b|\d"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)\b|the (?:age|beginning|start|early|late|last|day|time|\d)"
    r"|(?:i|we|you|they|he|she) (?:was|were|last|first|started|began|talked|spoke|chatted|met|moved"
    r"|joined|left|caught)\b|(?:his|her|their|my|our|its) (?:last|birth|creation|launch|start)\b"
    r"|version\b|v\d)"
)
_SUBJECT_NEXT = r"(?=(?:it|they|we|he|she|this|there|our|its|i)\b)"
_FRENCH_NEXT = (
    r"(?=(?:il|elle|nous|vous|ils|elles|le|la|les|ce|cela|ça|je|une?|notre|nos|cette|cet)\b|(?:l|c|j|d)')"
)

_RULES = {
    "because": re.compile(r"because(?: of)?\s+"),
    "due": re.compile(r"due to\s+"),
    "owing": re.compile(r"owing to\s+"),
    "since": re.compile(rf"since\s+{_NOT_TEMPORAL}"),
    "as": re.compile(rf"(?<=, )as\s+{_SUBJECT_NEXT}"),
    "parce": re.compile(r"parce\s+qu(?:e\s+|'\s*)"),
    "puisque": re.compile(r"puisque\s+"),
    "puisqu": re.compile(r"puisqu'\s*"),
    "car": re.compile(rf"car\s+{_FRENCH_NEXT}|(?<=, )car\s+(?=on\b)"),
    "raison": re.compile(r"(?<=en )raison\s+(?:de\s+|du\s+|des\s+|d'\s*)|raison\s*:[ \t]*"),
    "cause": re.compile(r"(?<=à )cause\s+(?:de\s+|du\s+|des\s+|d'\s*)"),
    "grâce": re.compile(r"grâce\s+(?:à\s+|au\s+|aux\s+)"),
    "étant": re.compile(r"étant\s+donné\s+(?:que\s+|qu'\s*)?"),
    "reason": re.compile(r"reason\s*(?::[ \t]*|(?:is|was)(?:\s+that)?\s+)"),
    "reasons": re.compile(r"reasons\s*(?::[ \t]*|(?:are|were)\s+)"),
    "raisons": re.compile(r"raisons\s*:[ \t]*"),
    "rationale": re.compile(r"rationale\s*:[ \t]*"),
    "justification": re.compile(r"justification\s*:[ \t]*"),
    "motif": re.compile(r"motifs?\s*:[ \t]*"),
    "why": re.compile(r"why\s*:[ \t]*"),
    "pourquoi": re.compile(r"pourquoi\s*:[ \t]*"),
}
_OPENERS = frozenset({"", "en", "à"})
_CONSEQUENCE = re.compile(r",\s*(?:we|i|they|he|she|the team|so|therefore|nous|on|je|donc|l'équipe)\b")
_STILL_TEMPORAL = re.compile(r"(?:\bever|\blong|\bbeen [^.,;]{1,40}|\bago),?\s+$")


class Cue(NamedTuple):
    """One stated reason: where its cue begins, where its text begins, and whether the cue is a label."""

    start: int
    text_start: int
    labelled: bool


def reason_cues(reading: Reading) -> list[Cue]:
    """Return the cue of every stated reason, in text order."""
    return [
        Cue(match.start(), match.end(), match.group().rstrip().endswith(":"))
        for match in reading.matches(_RULES)
        if not (match.group().startswith("since") and _STILL_TEMPORAL.search(reading.before(match.start())))
    ][:_MAX_CUES]


def find_reasons(reading: Reading) -> tuple[str, ...]:
    """Return the stated reasons; a labelled list of short items counts as several."""
    return unique(_reasons(reading), _MAX_REASONS)


def _reasons(reading: Reading) -> Iterator[str]:
    cues = reason_cues(reading)
    ends = [*(cue.start for cue in cues), len(reading.text)][1:]
    for cue, end in zip(cues, ends, strict=True):
        if cue.labelled:
            yield from _listed(reading.listed(cue.text_start))
            continue
        clause = reading.text[cue.text_start : min(end, reading.clause_end(cue.text_start))]
        opens_sentence = reading.lower[reading.clause_start(cue.start) : cue.start].strip() in _OPENERS
        yield clip(cut(clause, _CONSEQUENCE) if opens_sentence else clause)


def _listed(clause: str) -> Iterable[str]:
    """Split a list of short items; a sentence stays whole."""
    items = [clip(item) for item in SEPARATOR.split(unbracket(clause))]
    short = all(len(item.split()) <= _SHORT_WORDS for item in items)
    return items if short or ";" in clause else [clip(clause)]
