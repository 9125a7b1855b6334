"""Alternatives that a text turns down, in English and French."""

import re
from collections.abc import Iterable, Iterator

from satchel.store.extraction.phrases import SEPARATOR, cut
from satchel.store.extraction.reading import Reading, tidy, unbracket, unique

_MAX_ITEMS = 12
_MAX_ITEM = 80  # code points
_NAME_WORDS = 3

_PARTICIPLE = (
    r"(?:rejected|discarded|excluded|dismissed|ruled\s+out|(?:rejeté|écarté|exclu|refusé|abandonné)e?s?)"
)
_LABEL = re.compile(rf"{_PARTICIPLE}(?:\s+(?:options?|alternatives?|choices?|candidates?))?\s*:[ \t]*")
_VERB = re.compile(
    rf"{_PARTICIPLE}\s+(?!by\b|par\b|in\b|as\b|from\b|because\b|for\b|due\b|car\b|pour\b|en\b|out\b)"
)
_BARE = re.compile(rf"{_PARTICIPLE}\b")
_INSTEAD = {
    "rather": re.compile(r"rather\s+than\s+(?:using\s+|to\s+)?"),
    "instead": re.compile(r"instead\s+of\s+(?:using\s+)?"),
    "plutôt": re.compile(r"plutôt\s+qu(?:e\s+(?:de\s+|d')?|'\s*)"),
    "lieu": re.compile(r"(?<=au )lieu\s+(?:de\s+|du\s+|des\s+|d'\s*)"),
    "place": re.compile(r"(?<=à la )place\s+(?:de\s+|du\s+|des\s+|d'\s*)"),
    "against": re.compile(r"(?<=decided )against\s+(?:using\s+)?"),
    "over": re.compile(
        r"over\s+(?!the\s+(?:next|past|last|week|year|holiday|course|summer|winter)|\d|time\b|there\b|all\b|to\b)"
    ),
}
_REPLACING = {cue: rule for cue, rule in _INSTEAD.items() if cue not in {"over", "against"}}
_PARTICIPLES = {
    cue: _BARE
    for stem in ("rejeté", "écarté", "exclu", "refusé", "abandonné")
    for cue in (stem, f"{stem}e", f"{stem}s", f"{stem}es")
} | dict.fromkeys(("rejected", "discarded", "excluded", "dismissed", "ruled"), _BARE)

_CHOOSING = re.compile(
    r"\b(?:chose|chosen|picked|selected|prefer(?:s|red|ence)?|opted|favou?r(?:s|ed)?|decided)\b[^.;!?\n]{1,80}$"
)
_AGENT = re.compile(
    r"(?:\b(?:we|i|they|he|she|team|board|committee|avons|ai|a|ont|have|has|had)|'ve)\s+(?:also\s+|aussi\s+)?$"
)
_PASSIVE = re.compile(
    r"\s+(?:was|were|is|are|has been|have been|a été|ont été|est|sont)\s+(?:also\s+|aussi\s+)?$"
)
_TURN = re.compile(r".*(?:,\s*|\s)(?:but|mais|while|although|however|whereas|tandis que|and then)\s+")
_TAIL = re.compile(
    r"\s+(?:because|since|due\s+to|as|when|which|that|for|so|but|while|given|pour|car|parce|puisque|qui|afin|mais"
    r"|by|in\s+order|in\s+favou?r|on\s+account|after|en\s+raison|à\s+cause|was|were|is|are)\b"
    r"|,\s*(?:we|i|they|he|she|it|the\s+team|nous|on|je|which)\b|\s+[-\u2013\u2014]\s+|:"
)
_CLOSING = re.compile(r"[)\]]")
_ARTICLE = re.compile(
    r"^(?:(?:both|either|the|an?|using|le|la|les|une?|des|du)\s+|l['\u2019]\s*)+", re.IGNORECASE
)


def find_rejected(reading: Reading) -> tuple[str, ...]:
    """Return the alternatives that the text turns down, remarks in brackets left out."""
    return unique(_rejected(reading), _MAX_ITEMS)


def instead_starts(reading: Reading) -> list[int]:
    """Return where "instead of" and its like begin, in text order, and where "(rejected:" does.

    "Over" is not among them.
    """
    labels = (match for match in reading.matches(_PARTICIPLES) if _LABEL.match(reading.lower, match.start()))
    bracketed = (match.start() - 1 for match in labels if reading.before(match.start(), 1) in {"(", "["})
    return sorted([*(match.start() for match in reading.matches(_REPLACING)), *bracketed])[:64]


def _rejected(reading: Reading) -> Iterator[str]:
    found = sorted(
        [*reading.matches(_PARTICIPLES), *reading.matches(_INSTEAD)], key=lambda match: match.start()
    )
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
    """Split a list into items; it ends with the bracket in which it stands.

    When ``strict``, a later item that reads like a clause ends the list.
    """
    flat = tidy(cut(unbracket(clause if not strict else cut(clause, _TAIL)), _CLOSING))
    for position, part in enumerate(SEPARATOR.split(flat)):
        item = tidy(_ARTICLE.sub("", cut(part, _TAIL)))
        if strict and position and len(item.split()) > _NAME_WORDS:
            return
        yield item[:_MAX_ITEM].rstrip()
