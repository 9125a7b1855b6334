"""Provides the deadline of the current call to everything that runs for it."""

import time
from contextvars import ContextVar

_SHARE = 0.05
_MIN_MARGIN_S = 0.002
_MAX_MARGIN_S = 0.1
_LEAST_S = 0.001

_deadline: ContextVar[float | None] = ContextVar("satchel_deadline", default=None)


def set_remaining(seconds: float | None) -> None:
    """Set how long the current task may still take; `None` means without limit."""
    _deadline.set(None if seconds is None else time.monotonic() + seconds)


def remaining_s(default: float) -> float:
    """Return the seconds that an outgoing call may take; ``default`` if there is no deadline.

    What is left of the incoming deadline, less a margin of 5 % (2 to 100 ms) that leaves time to answer.
    Never below a millisecond, so that a late call fails with the peer's DEADLINE_EXCEEDED.
    """
    deadline = _deadline.get()
    if deadline is None:
        return default
    return _less_margin(deadline - time.monotonic())


def outgoing_timeout(asked: float | None, default: float | None) -> float | None:
    """Return the timeout of an outgoing call: ``asked`` or ``default``, within the incoming deadline."""
    deadline = _deadline.get()
    if deadline is None:
        return default if asked is None else asked
    left = _less_margin(deadline - time.monotonic())
    return left if asked is None else min(asked, left)


def answer_within(left: float) -> float | None:
    """Return in how many seconds a call must be answered whose client waits ``left`` seconds.

    Leaves the client the same margin, so that it gets our status before it stops to wait; `None` if there is
    no time for that.
    """
    return _less_margin(left) if left > _MIN_MARGIN_S else None


def _less_margin(left: float) -> float:
    return max(_LEAST_S, left - min(max(left * _SHARE, _MIN_MARGIN_S), _MAX_MARGIN_S))
