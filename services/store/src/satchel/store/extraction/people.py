"""Who does the work and who approved it, in English and French.

A person is a name in capitals, a role ("CTO", "product owner"), a team or an @handle; pronouns and verbs
are not ("it was approved" names nobody).
"""

import re
from collections.abc import Mapping

from satchel.store.extraction.gazetteer import FIRST_NAMES, ORDINARY, ROLES, TECHNOLOGIES
from satchel.store.extraction.normal import UPPER
from satchel.store.extraction.reading import Reading

_NAME = rf"[{UPPER}]\w{{0,40}}(?:[-'\u2019](?!s\b)\w{{1,40}}){{0,3}}"
_FULL = rf"{_NAME}(?:[ ](?:(?:de|du|van|von|da|el|of)[ ])?{_NAME}){{0,2}}(?:[ ]\([^()\n]{{1,30}}\))?"
_PHRASES = (
    "tech[ ]lead|team[ ]lead|product[ ]owner|product[ ]manager|project[ ]manager|chef[ ]de[ ]projet|lead"
)
_ROLE = rf"(?i:{_PHRASES}|{'|'.join(sorted(ROLES))})\b"
_TEAM = r"(?:[\w-]{1,30}[ ]){0,2}(?i:team)\b|(?i:équipe)(?:[ ][\w-]{1,30}){0,2}"
_ARTICLE = r"(?:(?i:the|our|le|la|notre|un|une)[ ]|[lL]['\u2019])?"
_WHO = re.compile(rf"{_ARTICLE}(?P<who>@[\w-]{{1,40}}|{_ROLE}|{_TEAM}|{_FULL})")
_WHO_BEFORE = rf"(?:^|(?<=[\s(\"*-])){_ARTICLE}(?P<who>{_ROLE}|{_FULL})"

_LABEL = r"[ \t]{0,4}[:=][ \t]{0,4}"
_DUTY = (
    r"take[ ]care|implement|handle|do\b|own\b|lead\b|write|fix\b|build|migrate|deliver|prepare"
    r"|work[ ]on|drive|set[ ]up|be[ ]responsible|be[ ]in[ ]charge|deploy|investigate|document"
    r"|test\b|refactor|coordinate|design"
)
_DUTY_FR = (
    r"implémenter|s'occuper|s'en[ ]occuper|gérer|faire|développer|corriger|migrer"
    r"|prendre[ ]en[ ]charge|écrire|préparer|rédiger|déployer|piloter|tester"
)

_ASSIGNED = {
    **dict.fromkeys(("assigned", "delegated"), re.compile(rf"\w{{8,9}}[ ]to:?[ ]{{1,4}}|assigned{_LABEL}")),
    **dict.fromkeys(
        (f"{stem}{ending}" for stem in ("assigné", "confié", "attribué") for ending in ("", "e", "s", "es")),
        re.compile(r"\w{1,11}[ ](?:à|au|aux)[ ]{1,4}"),
    ),
    **dict.fromkeys(
        ("assignee", "owner", "responsible", "responsable", "porteur", "assignation"),
        re.compile(rf"\w{{1,12}}{_LABEL}"),
    ),
}
_DOING = {
    "will": re.compile(rf"will[ ](?:{_DUTY})"),
    "ll": re.compile(rf"ll[ ](?:{_DUTY})"),
    "is": re.compile(
        r"is[ ](?:the[ ])?(?:assigned\b|responsible\b|in[ ]charge\b|owner\b|owning\b)(?![ ]to[ ])"
    ),
    "owns": re.compile(r"owns[ ](?:the|this|it|that)\b"),
    "va": re.compile(rf"va[ ](?:{_DUTY_FR})"),
    "est": re.compile(r"est[ ](?:le[ ]|la[ ])?(?:responsable|chargée?|assignée?|en[ ]charge)\b"),
    "s": re.compile(r"s'(?:en[ ])?occupe(?:ra)?\b"),
    "se": re.compile(r"se[ ]charge(?:ra)?[ ]d"),
    "prend": re.compile(r"prend[ ]en[ ]charge"),
    "prendra": re.compile(r"prendra[ ]en[ ]charge"),
}

