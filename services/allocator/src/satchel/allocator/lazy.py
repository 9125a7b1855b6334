"""A sequence whose items are made when they are first looked at: most of what is ranked is never shown."""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class Lazy(Sequence[T_co], Generic[T_co]):
    """``size`` items, item ``n`` being ``make(n)``, made once. A slice makes nothing and shares the items."""

    __slots__ = ("_indices", "_made", "_make")

    def __init__(self, make: Callable[[int], T_co], size: int) -> None:
        self._make = make
        self._made: dict[int, T_co] = {}
        self._indices = range(size)

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, at: int) -> T_co: ...
    @overload
    def __getitem__(self, at: slice) -> "Lazy[T_co]": ...
    def __getitem__(self, at: int | slice) -> "T_co | Lazy[T_co]":
        if isinstance(at, slice):
            return self._part(self._indices[at])
        index = self._indices[at]
        made = self._made.get(index)
        if made is None:
            made = self._made[index] = self._make(index)
        return made

    def __iter__(self) -> Iterator[T_co]:
        return map(self.__getitem__, range(len(self._indices)))

    def _part(self, indices: range) -> "Lazy[T_co]":
        part = Lazy(self._make, 0)
        part._made, part._indices = self._made, indices
        return part
