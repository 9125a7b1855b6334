"""Keeps the vectors of recent queries and the codes of their tokens, found by role and exact text."""

from collections import OrderedDict
from typing import NamedTuple

from satchel.embedder.model import Codes, Role, Vectors

_LONGEST_KEPT = 4096  # code points; what is longer is no typical query and would cost memory


class Kept(NamedTuple):
    """What is kept of a text: its vector (dimension,), its token count, and its codes (tokens, bytes)."""

    vector: Vectors
    token_count: int
    codes: Codes


class VectorCache:
    """The last ``capacity`` vectors, least recently used first to go.

    Keeps vectors as they are: a hit is the same bits as the first answer. Capacity 0 keeps nothing.
    """

    __slots__ = ("_capacity", "_entries")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[tuple[Role, str], Kept] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, role: Role, text: str) -> Kept | None:
        """Return what is kept of a text, or `None`."""
        key = (role, text)
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def put(self, role: Role, text: str, kept: Kept) -> None:
        """Keep what was made of a text of at most 4,096 code points."""
        if self._capacity == 0 or len(text) > _LONGEST_KEPT:
            return
        self._entries[role, text] = kept
        self._entries.move_to_end((role, text))
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)
