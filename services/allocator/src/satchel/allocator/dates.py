"""Relative times in a text, resolved against the day on which it was said; English and French. Pure.

A model that reads "I went yesterday" below a date can work out the day, but has to; a reader of many days at
once often gets it wrong. What the heading says already ("today") is not said again.
"""

import re
from datetime import date, timedelta

from satchel.allocator.model import MICROSECONDS_PER_SECOND, SECONDS_PER_DAY, Candidate

_EPOCH = date(1970, 1, 1)
_DAY_US = MICROSECONDS_PER_SECOND * SECONDS_PER_DAY


_LOOKED_AT = 2_000  # code points of a text
_MOST_NOTES = 3

_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_ENGLISH_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_FRENCH_DAYS = "lundi mardi mercredi jeudi vendredi samedi dimanche".split()  # noqa: SIM905
_DAYS = {name: index for names in (_ENGLISH_DAYS, _FRENCH_DAYS) for index, name in enumerate(names)}
_NUMBERS = {
    **{name: at for at, name in enumerate("one two three four five six seven eight nine ten".split(), 1)},  # noqa: SIM905
    **{name: at for at, name in enumerate("un deux trois quatre cinq six sept huit neuf dix".split(), 1)},  # noqa: SIM905
    "a": 1,
    "an": 1,
    "une": 1,
    "a couple of": 2,
}
_UNITS = {
    **dict.fromkeys(("day", "days", "jour", "jours"), "day"),
    **dict.fromkeys(("week", "weeks", "semaine", "semaines"), "week"),
    **dict.fromkeys(("weekend", "week-end"), "weekend"),
    **dict.fromkeys(("month", "months", "mois"), "month"),
    **dict.fromkeys(("year", "years", "an", "ans", "année", "années", "annee", "annees"), "year"),
}
_SIDES = {
    **dict.fromkeys(("last", "dernier", "dernière", "derniere"), -1),
    "this": 0,
    **dict.fromkeys(("next", "prochain", "prochaine"), 1),
}
_NEAR_DAYS = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "the day after tomorrow": 2,
    "avant-hier": -2,
    "hier": -1,
    "demain": 1,
    "après-demain": 2,
}


def _any_of(words: object) -> str:
    return "|".join(sorted(map(re.escape, map(str, words)), key=len, reverse=True))  # type: ignore[call-overload]


_NUMBER = rf"\d{{1,3}}|{_any_of(_NUMBERS)}"
_UNIT = _any_of(_UNITS)
# One of them alone: "the last weeks" and "the next day" are no week and no day of a calendar.
_SPANS = ("week", "weekend", "week-end", "month", "year", "semaine", "mois", "an", "année", "annee")
_SPAN = _any_of([*_SPANS, *_DAYS])
_RELATIVE = re.compile(
    rf"\b(?:(?P<near>{_any_of(_NEAR_DAYS)})"
    rf"|(?P<english>last|this|next) (?P<english_span>{_SPAN})"
    rf"|(?P<french_span>{_SPAN}) (?P<french>derni(?:er|[eè]re)|prochaine?)"
    rf"|(?P<ago>{_NUMBER}) (?P<ago_unit>{_UNIT}) ago"
    rf"|il y a (?P<il_y_a>{_NUMBER}) (?P<il_y_a_unit>{_UNIT}))\b",
    re.IGNORECASE,
)

# A text without any of these has no relative time, which is told twenty times sooner than by the pattern.
_FRENCH_SIGNS = ("il y a", " dernier", " dernière", " derniere", " prochain")
_SIGNS = (*_NEAR_DAYS, "last ", "this ", "next ", " ago", *_FRENCH_SIGNS)


def dated(candidate: Candidate) -> Candidate:
    """Return the candidate with what the relative times of its text mean; as it is where it has no time."""
    if candidate.time_us is None:
        return candidate
    return candidate._replace(
        dates=dates_note(candidate.text, _EPOCH + timedelta(candidate.time_us // _DAY_US))
    )


def dates_note(text: str, said: date) -> str:
    """Return what the relative times of a text mean, as ``(yesterday: 7 May 2023)``; empty without any.

    The first three different ones count. Days are exact; a week is named by its Monday, a weekend by its
    Saturday, a month with its year.
    """
    lower = text[:_LOOKED_AT].lower()
    if not any(sign in lower for sign in _SIGNS):
        return ""
    found: dict[str, str] = {}
    for match in _RELATIVE.finditer(text, 0, _LOOKED_AT):
        meaning = _meaning(match, said)
        if meaning and len(found) < _MOST_NOTES:
            found.setdefault(match[0].lower(), meaning)
    return f"({'; '.join(f'{phrase}: {meaning}' for phrase, meaning in found.items())})" if found else ""


def _meaning(match: re.Match[str], said: date) -> str:
    """Return what one expression means; empty where that is beyond the calendar, or no day at all.

    Or where letters are not those of a word, but only fold to them: the pattern ignores case.
    """
    try:
        if near := match["near"]:
            return _day(said + timedelta(_NEAR_DAYS[near.lower()]))
        if number := match["ago"] or match["il_y_a"]:
            count = int(number) if number.isdigit() else _NUMBERS[number.lower()]
            return _shifted(said, (match["ago_unit"] or match["il_y_a_unit"]).lower(), -count)
        side = _SIDES[(match["english"] or match["french"]).lower()]
        return _beside(said, (match["english_span"] or match["french_span"]).lower(), side)
    except (OverflowError, ValueError, LookupError):
        return ""


def _beside(said: date, span: str, side: int) -> str:
    """Resolve "last friday", "next month", "this weekend"."""
    if span not in _DAYS:
        return _shifted(said, span, side)
    ahead = (_DAYS[span] - said.weekday()) % 7
    if side > 0:
        return _day(said + timedelta(ahead or 7))
    return _day(said + timedelta(ahead - 7 if side < 0 else ahead))


def _shifted(said: date, unit: str, count: int) -> str:
    """Return the day, week, weekend, month or year that lies ``count`` of them from the day."""
    kind = _UNITS[unit]
    monday = said - timedelta(said.weekday())
    if kind == "day":
        return _day(said + timedelta(count))
    if kind == "week":
        return f"week of {_day(monday + timedelta(7 * count))}"
    if kind == "weekend":
        return f"weekend of {_day(monday + timedelta(7 * count + 5))}"
    if kind == "year":
        return str(said.replace(year=said.year + count, day=1).year)
    year, month = divmod(said.year * 12 + said.month - 1 + count, 12)
    return f"{_MONTHS[month]} {date(year, 1, 1).year}"


def _day(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
