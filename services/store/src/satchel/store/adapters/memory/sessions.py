"""Who stands beside whom in a session."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from satchel.store.adapters.memory.entries import Entry


class Sessions:
    """The active turns of every session, in order; made for one answer."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._turns: dict[tuple[str, str], list[Entry]] = {}
        for entry in entries:
            if entry.memory.session_id and entry.is_active:
                self._turns.setdefault(_session(entry), []).append(entry)
        for turns in self._turns.values():
            turns.sort(key=_order)

    def beside(self, entry: Entry, count: int) -> list[Entry]:
        """Return at most ``count`` turns directly before and as many directly after a memory."""
        turns = self._turns.get(_session(entry), [])
        before = bisect_left(turns, _order(entry), key=_order)
        after = bisect_right(turns, _order(entry), key=_order)
        return [*turns[max(before - count, 0) : before], *turns[after : after + count]]

    def around(self, entries: Iterable[Entry], count: int) -> list[Entry]:
        """Return the turns beside any of some memories that are none of these, by session and order."""
        own = {entry.id: entry for entry in entries}
        near = {one.id: one for entry in own.values() for one in self.beside(entry, count)}
        return sorted((one for one in near.values() if one.id not in own), key=_place)


def _session(entry: Entry) -> tuple[str, str]:
    return entry.memory.project, entry.memory.session_id


def _place(entry: Entry) -> tuple[tuple[str, str], int, str]:
    return _session(entry), _order(entry), entry.id


def _order(entry: Entry) -> int:
    return entry.memory.session_order
