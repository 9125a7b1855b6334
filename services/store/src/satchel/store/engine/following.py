"""The change feed: what is new since a revision, and then what comes."""

from collections.abc import AsyncIterator

from satchel.store.model import Changes
from satchel.store.ports import MemoryStore


class Following:
    """Use case of those who keep a view of the store."""

    def __init__(self, store: MemoryStore, *, message_bytes: int) -> None:
        self._store = store
        self._message_bytes = message_bytes

    async def watch(
        self, after: int, *, limit: int, project: str, with_vectors: bool, stop_at_head: bool
    ) -> AsyncIterator[Changes]:
        """Yield changes after a revision, the first answer at once, and wait for more between them.

        With ``stop_at_head`` it ends once everything up to the head of that moment is covered. An answer
        without changes comes only at first, or when commits touched other projects.
        """
        while True:
            found = await self._store.changes(
                after,
                limit=limit,
                max_bytes=self._message_bytes,
                project=project,
                with_vectors=with_vectors,
            )
            yield found
            after = found.through
            if after >= found.head:
                if stop_at_head:
                    return
                await self._store.wait_beyond(after)
