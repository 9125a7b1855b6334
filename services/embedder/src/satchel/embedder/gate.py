"""Bounds what may wait: so many texts and code points, beyond which a request is refused at once."""

from collections.abc import Iterator
from contextlib import contextmanager

from satchel.embedder.errors import QueueFull

# Some four code points make a token of English (measured on chat turns), and two cores read about
# 7,000 tokens a second; a rough guess is enough for the advice when to come back.
_CODE_POINTS_PER_S = 28_000.0
_RETRY_RANGE_S = (0.2, 30.0)


class Gate:
    """Counts the texts and code points that are inside; ``name`` is the queue in the error."""

    __slots__ = ("_max_code_points", "_max_texts", "_name", "code_points", "texts")

    def __init__(self, name: str, *, max_texts: int, max_code_points: int) -> None:
        self._name = name
        self._max_texts = max_texts
        self._max_code_points = max_code_points
        self.texts = 0
        self.code_points = 0

    @contextmanager
    def hold(self, texts: int, code_points: int) -> Iterator[None]:
        """Count a request in for the length of the block.

        A request that comes when nobody is inside is always let in, so that none is too large for ever.

        Raises:
            QueueFull: there is no room; nothing was counted.
        """
        if self.texts:
            self._require_room(texts, code_points)
        self.texts += texts
        self.code_points += code_points
        try:
            yield
        finally:
            self.texts -= texts
            self.code_points -= code_points

    def _require_room(self, texts: int, code_points: int) -> None:
        low, high = _RETRY_RANGE_S
        retry_after_s = round(min(high, max(low, self.code_points / _CODE_POINTS_PER_S)), 1)
        if self.texts + texts > self._max_texts:
            raise QueueFull(self._name, "texts", self.texts, self._max_texts, retry_after_s)
        if self.code_points + code_points > self._max_code_points:
            raise QueueFull(self._name, "characters", self.code_points, self._max_code_points, retry_after_s)
