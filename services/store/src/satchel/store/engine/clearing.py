"""Deleting all memories of a project, a wing or a room."""

from collections.abc import Callable

from satchel.store.errors import CountMismatch
from satchel.store.lifecycle import Cleared
from satchel.store.ports import MemoryStore
from satchel.store.scope import Scope


class Clearing:
    """Use case of those who want a place empty."""

    def __init__(self, store: MemoryStore, *, clock: Callable[[], int]) -> None:
        self._store = store
        self._clock = clock

    async def clear(self, scope: Scope, *, expected: int | None, dry_run: bool) -> Cleared:
        """Delete, or only count, the memories of a scope of one project.

        Raises:
            CountMismatch: there are not as many as ``expected``; nothing was deleted.
        """
        if not dry_run:
            return await self._store.lifecycle.clear(scope, expected=expected, now=self._clock())
        count = await self._store.lifecycle.count(scope)
        if expected is not None and expected != count:
            raise CountMismatch(expected=expected, actual=count)
        return Cleared(count, 0)
