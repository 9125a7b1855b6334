"""Decision, rejected alternatives and reasons, in English and French.

Each finder returns text quoted from the memory. A cue counts only in a construction that carries its
meaning: "as" and "since" in particular have other uses, so "was deployed" and "since Monday" give no reason.
"""

import re
from collections.abc import Iterable, Iterator

from satchel.store.extraction.reading import Reading, tidy, unbracket, unique

_MAX_ITEMS = 12
_MAX_ITEM = 80
_MAX_CLAUSE = 200

# --- reasons --------------------------------------------------------------------------------------

_NOT_TEMPORAL = (
    r"(?!then\b|ever\b|when\b|last\b|yesterday\b|early\b|late\b|mid\b|childhood\b|birth\b|before\b|\d"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)\b|the (?:age|beginning|start|early|late|last|day|time|\d)"
    r"|(?:i|we) (?:was|were)\b|(?:his|her|their|my|our|its) (?:last|birth|creation|launch|start)\b|version\b|v\d)"
)
_SUBJECT_NEXT = r"(?=(?:it|they|we|he|she|this|there|our|its|i)\b)"
_FRENCH_NEXT = r"(?=(?:il|elle|nous|vous|ils|elles|on|le|la|les|ce|cela|ça|je|une?|notre|nos|cette|cet)\b|(?:l|c|j|d)['’])"  # noqa: RUF001

REASON_RULES = {
    "because": re.compile(r"because(?: of)?\s+"),
    "due": re.compile(r"due to\s+"),
    "owing": re.compile(r"owing to\s+"),
    "since": re.compile(rf"since\s+{_NOT_TEMPORAL}"),
    "as": re.compile(rf"(?<=, )as\s+{_SUBJECT_NEXT}"),
    "parce": re.compile(r"parce\s+qu(?:e\s+|['’]\s*)"),  # noqa: RUF001
    "puisque": re.compile(r"puisque\s+"),
    "puisqu": re.compile(r"puisqu['’]\s*"),  # noqa: RUF001
    "car": re.compile(rf"car\s+{_FRENCH_NEXT}"),
    "raison": re.compile(r"(?<=en )raison\s+(?:de\s+|du\s+|des\s+|d['’]\s*)|raison\s*:\s*"),  # noqa: RUF001
    "cause": re.compile(r"(?<=à )cause\s+(?:de\s+|du\s+|des\s+|d['’]\s*)"),  # noqa: RUF001
    "grâce": re.compile(r"grâce\s+(?:à\s+|au\s+|aux\s+)"),
    "étant": re.compile(r"étant\s+donné\s+(?:que\s+|qu['’]\s*)?"),  # noqa: RUF001
    "reason": re.compile(r"reason\s*(?::|(?:is|was)(?:\s+that)?\s)\s*"),
    "reasons": re.compile(r"reasons\s*(?::|are\s|were\s)\s*"),
    "raisons": re.compile(r"raisons\s*:\s*"),
    "rationale": re.compile(r"rationale\s*:\s*"),
    "justification": re.compile(r"justification\s*:\s*"),
    "motif": re.compile(r"motifs?\s*:\s*"),
    "why": re.compile(r"why\s*:\s*"),
    "pourquoi": re.compile(r"pourquoi\s*:\s*"),
}
_CONSEQUENCE = re.compile(r",\s*(?:we|i|they|he|she|the team|so|therefore|nous|on|je|donc|l['’]équipe)\b")  # noqa: RUF001
_STILL_TEMPORAL = re.compile(r"(?:\bever|\blong|\bbeen [^.,;]{1,40}|\bago)\s+$")


def reason_spans(reading: Reading) -> list[tuple[int, int]]:
    """Return (cue start, reason start) of every stated reason, in text order."""
    return [
        (match.start(), match.end())
        for match in reading.matches(REASON_RULES)
        if not (match.group().startswith("since") and _STILL_TEMPORAL.search(reading.before(match.start())))
    ][:64]


