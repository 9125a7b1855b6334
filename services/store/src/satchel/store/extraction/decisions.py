"""The decision that a text states, in English and French, active, passive, future or labelled."""

import re

from satchel.store.extraction.alternatives import instead_starts
from satchel.store.extraction.phrases import clip
from satchel.store.extraction.reading import Reading
from satchel.store.extraction.reasons import reason_cues

_ADVERB = r"(?:(?:finally|already|just|also|now|all|then|both|eventually|ultimately|have|has|had)\s+){0,3}"
_DENIED = re.compile(r"(?:\b(?:not|never|if|whether|to be|jamais|pas)|n't)\s+(?:yet\s+|been\s+|have\s+)?$")
_WHO = re.compile(
    r"(?:\b(?:we|i|they|he|she|you|who|team|board|group|committee|management|company|cto|ceo|cfo|lead|project)"
    rf"|'(?:ve|d))\s+{_ADVERB}$"
)
_PASSIVE_BE = re.compile(r"\b(?:was|were|is|are|been|being|got)\s+(?:finally\s+|also\s+)?$")
_PERSON_BE = re.compile(r"\b(?:he|she|i|they|we|you)\s+(?:was|were|is|are|has been|have been|got)\s+")
_AVOIR = re.compile(
    r"(?:\b(?:avons|ai|a|as|ont|avez)|j'ai)\s+(?:(?:finalement|donc|enfin|aussi|tous|ensemble|déjà)\s+)?$"
)
_ETRE = re.compile(r"\b(?:été|est|sont|sera|seront)\s+(?:(?:finalement|donc|enfin)\s+)?$")
_GOING = re.compile(r"(?:\b(?:we|i|team|they)(?:\s+(?:are|am|is))?|'(?:re|m))\s+$")
_ALLONS = re.compile(r"\b(?:nous allons|on va|je vais|équipe va|ils vont)\s+(?:donc\s+|maintenant\s+)?$")

_ADOPT = (
    r"(?:now\s+|therefore\s+)?(?P<said>(?:use|adopt|migrate|switch\s+to|go\s+with|standardi[sz]e\s+on)\s+)"
)
_QUE = r"(?:de\s+|d'\s*|que\s+|qu'\s*|pour\s+)"
_CHOICE_OBJECT = re.compile(
    r"(?:chosen|selected|adopted|picked|recommended)\s+"
    r"(?!(?:up|me|him|her|us|them|out|it up|it to|this|an?)\b)(?:to\s+)?"
)
_CHOICE_PASSIVE = re.compile(
    r"(?:chosen|selected|adopted|picked)\b(?!\s+(?:up|out)\b)(?P<role>\s+(?:as|for|over|to)\b)?"
)
_FR_OBJECT = re.compile(
    rf"(?:choisi|retenu|adopté|sélectionné)(?:e|s|es)?\s+(?!par\b|pour\b|comme\b)(?:{_QUE})?"
)
_FR_PASSIVE = re.compile(r"(?:choisi|retenu|adopté|sélectionné)(?:e|s|es)?\b(?P<role>\s+(?:pour|comme)\b)?")
_FR_DECIDED = re.compile(
    rf"(?:(?:décidé|convenu)\s+(?=ne pas|{_QUE}){_QUE}|(?:opté|tranché)\s+(?:pour|en\s+faveur\s+de)\s+)"
)

_LABELLED = re.compile(
    r"(?:decisions?|choice|décisions?|choix|decided|décidé)(?:\s+(?:made|taken|prise|final|finale))?\s*[:=]\s*"
    r"|(?:decision|choice)\s+(?:is|was)\s+(?:made\s+|taken\s+)?to\s+"
    r"|(?:décision|choix)\s+(?:est|a\s+été\s+prise|a\s+été\s+fait)\s+(?:de\s+|d'\s*)"
)
_DECIDED = re.compile(
    r"(?:decided\s+(?:(?=not\s+to\b|against\b)|to\s+|that\s+|on\s+|in\s+favou?r\s+of\s+)|agreed\s+(?:to|on|that)\s+|opted\s+(?:for|to)\s+|settled\s+(?:on|for)\s+)"
)
_CHOSE = re.compile(r"chose\s+(?:to\s+)?")
_WILL = re.compile(rf"(?:(?:will|shall|ll)\s+|going\s+to\s+){_ADOPT}")
_LETS = re.compile(rf"let'?s\s+{_ADOPT}")
_FR_WILL = re.compile(
    r"(?:utiliser|adopter|utiliserons|adopterons|choisissons)\s+|(?:migrer|passer|basculer|migrerons|passerons)\s+(?:vers|à|sur)\s+"
)

