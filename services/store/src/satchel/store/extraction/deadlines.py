"""Deadlines, in English and French: a date, a day or a sprint in a construction that makes it one.

The answer is quoted text ("Friday", "2026-12-01", "end of March"), not a date: only the reader knows
today's date. Bare numbers are none ("ports 8080").
"""

import re

from satchel.runtime.stopwords import word_set
from satchel.store.extraction.gazetteer import DAYS, MONTHS
from satchel.store.extraction.phrases import clip
from satchel.store.extraction.reading import Reading

_DAY = f"(?:{'|'.join(sorted(DAYS))})"
_MONTH = f"(?:{'|'.join(sorted(MONTHS, key=lambda month: (-len(month), month)))})"
_MONTH_ALONE = (
    f"(?:{'|'.join(sorted(MONTHS - word_set('jan feb mar apr may jun jul aug sep oct nov dec march mai')))})"
)
_PERIOD = rf"(?:day|week|month|quarter|year|sprint|q[1-4]|{_MONTH})"
_PERIOD_FR = rf"(?:journée|semaine|mois|trimestre|année|sprint|{_MONTH})"
_TIME = r"(?:\d{1,2}:\d\d(?:\s?[ap]m)?|\d{1,2}\s?[ap]m|\d{1,2}h(?:\d\d)?|noon|midnight|midi|minuit)"
_DATE = (
    r"(?:"
    r"\d{4}-\d\d-\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}"
    rf"|(?:the\s|le\s)?\d{{1,2}}(?:st|nd|rd|th|er)?\s(?:of\s)?{_MONTH}\b\.?(?:,?\s\d{{4}})?"
    rf"|{_MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?\b(?!:)(?:,?\s\d{{4}})?|{_MONTH}\s\d{{4}}"
    rf"|(?:the\s)?(?:very\s)?(?:end|beginning|start|middle)\sof\s(?:the\s|this\s|next\s)?"
    rf"{_PERIOD}\b(?:\s\d{{4}})?"
    rf"|(?:next|this|coming)\s(?:week(?:end)?|month|quarter|year|sprint|{_DAY})"
    rf"|(?:la\s)?(?:fin|mi)[\s-](?:de\s)?(?:la\s|du\s|de\sl'|d'|l')?{_PERIOD_FR}\b(?:\s\d{{4}})?"
    rf"|(?:la|le)\s(?:semaine|mois|trimestre|sprint|{_DAY})\sprochaine?"
    rf"|(?:le\s)?(?:next\s)?{_DAY}(?:\s(?:prochain|matin|soir|midi|morning|afternoon|evening|night|noon))?"
    rf"(?:\s\d{{1,2}}\s{_MONTH})?"
    r"|tomorrow(?:\s(?:morning|noon|evening|night))?|tonight|demain(?:\s(?:matin|soir|midi))?|ce\ssoir"
    r"|eod\b|eow\b|eom\b|end\sof\sday|close\sof\sbusiness"
    r"|q[1-4](?:\s\d{4})?\b|sprint\s#?\d{1,4}\b"
    rf"|{_MONTH_ALONE}\b"
    rf")(?:,?\s(?:at|à|by)\s{_TIME})?"
)
_DUE = re.compile(rf"(?:{_DATE}|{_TIME})(?!\w)")
_YEAR = re.compile(r"20\d\d\b")
_WORDING = re.compile(r"[^\s.,;][^.,;\n]{0,59}")
_LINKING = "is|was|set|fixed|est|fixée?|of|for|on|at|to|by|au|le|pour|before|avant"
_LINK = rf"(?:[ \t]{{0,4}}(?:[:=]|(?:{_LINKING})\b)){{0,3}}\s{{0,4}}"

_RULES = {
    "deadline": re.compile(rf"deadlines?{_LINK}"),
    "échéance": re.compile(rf"échéance{_LINK}"),
    "date": re.compile(rf"(?:date\s(?:limite|butoir)|(?<=due\s)date){_LINK}"),
    "due": re.compile(r"due\s(?:(?:by|on|before|for|in|le|pour)\s)?"),
    "by": re.compile(r"by\s{1,4}"),
    "before": re.compile(r"before\s{1,4}"),
    "later": re.compile(r"(?<=no\s)later\sthan\s"),
    "avant": re.compile(r"avant\s{1,4}"),
    "ici": re.compile(r"(?<=d')ici\s(?:à\s|au\s)?"),
    "pour": re.compile(r"pour\s"),
    "tard": re.compile(r"(?<=plus\s)tard\s(?:pour\s)?"),
    "jusqu": re.compile(r"jusqu'(?:à|au)\s"),
}
_SPRINT = {"sprint": re.compile(r"sprint\s#?\d{1,4}\b")}
_SPAN_BEFORE = re.compile(
    r"\b(?:days?|week|weekend|night|evening|months?|years?|minutes?|hours?|just|long|shortly|right"
    rf"|{_DAY})\s+$"
)


def find_deadline(reading: Reading) -> str | None:
    """Return the first deadline as the text words it, or None; a sprint counts when nothing else does."""
    for cue in reading.matches(_RULES):
        if cue.group().startswith("before") and _SPAN_BEFORE.search(reading.before(cue.start())):
            continue  # "the week before 9 June" places an event
        found = _DUE.match(reading.lower, cue.end()) or _in_other_words(reading, cue)
        if found and (quoted := clip(reading.text[found.start() : found.end()])):
            return quoted
    return next((reading.text[match.start() : match.end()] for match in reading.matches(_SPRINT)), None)


def _in_other_words(reading: Reading, cue: re.Match[str]) -> re.Match[str] | None:
    """Read "by 2027", and whatever follows a label and its colon."""
    if cue.group().startswith("by"):
        return _YEAR.match(reading.lower, cue.end())
    return _WORDING.match(reading.lower, cue.end()) if cue.group().rstrip().endswith((":", "=")) else None