def find_reasons(reading: Reading) -> tuple[str, ...]:
    """Return the stated reasons; a labelled list of short items counts as several."""
    return unique(_reasons(reading), _MAX_ITEMS)


def _reasons(reading: Reading) -> Iterator[str]:
    spans = reason_spans(reading)
    cues = [cue for cue, _ in spans]
    for cue, start in spans:
        clause = reading.listed(start)
        following = min((other for other in cues if other >= start), default=start + len(clause))
        clause = clause[: max(0, following - start)] if "\n" not in clause else clause
        if reading.lower[start - 2 : start].rstrip().endswith(":") or ";" in clause:
            yield from _split_short(clause)
            continue
        opens_sentence = not reading.text[reading.clause_start(cue) : cue].strip()
        yield _clip(_cut(clause, _CONSEQUENCE) if opens_sentence else clause)


def _split_short(clause: str) -> Iterable[str]:
    parts = [_clip(part) for part in _SEPARATOR.split(unbracket(clause))]
    return parts if all(len(part.split()) <= 4 for part in parts) or ";" in clause else [_clip(clause)]  # noqa: PLR2004


# --- rejected alternatives ------------------------------------------------------------------------

_PARTICIPLE = r"(?:rejected|discarded|excluded|dismissed|ruled\s+out|(?:rejeté|écarté|exclu|refusé|abandonné)e?s?)"
_LABEL = re.compile(rf"{_PARTICIPLE}(?:\s+(?:options?|alternatives?|choices?|candidates?))?\s*[:：]\s*")  # noqa: RUF001
_VERB = re.compile(rf"{_PARTICIPLE}\s+(?!by\b|par\b|in\b|as\b|from\b|because\b|for\b|due\b|car\b|pour\b|en\b|out\b)")
_BARE = re.compile(rf"{_PARTICIPLE}\b")
_INSTEAD = {
    "rather": re.compile(r"rather\s+than\s+(?:using\s+|to\s+)?"),
    "instead": re.compile(r"instead\s+of\s+(?:using\s+)?"),
    "plutôt": re.compile(r"plutôt\s+qu(?:e\s+(?:de\s+|d['’])?|['’]\s*)"),  # noqa: RUF001
    "lieu": re.compile(r"(?<=au )lieu\s+(?:de\s+|du\s+|des\s+|d['’]\s*)"),  # noqa: RUF001
    "place": re.compile(r"(?<=à la )place\s+(?:de\s+|du\s+|des\s+|d['’]\s*)"),  # noqa: RUF001
    "against": re.compile(r"(?<=decided )against\s+(?:using\s+)?"),
    "over": re.compile(r"over\s+(?!the\s+(?:next|past|last|week|year|holiday|course|summer|winter)|\d|time\b|there\b|all\b|to\b)"),
}
_PARTICIPLES = {
    cue: _BARE
    for stem in ("rejeté", "écarté", "exclu", "refusé", "abandonné")
    for cue in (stem, f"{stem}e", f"{stem}s", f"{stem}es")
} | dict.fromkeys(("rejected", "discarded", "excluded", "dismissed", "ruled"), _BARE)

