"""When a failed delivery is tried again, when it is given up, and when an endpoint is left alone."""

import math
from dataclasses import dataclass

from satchel.store.webhooks.model import DeliveryState, Report

MOST_FAILURES = 5  # in a row, from which the circuit breaker is open
OPEN_US = 30_000_000

_GONE = 410
_SECOND_US = 1_000_000
_MOST_RETRY_AFTER_S = 86_400.0
_SUCCESSES = range(200, 300)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """``tries`` at most, and the greatest seconds before the second one and before the last."""

    tries: int = 8
    first_s: float = 1.0
    longest_s: float = 3600.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a delivery, when it is due again, and whether its endpoint is disabled."""

    state: DeliveryState
    due_at: int = 0
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class Breaker:
    """An endpoint's failures in a row, and until when it is left alone."""

    failures: int
    open_until: int


def greatest_wait_s(tries: int, pacing: Pacing) -> float:
    """Return the greatest wait after so many tries: a geometric series from the first to the longest."""
    steps = pacing.tries - 2
    if steps <= 0:
        return pacing.first_s
    growth = max(pacing.longest_s / pacing.first_s, 1.0)
    return pacing.first_s * math.pow(growth, min(tries - 1, steps) / steps)


def judge(report: Report, *, tries: int, pacing: Pacing, share: float, now: int) -> Verdict:
    """Decide what becomes of a delivery after a try; ``share`` in [0, 1) is drawn at random.

    Any part of the greatest wait is as likely as another ("full jitter"), so that those who failed together
    do not come back together. What the endpoint asked for is the least wait, up to a day.
    Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    """
    if is_delivered(report):
        return Verdict(DeliveryState.DELIVERED)
    if report.status == _GONE:
        return Verdict(DeliveryState.DEAD, is_gone=True)
    if tries >= pacing.tries:
        return Verdict(DeliveryState.DEAD)
    wait_s = share * greatest_wait_s(tries, pacing)
    asked_s = min(report.retry_after_s, _MOST_RETRY_AFTER_S)
    return Verdict(DeliveryState.PENDING, now + round(max(wait_s, asked_s) * _SECOND_US))


def is_delivered(report: Report) -> bool:
    """Tell whether the endpoint has the event: it answered with a status of 200 to 299."""
    return report.status in _SUCCESSES and not report.error


def after(failures: int, *, is_delivered: bool, now: int) -> Breaker:
    """Return the breaker after a try: it opens at the fifth failure and closes at the second success."""
    if is_delivered:
        return Breaker(MOST_FAILURES - 1 if failures >= MOST_FAILURES else 0, 0)
    failures += 1
    return Breaker(failures, now + OPEN_US if failures >= MOST_FAILURES else 0)
