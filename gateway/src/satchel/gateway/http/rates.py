"""How often each caller asks: one token bucket a caller, in bounded memory. Knows nothing of HTTP."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

# Buckets of callers who asked longest ago are dropped beyond this; those callers begin anew.
_MOST_BUCKETS = 10_000
_SECONDS_PER_MINUTE = 60.0
# Who waited as long as it was told must not be refused because of the last digit.
_ROUNDING = 1e-6


class _Bucket(NamedTuple):
    """Tokens that were left at a time."""

    tokens: float
    at_s: float


class TokenBuckets:
    """Lets each caller ask ``per_minute`` times a minute, all at once or spread; 0 for any number.

    A bucket that was not used for a minute is full, so only callers of the last minute matter. ``clock``
    returns seconds and never goes back.
    """

    def __init__(
        self,
        per_minute: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        most_buckets: int = _MOST_BUCKETS,
    ) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._most_buckets = most_buckets
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def __len__(self) -> int:
        """Return how many callers are remembered."""
        return len(self._buckets)

    def take(self, caller: str) -> float:
        """Take a token of a caller; return 0, or the seconds until there is one when there is none now."""
        if not self.per_minute:
            return 0.0
        now_s = self._clock()
        per_second = self.per_minute / _SECONDS_PER_MINUTE
        held = self._buckets.pop(caller, _Bucket(self.per_minute, now_s))
        tokens = min(held.tokens + (now_s - held.at_s) * per_second, self.per_minute)
        is_free = tokens > 1 - _ROUNDING
        self._buckets[caller] = _Bucket(tokens - 1 if is_free else tokens, now_s)
        if len(self._buckets) > self._most_buckets:
            self._buckets.popitem(last=False)
        return 0.0 if is_free else (1 - tokens) / per_second
