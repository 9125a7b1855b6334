"""What each session was already given, so that a session that asks again can be given something else.

Kept in this process alone and bounded: the oldest go first, and a restart forgets. So a memory may be given
twice, but what was never given is never left out.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence

from satchel.allocator.evidence import Located

_MOST = 100_000

Session = tuple[str, str]
"""Project and id of a session."""


class Given:
    """Memories that sessions were shown whole. One whose text was changed since counts as another."""

    def __init__(self, most: int = _MOST) -> None:
        """Keep so many, the newest, over all sessions."""
        self._most = most
        self._shown: OrderedDict[tuple[Session, str], int] = OrderedDict()
        self._counts: Counter[Session] = Counter()

    def add(self, session: Session, shown: Iterable[tuple[str, str]]) -> None:
        """Remember ids and texts that a session was shown."""
        for memory_id, text in shown:
            self._counts[session] += (session, memory_id) not in self._shown
            self._shown[session, memory_id] = hash(text)
            self._shown.move_to_end((session, memory_id))
        while len(self._shown) > self._most:
            (oldest, _), _ = self._shown.popitem(last=False)
            self._counts[oldest] -= 1
            if not self._counts[oldest]:
                del self._counts[oldest]

    def count(self, session: Session) -> int:
        """Return how many memories a session was given."""
        return self._counts.get(session, 0)

    def fresh(self, session: Session, located: Located) -> Sequence[bool]:
        """Tell of each memory whether it may be shown: as before, and not yet given to the session."""
        eligible = located.eligible or [True] * len(located.ids)
        rows = zip(located.ids, located.texts, eligible, strict=True)
        return [is_shown and self._shown.get((session, name)) != hash(text) for name, text, is_shown in rows]