_CHOOSING = re.compile(r"\b(?:chose|chosen|picked|selected|prefer(?:s|red|ence)?|opted|favou?r(?:s|ed)?|decided)\b[^.;!?\n]{1,80}$")
_AGENT = re.compile(r"(?:\b(?:we|i|they|he|she|team|board|committee|avons|ai|a|ont|have|has|had)|['’]ve)\s+(?:also\s+|aussi\s+)?$")  # noqa: RUF001
_PASSIVE = re.compile(r"\s+(?:was|were|is|are|has been|have been|a été|ont été|est|sont)\s+(?:also\s+|aussi\s+)?$")
_TURN = re.compile(r".*(?:,\s*|\s)(?:but|mais|while|although|however|whereas|tandis que|and then)\s+")
_SEPARATOR = re.compile(r"\s*[,;]\s*(?:(?:and|or|et|ou|nor|ni)\s+)?|\s+(?:and|or|et|ou|nor|ni|&)\s+")
_TAIL = re.compile(
    r"\s+(?:because|since|due\s+to|as|when|which|that|for|so|but|while|given|pour|car|parce|puisque|qui|afin|mais"
    r"|by|in\s+order|in\s+favou?r|on\s+account|after|en\s+raison|à\s+cause|was|were|is|are)\b"
    r"|,\s*(?:we|i|they|he|she|it|the\s+team|nous|on|je|which)\b|\s+[-–—]\s+|:"  # noqa: RUF001
)
_ARTICLE = re.compile(r"^(?:(?:both|either|the|an?|using|le|la|les|une?|des|du)\s+|l['’]\s*)+", re.IGNORECASE)  # noqa: RUF001


def find_rejected(reading: Reading) -> tuple[str, ...]:
    """Return the alternatives that the text turns down, remarks in brackets left out."""
    return unique(_rejected(reading), _MAX_ITEMS)


def instead_starts(reading: Reading) -> list[int]:
    """Return where "instead of" and its like begin, in text order; "over" is not among them."""
    rules = {cue: rule for cue, rule in _INSTEAD.items() if cue not in {"over", "against"}}
    return [match.start() for match in reading.matches(rules)][:64]


def _rejected(reading: Reading) -> Iterator[str]:
    found = sorted([*reading.matches(_PARTICIPLES), *reading.matches(_INSTEAD)], key=lambda match: match.start())
    for match in found[:64]:
        if match.re is _BARE:
            yield from _turned_down(reading, match.start())
        elif not match.group().startswith("over") or _CHOOSING.search(reading.before(match.start(), 100)):
            yield from _items(reading.text[match.end() : reading.clause_end(match.end())], strict=True)


def _turned_down(reading: Reading, place: int) -> Iterable[str]:
    if label := _LABEL.match(reading.lower, place):
        return _items(reading.listed(label.end()), strict=False)
    before = reading.before(place, 100)
    if passive := _PASSIVE.search(before):
        start = max(reading.clause_start(place), place - len(before))
        subject = reading.text[start : place - len(before) + passive.start()]
        return _items(_TURN.sub("", subject[-_MAX_ITEM:]), strict=True)
    if (verb := _VERB.match(reading.lower, place)) and _AGENT.search(before):
        return _items(reading.text[verb.end() : reading.clause_end(verb.end())], strict=True)
    return ()


def _items(clause: str, *, strict: bool) -> Iterator[str]:
    """Split a list into items; when ``strict``, a later item that reads like a clause ends the list."""
    flat = tidy(unbracket(clause if not strict else _cut(clause, _TAIL)))
    for position, part in enumerate(_SEPARATOR.split(flat)):
        item = tidy(_ARTICLE.sub("", _cut(part, _TAIL)))
        if strict and position and len(item.split()) > 3:  # noqa: PLR2004 - names are short
            return
        yield item[:_MAX_ITEM].rstrip()


# --- decision -------------------------------------------------------------------------------------