_FR_PARTICIPLES = {
    f"{stem}{ending}"
    for stem in ("choisi", "retenu", "adopté", "sélectionné")
    for ending in ("", "e", "s", "es")
}
_ANY = re.compile(r"\w+")
_ATTRIBUTIVE = (
    [],
    *([word] for word in ("the", "a", "an", "be", "have", "has", "had", "being", "if", "not", "and")),
)
_DECISION_CUES = dict.fromkeys(
    {
        *(
            "decision",
            "decisions",
            "choice",
            "décision",
            "décisions",
            "choix",
            "decided",
            "décidé",
            "agreed",
            "opted",
        ),
        *(
            "settled",
            "chose",
            "chosen",
            "selected",
            "adopted",
            "picked",
            "recommended",
            "will",
            "shall",
            "ll",
        ),
        *("going", "let", "lets", "convenu", "opté", "tranché", "utiliser", "adopter", "migrer", "passer"),
        *("basculer", "utiliserons", "adopterons", "choisissons", "migrerons", "passerons", *_FR_PARTICIPLES),
    },
    _ANY,
)


def find_decision(reading: Reading) -> tuple[str, int] | None:
    """Return the first decision and where it stands, or None.

    The decision ends with its sentence, or before its reason or the alternative it replaces.
    """
    for cue in reading.matches(_DECISION_CUES):
        start = _decision_start(reading, cue.start())
        if start is None:
            continue
        decision = clip(reading.text[start : _decision_end(reading, max(start, cue.end()))])
        if decision:
            return decision, start
    return None


def first_sentence(reading: Reading) -> tuple[str, int]:
    """Return the first sentence and where it begins; empty for a text without words."""
    start = next((places[0] for places in reading.starts.values()), 0)
    return clip(reading.text[start : reading.clause_end(start)]), start


def _decision_start(reading: Reading, place: int) -> int | None:
    """Return where the decision that this cue announces begins, or None if it announces none."""
    lower, before = reading.lower, reading.before(place)
    if label := _LABELLED.match(lower, place):
        return label.end()
    if _DENIED.search(before):
        return None
    if match := _DECIDED.match(lower, place):
        return match.end()
    if match := _FR_DECIDED.match(lower, place):
        return match.end()
    starts = (find(reading, place, before) for find in (_future_start, _chosen_start, _retained_start))
    return next((start for start in starts if start is not None), None)


def _future_start(reading: Reading, place: int, before: str) -> int | None:
    lower = reading.lower
    if match := _LETS.match(lower, place):
        return match.start("said")
    if (match := _WILL.match(lower, place)) and (_GOING.search(before) or before.endswith("'")):
        return match.start("said")
    if (match := _FR_WILL.match(lower, place)) and (
        match.group().strip().endswith("ons") or _ALLONS.search(before)
    ):
        return match.start()
    return None


def _chosen_start(reading: Reading, place: int, before: str) -> int | None:
    """Read the English verbs of choice: "we chose X", "X was chosen", "X chosen for Y"."""
    acted = bool(_WHO.search(before))
    if match := _CHOSE.match(reading.lower, place):
        named = reading.before(place, cased=True).split()[-1:]
        return match.end() if acted or (named and named[0][0].isupper()) else None
    direct, passive = (rule.match(reading.lower, place) for rule in (_CHOICE_OBJECT, _CHOICE_PASSIVE))
    if passive and _PASSIVE_BE.search(before):
        return None if _PERSON_BE.search(before) else _whole(reading, place)
    if passive and passive["role"] and not acted:
        return _whole(reading, place) if before.split()[-1:] not in _ATTRIBUTIVE else None
    return direct.end() if direct and acted else None


def _retained_start(reading: Reading, place: int, before: str) -> int | None:
    """Read the French participles of choice: "on a choisi X", "X a été retenu", "X retenu pour Y"."""
    match = _FR_PASSIVE.match(reading.lower, place)
    if not match:
        return None
    acted = bool(_AVOIR.search(before))
    if _ETRE.search(before) or (match["role"] and not acted):
        return _whole(reading, place)
    direct = _FR_OBJECT.match(reading.lower, place)
    return direct.end() if direct and acted else None


def _whole(reading: Reading, place: int) -> int:
    start = reading.clause_start(place)
    return start + len(reading.text[start:place]) - len(reading.text[start:place].lstrip(" \t\n-*•"))


def _decision_end(reading: Reading, start: int) -> int:
    end = reading.clause_end(start)
    cuts = [cue.start for cue in reason_cues(reading)] + instead_starts(reading)
    return min((cut for cut in cuts if start < cut < end), default=end)
