"""Turns names into small numbers, so that filters compare columns of integers. Grows, never shrinks."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


class Codes:
    """Numbers names from 0 in the order of their first use.

    One thread adds; others may read at the same time, for a name never changes its number.
    """

    __slots__ = ("_codes", "_names")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names: list[str] = list(names)
        self._codes = {name: code for code, name in enumerate(self._names)}

    def add(self, name: str) -> int:
        """Return the number of the name, giving it one if needed."""
        code = self._codes.get(name)
        if code is None:
            code = len(self._names)
            self._names.append(name)
            self._codes[name] = code
        return code

    def find(self, name: str) -> int | None:
        """Return the number of the name, or `None`."""
        return self._codes.get(name)

    def name(self, code: int) -> str:
        """Return the name of a number."""
        return self._names[code]

    def names(self) -> list[str]:
        """Return all names in the order of their numbers, as a copy."""
        return self._names.copy()

    def __len__(self) -> int:
        return len(self._names)


class TagSets:
    """Numbers sets of tags, and finds those that hold given tags.

    Set 0 is the empty one. A row carries one number, however many tags it has.
    """

    __slots__ = ("_by_tag", "_codes", "_sets")

    def __init__(self, sets: Iterable[Sequence[str]] = ((),)) -> None:
        self._sets: list[tuple[str, ...]] = []
        self._codes: dict[tuple[str, ...], int] = {}
        self._by_tag: dict[str, list[int]] = {}
        for tags in sets:
            self.add(tags)

    def add(self, tags: Iterable[str]) -> int:
        """Return the number of the set, giving it one if needed."""
        key = tuple(sorted(set(tags)))
        code = self._codes.get(key)
        if code is None:
            code = len(self._sets)
            self._sets.append(key)
            for tag in key:
                self._by_tag.setdefault(tag, []).append(code)
            self._codes[key] = code
        return code

    def holding(self, tags: Iterable[str]) -> NDArray[np.int64]:
        """Return the numbers of the sets that hold all the tags, ascending."""
        lists = sorted((self._by_tag.get(tag, []) for tag in set(tags)), key=len)
        found = np.array(lists[0], dtype=np.int64)
        for other in lists[1:]:
            found = np.intersect1d(found, np.array(other, dtype=np.int64), assume_unique=True)
        return found

    def sets(self) -> list[tuple[str, ...]]:
        """Return all sets in the order of their numbers, as a copy."""
        return self._sets.copy()

    def __len__(self) -> int:
        return len(self._sets)


class Vocabulary:
    """The numbers of all names that filters speak of; shared by the whole index."""

    __slots__ = ("rooms", "sessions", "tagsets", "wings")

    def __init__(
        self,
        wings: Iterable[str] = (),
        rooms: Iterable[str] = (),
        sessions: Iterable[str] = (),
        tagsets: Iterable[Sequence[str]] = ((),),
    ) -> None:
        self.wings = Codes(wings)
        self.rooms = Codes(rooms)
        self.sessions = Codes(sessions)
        self.tagsets = TagSets(tagsets)