_ADVERB = r"(?:(?:finally|already|just|also|now|all|then|both|eventually|ultimately|have|has|had)\s+){0,3}"
_DENIED = re.compile(r"(?:\b(?:not|never|if|whether|to be|jamais|pas)|n['’]t)\s+(?:yet\s+|been\s+|have\s+)?$")  # noqa: RUF001
_WHO = re.compile(
    r"(?:\b(?:we|i|they|he|she|you|who|team|board|group|committee|management|company|cto|ceo|cfo|lead|project)"
    rf"|['’](?:ve|d))\s+{_ADVERB}$"  # noqa: RUF001
)
_PASSIVE_BE = re.compile(r"\b(?:was|were|is|are|been|being|got)\s+(?:finally\s+|also\s+)?$")
_PERSON_BE = re.compile(r"\b(?:he|she|i|they|we|you)\s+(?:was|were|is|are|has been|have been|got)\s+")
_AVOIR = re.compile(
    r"(?:\b(?:avons|ai|a|as|ont|avez)|j['’]ai)\s+(?:(?:finalement|donc|enfin|aussi|tous|ensemble|déjà)\s+)?$"  # noqa: RUF001
)
_ETRE = re.compile(r"\b(?:été|est|sont|sera|seront)\s+(?:(?:finalement|donc|enfin)\s+)?$")
_GOING = re.compile(r"(?:\b(?:we|i|team|they)(?:\s+(?:are|am|is))?|['’](?:re|m))\s+$")  # noqa: RUF001
_ALLONS = re.compile(r"\b(?:nous allons|on va|je vais|équipe va|ils vont)\s+(?:donc\s+|maintenant\s+)?$")

_ADOPT = r"(?:now\s+|therefore\s+)?(?P<said>(?:use|adopt|migrate|switch\s+to|go\s+with|standardi[sz]e\s+on)\s+)"
_QUE = r"(?:de\s+|d['’]\s*|que\s+|qu['’]\s*|pour\s+)"  # noqa: RUF001
_CHOICE_OBJECT = re.compile(
    r"(?:chosen|selected|adopted|picked|recommended)\s+(?!up\b|me\b|him\b|her\b|us\b|them\b|out\b|it up\b|an?\b)(?:to\s+)?"
)
_CHOICE_PASSIVE = re.compile(r"(?:chosen|selected|adopted|picked)\b(?!\s+(?:up|out)\b)(?P<role>\s+(?:as|for|over|to)\b)?")
_FR_OBJECT = re.compile(rf"(?:choisi|retenu|adopté|sélectionné)(?:e|s|es)?\s+(?!par\b|pour\b|comme\b)(?:{_QUE})?")
_FR_PASSIVE = re.compile(r"(?:choisi|retenu|adopté|sélectionné)(?:e|s|es)?\b(?P<role>\s+(?:pour|comme)\b)?")
_FR_DECIDED = re.compile(rf"(?:(?:décidé|convenu)\s+(?=ne pas|{_QUE}){_QUE}|(?:opté|tranché)\s+(?:pour|en\s+faveur\s+de)\s+)")

_LABELLED = re.compile(
    r"(?:decisions?|choice|décisions?|choix|decided|décidé)(?:\s+(?:made|taken|prise|final|finale))?\s*[:：=]\s*"  # noqa: RUF001
    r"|(?:decision|choice)\s+(?:is|was)\s+(?:made\s+|taken\s+)?to\s+"
    r"|(?:décision|choix)\s+(?:est|a\s+été\s+prise|a\s+été\s+fait)\s+(?:de\s+|d['’]\s*)"  # noqa: RUF001
)
_DECIDED = re.compile(r"(?:decided\s+(?:(?=not\s+to\b|against\b)|to\s+|that\s+|on\s+|in\s+favou?r\s+of\s+)|agreed\s+(?:to|on|that)\s+|opted\s+(?:for|to)\s+|settled\s+(?:on|for)\s+)")
_CHOSE = re.compile(r"chose\s+(?:to\s+)?")
_WILL = re.compile(rf"(?:(?:will|shall|ll)\s+|going\s+to\s+){_ADOPT}")
_LETS = re.compile(rf"let['’]?s\s+{_ADOPT}")  # noqa: RUF001
_FR_WILL = re.compile(r"(?:utiliser|adopter|utiliserons|adopterons|choisissons)\s+|(?:migrer|passer|basculer|migrerons|passerons)\s+(?:vers|à|sur)\s+")

