"""Numbers memories, and knows in which rows of which segment each of them lies."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from satchel.index.columns import Growable
from satchel.index.segment import Segment, SegmentView


class Place(NamedTuple):
    """Rows [start, end) of a segment."""

    segment: Segment
    start: int
    end: int


class MemoryTable:
    """Ids by number, numbers by id, and places. One thread writes; `ids` may be read by others.

    A memory keeps its number while it is updated; the number of a removed one is not used again, so that
    a search in an older view never shows a wrong id.
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self.ids: list[str] = list(ids)
        self._numbers = {memory_id: number for number, memory_id in enumerate(self.ids)}
        self._owners: list[Segment | None] = [None] * len(self.ids)
        self._starts = Growable(np.zeros(len(self.ids), np.int64))
        self._counts = Growable(np.zeros(len(self.ids), np.int32))

    def number(self, memory_id: str) -> int:
        """Return the number of a memory, giving it one if needed."""
        number = self._numbers.get(memory_id)
        if number is None:
            number = self._numbers[memory_id] = len(self.ids)
            self.ids.append(memory_id)
            self._owners.append(None)
            self._starts.append(np.zeros(1, np.int64))
            self._counts.append(np.zeros(1, np.int32))
        return number

    def put(self, number: int, segment: Segment, start: int, count: int) -> None:
        """Note where a memory lies."""
        self._owners[number] = segment
        self._starts.view()[number] = start
        self._counts.view()[number] = count

    def lift(self, memory_id: str) -> Place | None:
        """Return where a memory lies and forget it there; `None` if it lies nowhere."""
        number = self._numbers.get(memory_id)
        segment = self._owners[number] if number is not None else None
        if number is None or segment is None:
            return None
        self._owners[number] = None
        start = int(self._starts.view()[number])
        return Place(segment, start, start + int(self._counts.view()[number]))

    def forget(self, memory_id: str) -> None:
        """Drop the number of a removed memory."""
        self._numbers.pop(memory_id, None)

    def relocate(self, segment: Segment, view: SegmentView) -> None:
        """Note anew where the memories of a segment lie, after its rows moved."""
        firsts = np.flatnonzero(view.alive & (view.columns.passage == 0))
        alive = np.flatnonzero(view.alive)
        numbers = view.columns.memory[firsts]
        self._starts.view()[numbers] = firsts
        counts = np.bincount(view.columns.memory[alive], minlength=1)
        self._counts.view()[numbers] = counts[numbers]
        for number in numbers.tolist():
            self._owners[number] = segment
