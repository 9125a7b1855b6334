"""Request ids: the first answer to a request, kept for 24 hours."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from satchel.store.errors import RequestIdReused
from satchel.store.model import RequestKey

T = TypeVar("T")

_WINDOW_US = 24 * 3600 * 1_000_000


class _Answer(NamedTuple):
    """``memory_id`` names the memory whose text the answer holds; empty for none."""

    digest: bytes
    at: int
    memory_id: str
    answer: Any


class Requests:
    """What was answered to requests that named an id; times in microseconds."""

    def __init__(self) -> None:
        self._answers: dict[str, _Answer] = {}

    def answer(self, key: RequestKey, now: int) -> Any | None:  # noqa: ANN401  # the digest covers the method
        """Return what this request was answered before; None for a new one.

        Raises:
            RequestIdReused: the id came with another body.
        """
        kept = self._answers.get(key.request_id)
        if kept is None or kept.at <= now - _WINDOW_US:
            return None
        if kept.digest != key.digest:
            raise RequestIdReused(key.request_id)
        return kept.answer

    def once(self, key: RequestKey | None, now: int, work: Callable[[], T], *, memory_id: str = "") -> T:
        """Return the first answer to a request; do the work and keep its result for a new one.

        Raises:
            RequestIdReused: as `answer`.
        """
        if key is None:
            return work()
        known: T | None = self.answer(key, now)
        if known is not None:
            return known
        found = work()
        self._answers = {name: one for name, one in self._answers.items() if one.at > now - _WINDOW_US}
        self._answers[key.request_id] = _Answer(key.digest, now, memory_id, found)
        return found

    def forget(self, memory_id: str) -> None:
        """Remove the answers that hold the text of a memory."""
        self._answers = {name: one for name, one in self._answers.items() if one.memory_id != memory_id}
