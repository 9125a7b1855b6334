"""Causal links, seen from both ends, and those of imports whose other end has not come yet."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from satchel.store.model import Link, Relation

_MOST = 1000  # that a memory shows, as the contract has it; a link beyond is seen at its other end


class _End(NamedTuple):
    """A link as one of its ends sees it, but for the words by which it was found."""

    other: str
    relation: Relation
    outgoing: bool


_Ends: TypeAlias = dict[_End, str]  # the words by end


class Links:
    """The links of all memories, which are known by their ids here.

    ``on_found`` is told of each new link that was found in a text, as its effect sees it.
    """

    def __init__(self, on_found: Callable[[str, Link], None]) -> None:
        self._on_found = on_found
        self._by_id: dict[str, _Ends] = {}
        self._awaited: dict[tuple[str, str], dict[tuple[str, _End], str]] = {}

    def every(self, memory_id: str) -> Iterator[Link]:
        """Yield all links of a memory, sorted."""
        for end, phrase in sorted(self._by_id.get(memory_id, {}).items()):
            yield Link(*end, phrase)

    def of(self, memory_id: str) -> tuple[Link, ...]:
        """Return the links that a memory shows, sorted."""
        return tuple(self.every(memory_id))[:_MOST]

    def count_of(self, memory_id: str) -> int:
        """Return how many links a memory shows."""
        return min(len(self._by_id.get(memory_id, ())), _MOST)

    def has(self, memory_id: str, link: Link) -> bool:
        """Tell whether a memory has a link, by whatever words."""
        return _end_of(link) in self._by_id.get(memory_id, {})

    def add(self, memory_id: str, link: Link) -> bool:
        """Link a memory to another that is there too, and tell whether it was not.

        A link that was given stays given, and one that was found becomes given when it is given too.
        """
        end = _end_of(link)
        known = self._by_id.get(memory_id, {}).get(end)
        phrase = link.phrase if known is None else known and link.phrase and known
        self._by_id.setdefault(memory_id, {})[end] = phrase
        self._by_id.setdefault(link.memory_id, {})[_mirrored(memory_id, end)] = phrase
        if known is None and phrase:
            effect, cause = (link.memory_id, memory_id) if link.outgoing else (memory_id, link.memory_id)
            self._on_found(effect, Link(cause, link.relation, outgoing=False, phrase=phrase))
        return known is None

    def remove(self, memory_id: str, links: Iterable[Link]) -> None:
        """Remove some links of a memory, at both ends."""
        for link in links:
            end = _end_of(link)
            del self._by_id[memory_id][end]
            self._by_id[link.memory_id].pop(_mirrored(memory_id, end), None)

    def wait(self, memory_id: str, link: Link, *, project: str) -> None:
        """Keep a link until a memory of the project with the id of its other end arrives."""
        waiting = self._awaited.setdefault((project, link.memory_id), {})
        waiting.setdefault((memory_id, _end_of(link)), link.phrase)

    def arrived(self, memory_id: str, *, project: str) -> None:
        """Make the links that waited for a memory."""
        for (other, end), phrase in self._awaited.pop((project, memory_id), {}).items():
            self.add(other, Link(*end, phrase))

    def forget(self, memory_id: str) -> None:
        """Remove the links of a memory, at both ends, and those that it waits for."""
        self.remove(memory_id, list(self.every(memory_id)))
        self._by_id.pop(memory_id, None)
        for place, waiting in list(self._awaited.items()):
            left = {key: phrase for key, phrase in waiting.items() if key[0] != memory_id}
            self._awaited[place] = left
            if not left:
                del self._awaited[place]

    def count(self, memory_ids: Iterable[str]) -> tuple[int, int]:
        """Return how many of the memories have a link, and how many links there are."""
        linked = [ends for memory_id in memory_ids if (ends := self._by_id.get(memory_id))]
        return len(linked), sum(end.outgoing for ends in linked for end in ends)


def _end_of(link: Link) -> _End:
    return _End(link.memory_id, link.relation, link.outgoing)


def _mirrored(memory_id: str, end: _End) -> _End:
    return _End(memory_id, end.relation, not end.outgoing)
