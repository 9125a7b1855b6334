"""RFC 3339 times and durations as seconds and nanoseconds."""

import re
from datetime import UTC, datetime, timedelta

TIME_PATTERN = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d{2}):(\d{2}))"
)
DURATION_PATTERN = re.compile(r"(-?)(\d{1,12})(?:\.(\d{1,9}))?s")

# A minute has a 61st second when a leap second is added (RFC 3339, section 5.6).
_LEAP_SECOND = 60


def parse_time(text: str) -> tuple[int, int]:
    """Return (Unix seconds, nanoseconds in [0, 1e9)) of an RFC 3339 time.

    An offset is needed: a time without one means another moment to each reader. A leap second counts as
    the first second of the next minute.

    Raises:
        ValueError: the text has another form, or its moment lies outside the years 1 to 9999 in UTC.
    """
    found = TIME_PATTERN.fullmatch(text)
    if found is None:
        raise ValueError(text)
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    is_leap = second == _LEAP_SECOND
    try:
        moment = datetime(year, month, day, hour, minute, second - is_leap, tzinfo=UTC)
        moment += timedelta(seconds=is_leap) - _offset(found)
    except OverflowError as error:
        raise ValueError(text) from error
    return int((moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)), _nanos(found[7])


def parse_duration(text: str) -> tuple[int, int]:
    """Return (seconds, nanoseconds), of one sign, of a text such as ``1.5s``.

    Raises:
        ValueError: the text has another form.
    """
    found = DURATION_PATTERN.fullmatch(text)
    if found is None:
        raise ValueError(text)
    sign = -1 if found[1] else 1
    return sign * int(found[2]), sign * _nanos(found[3])


def _offset(found: re.Match[str]) -> timedelta:
    if found[8] is None:
        return timedelta(0)
    hours, minutes = int(found[9]), int(found[10])
    if hours > 23 or minutes > 59:  # noqa: PLR2004  # a day's hours, an hour's minutes
        raise ValueError(found[0])
    return timedelta(hours=hours, minutes=minutes) * (1 if found[8] == "+" else -1)


def _nanos(digits: str | None) -> int:
    return int(digits.ljust(9, "0")) if digits else 0