_FR_PARTICIPLES = {
    f"{stem}{ending}" for stem in ("choisi", "retenu", "adopté", "sélectionné") for ending in ("", "e", "s", "es")
}
_ANY = re.compile(r"\w+")
_DECISION_CUES = dict.fromkeys(
    {
        *("decision", "decisions", "choice", "décision", "décisions", "choix", "decided", "décidé", "agreed", "opted"),
        *("settled", "chose", "chosen", "selected", "adopted", "picked", "recommended", "will", "shall", "ll"),
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
        decision = _clip(reading.text[start : _decision_end(reading, max(start, cue.end()))])
        if decision:
            return decision, start
    return None


def first_sentence(reading: Reading) -> tuple[str, int]:
    """Return the first sentence and where it begins; empty for a text without words."""
    start = min((places[0] for places in reading.starts.values()), default=0)
    return _clip(reading.text[start : reading.clause_end(start)]), start


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
    return _future_start(reading, place, before) or _chosen_start(reading, place, before)


def _future_start(reading: Reading, place: int, before: str) -> int | None:
    lower = reading.lower
    if match := _LETS.match(lower, place):
        return match.start("said")
    if (match := _WILL.match(lower, place)) and (_GOING.search(before) or before.endswith(("'", "’"))):  # noqa: RUF001
        return match.start("said")
    if (match := _FR_WILL.match(lower, place)) and (match.group().strip().endswith("ons") or _ALLONS.search(before)):
        return match.start()
    return None


def _chosen_start(reading: Reading, place: int, before: str) -> int | None:
    lower = reading.lower
    named = before.endswith(" ") and reading.text[reading.text.rfind(" ", 0, place - 1) + 1 : place][:1].isupper()
    if match := _CHOSE.match(lower, place):
        return match.end() if named or _WHO.search(before) else None
    if match := _CHOICE_PASSIVE.match(lower, place):
        if _PASSIVE_BE.search(before):
            return None if _PERSON_BE.search(before) else _whole(reading, place)
        if (direct := _CHOICE_OBJECT.match(lower, place)) and _WHO.search(before) and not match["role"]:
            return direct.end()
        return _whole(reading, place) if match["role"] and _stands_alone(before) else None
    if match := _FR_PASSIVE.match(lower, place):
        if _ETRE.search(before) or (match["role"] and not _AVOIR.search(before)):
            return _whole(reading, place)
        direct = _FR_OBJECT.match(lower, place)
        return direct.end() if direct and _AVOIR.search(before) else None
    if (match := _CHOICE_OBJECT.match(lower, place)) and _WHO.search(before):
        return match.end()
    return None


def _stands_alone(before: str) -> bool:
    """Tell whether a participle follows a noun ("PostgreSQL chosen for"), not an article or auxiliary."""
    words = before.split()
    return bool(words) and words[-1] not in {"the", "a", "an", "be", "have", "has", "had", "being", "if", "not", "and"}


def _whole(reading: Reading, place: int) -> int:
    start = reading.clause_start(place)
    return start + len(reading.text[start:place]) - len(reading.text[start:place].lstrip(" \t\n-*•"))


def _decision_end(reading: Reading, start: int) -> int:
    end = reading.clause_end(start)
    cuts = [cue for cue, _ in reason_spans(reading)] + instead_starts(reading)
    return min((cut for cut in cuts if start < cut < end), default=end)


# --- shared ---------------------------------------------------------------------------------------

_DANGLING = re.compile(r"[\s,]+(?:en|à|au|à la|and|et|,)$")


def _cut(text: str, pattern: re.Pattern[str]) -> str:
    match = pattern.search(text.lower())
    return text[: match.start()] if match else text


def _clip(text: str) -> str:
    short = _DANGLING.sub("", tidy(text))
    return short if len(short) <= _MAX_CLAUSE else short[:_MAX_CLAUSE].rsplit(" ", 1)[0].rstrip(" ,")
