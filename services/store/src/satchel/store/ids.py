"""Ids of memories: UUIDs of version 7, and the forms in which callers send them."""

import re
import secrets
from collections.abc import Callable
from typing import NamedTuple

_PREFIXED = re.compile(
    r"(?:id: ?)?(?:(?:t0|f0|v0|fp):)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
    re.IGNORECASE,
)
_VERSION = 0x7
_VARIANT = 0b10
_SUB_MS = 1000  # microseconds in a millisecond
_RANDOM_BITS = 62
_DRAWN = 4096  # bytes drawn at once: asking the system for some takes longer than making an id
_WIDTH = 8


def canonical_id(text: str) -> str | None:
    """Return the id as 36 lower-case characters, without a prefix such as ``T0:``; None if it is none."""
    match = _PREFIXED.fullmatch(text.strip())
    return match.group(1).lower() if match else None


class Stamp(NamedTuple):
    """A moment in microseconds and an id that sorts by it."""

    at: int
    id: str


class _Entropy:
    """Gives random bits, drawn from the system many at a time; for one thread at a time."""

    def __init__(self) -> None:
        self._drawn = b""
        self._place = 0

    def __call__(self, bits: int) -> int:
        """Return ``bits`` random bits, at most 64."""
        if self._place == len(self._drawn):
            self._drawn, self._place = secrets.token_bytes(_DRAWN), 0
        start, self._place = self._place, self._place + _WIDTH
        return int.from_bytes(self._drawn[start : self._place], "big") >> (_WIDTH * 8 - bits)


class Stamps:
    """Gives moments and ids that grow strictly, also when the clock stands still or steps back.

    Two processes may give equal moments but, but for a chance of 2**-62, never equal ids.
    """

    def __init__(self, clock: Callable[[], int], entropy: Callable[[int], int] | None = None) -> None:
        self._clock = clock
        self._entropy = entropy or _Entropy()
        self._last = 0

    def next(self) -> Stamp:
        """Return the clock's microsecond, or the one after the last returned if that is later."""
        self._last = max(self._clock(), self._last + 1)
        return Stamp(self._last, uuid7(self._last, self._entropy(_RANDOM_BITS)))


def uuid7(at: int, random_bits: int) -> str:
    """Return the UUID of version 7 of a microsecond, with ``random_bits`` (62 bits) as its tail.

    The 12 bits after the version hold the fraction of the millisecond, so ids sort by microsecond.
    Source: RFC 9562, section 5.7 and method 3 of section 6.2.
    """
    milliseconds, microseconds = divmod(at, _SUB_MS)
    fraction = microseconds * 4096 // _SUB_MS
    value = milliseconds << 80 | _VERSION << 76 | fraction << 64 | _VARIANT << 62 | random_bits
    digits = f"{value & (1 << 128) - 1:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