_APPROVALS = ("approved", "validated", "signed", "accepted", "endorsed", "authorized", "authorised")
_APPROVALS_FR = (
    "approuvé",
    "approuvée",
    "approuvés",
    "approuvées",
    "validé",
    "validée",
    "validés",
    "validées",
)
_APPROVED_BY = {
    **dict.fromkeys(_APPROVALS, re.compile(r"\w{1,12}(?:[ -]off)?(?:[ ]on[ ]\S{1,20})?[ ]by:?[ ]{1,4}")),
    **dict.fromkeys(_APPROVALS_FR, re.compile(r"\w{1,12}[ ]par[ ]?:?[ ]{1,4}")),
    **dict.fromkeys(
        ("approver", "validator", "approval", "validateur", "valideur", "validation", "approbation", "sign"),
        re.compile(rf"\w{{1,12}}(?:[ -]off)?{_LABEL}"),
    ),
    "feu": re.compile(r"feu[ ]vert[ ](?:de|du)[ ]{1,4}"),
    "accord": re.compile(r"accord[ ](?:de|du)[ ]{1,4}"),
}
_APPROVING = {
    **dict.fromkeys(
        ("approved", "validated", "endorsed"), re.compile(r"(?:approved|validated|endorsed)\b(?![ ]by\b)")
    ),
    "signed": re.compile(r"signed[ -]off\b(?![ ]by\b)"),
    **dict.fromkeys(("approuvé", "validé"), re.compile(r"(?:approuvé|validé)\b(?![ ]par\b)")),
}
_HAVING = r"(?:[ ](?:has|have|had|a|ont|already|just|also|finally|déjà)){0,2}[ ]{1,2}$"
_ENDS_WITH_WHO = re.compile(_WHO_BEFORE + r"[ ]{1,2}$")
_ENDS_WITH_WHO_HAVING = re.compile(_WHO_BEFORE + _HAVING)
_OBJECT = re.compile(
    r"[ ](?:the|this|that|it|our|a|an|on|le|la|les|l['\u2019]|ce|cette|[^\W\d_])", re.IGNORECASE
)


def find_assignee(reading: Reading) -> str | None:
    """Return the first person, role or team that the text makes responsible, or None."""
    if name := _named_after(reading, _ASSIGNED):
        return name
    for verb in reading.matches(_DOING):
        name = _named_before(reading, verb, _ENDS_WITH_WHO)
        if name and name.casefold() not in TECHNOLOGIES:
            return name
    return None


def find_validator(reading: Reading) -> str | None:
    """Return the first person, role or team that approved, or None."""
    if name := _named_after(reading, _APPROVED_BY):
        return name
    for verb in reading.matches(_APPROVING):
        name = _named_before(reading, verb, _ENDS_WITH_WHO_HAVING)
        if name and (_known(name) or (_has_object(reading, verb) and name.casefold() not in TECHNOLOGIES)):
            return name
    return None


def _named_after(reading: Reading, rules: Mapping[str, re.Pattern[str]]) -> str | None:
    names = (_WHO.match(reading.text, cue.end()) for cue in reading.matches(rules))
    return next((name for match in names if match and (name := _clean(match["who"]))), None)


def _named_before(reading: Reading, verb: re.Match[str], ending: re.Pattern[str]) -> str | None:
    match = ending.search(reading.before(verb.start(), cased=True))
    return _clean(match["who"]) if match else None


def _has_object(reading: Reading, verb: re.Match[str]) -> bool:
    return bool(_OBJECT.match(reading.text, verb.end()))


def _known(name: str) -> bool:
    first = name.split(" ", maxsplit=1)[0]
    return (
        first in FIRST_NAMES or first.casefold() in ROLES or name.casefold() in {"product owner", "tech lead"}
    )


def _clean(name: str) -> str | None:
    """Drop ordinary words before a name ("Yesterday Jean"); None if nothing is left."""
    words = name.lstrip("@").split(" ")
    while words and words[0].casefold() in ORDINARY:
        words.pop(0)
    return " ".join(words) or None
