"""What the engine asks of a database about the life of memories, in the store's own terms."""

from typing import Protocol

from satchel.store.lifecycle import Cleared, Moved, Timeline, ToArchive, ToUnarchive, Versions
from satchel.store.model import Memory
from satchel.store.scope import Place, Scope


class LifecycleStore(Protocol):
    """A part of `satchel.store.ports.MemoryStore`, to which the same errors and promises apply.

    What archives, brings back or clears many memories does so in transactions of bounded size, each with
    what belongs to its memories: others may read and write between them, and when the work is cut off some
    of it is done and the rest is as it was. ``now`` is in microseconds.
    """

    async def timeline(self, scope: Scope, *, after: Place | None, limit: int) -> Timeline:
        """Return at most ``limit`` memories, the newest first, from after a place (time and id)."""
        ...

    async def archivable(self, wanted: ToArchive) -> Moved:
        """Return what `archive` would archive.

        Raises:
            MemoryNotFound: one of the ids is not there.
        """
        ...

    async def archive(self, wanted: ToArchive, *, batch: str, now: int) -> Moved:
        """Archive memories under the id of a batch; those of ids all or none.

        By age the oldest of each type go first, then by id.

        Raises:
            MemoryNotFound: one of the ids is not there; nothing was archived.
        """
        ...

    async def unarchive(self, wanted: ToUnarchive, *, now: int) -> Moved:
        """Bring memories back; those of ids all or none.

        Raises:
            MemoryNotFound: one of the ids is not there; nothing was brought back.
            BatchNotFound: no memory that is there was archived under the batch.
        """
        ...

    async def count(self, scope: Scope) -> int:
        """Count the memories of a scope."""
        ...

    async def clear(self, scope: Scope, *, expected: int | None, now: int) -> Cleared:
        """Delete the memories that a scope of one project has now, archived ones where the scope has them.

        Raises:
            CountMismatch: there are not as many as ``expected``; nothing was deleted.
        """
        ...

    async def versions(
        self, memory_id: str, *, project: str, below: int | None, limit: int, max_bytes: int
    ) -> Versions:
        """Return versions of a memory, the newest first; an empty project means any.

        Only those before the version ``below``, where one is given; at most ``limit``, and no more than fit
        in ``max_bytes``, but at least one if there is any.

        Raises:
            MemoryNotFound: it is not there.
        """
        ...

    async def version(self, memory_id: str, number: int) -> Memory:
        """Return what a memory was in a version that was replaced, without links.

        Raises:
            VersionNotFound: it is not kept.
        """
        ...
