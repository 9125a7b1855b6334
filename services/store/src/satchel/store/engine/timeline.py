"""What happened when, page by page."""

from dataclasses import dataclass

from satchel.store.cursors import decode_token, encode_token
from satchel.store.errors import PageTokenMismatch
from satchel.store.lifecycle import TimelineItem
from satchel.store.ports import MemoryStore
from satchel.store.scope import Place, Scope


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """Items of one page, and the cursor of the next; empty at the end, and only there."""

    items: tuple[TimelineItem, ...]
    next_cursor: str


class Timelines:
    """Use case of those who look at the order of time."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def page(self, scope: Scope, size: int, cursor: str, arguments: bytes) -> TimelinePage:
        """Return the page after ``cursor``; ``arguments`` say which timeline it is.

        Raises:
            PageTokenMismatch: the cursor is damaged or of another timeline.
        """
        after = _place(cursor, arguments) if cursor else None
        found = await self._store.lifecycle.timeline(scope, after=after, limit=size)
        if not found.has_more:
            return TimelinePage(found.items, "")
        last = found.items[-1]
        return TimelinePage(found.items, encode_token(Place(last.at, last.id), arguments))


def _place(cursor: str, arguments: bytes) -> Place:
    try:
        return decode_token(cursor, arguments)
    except PageTokenMismatch as error:
        raise PageTokenMismatch(field="cursor") from error
