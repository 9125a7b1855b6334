"""What memories were before they were changed."""

from satchel.store.lifecycle import Version
from satchel.store.model import Memory


class History:
    """Replaced versions by the ids of the memories, the ``kept`` newest numbers of each."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._by_id: dict[str, list[Version]] = {}

    def keep(self, memory: Memory, *, replaced_at: int) -> None:
        """Keep what a memory is until now, without links."""
        before = self._by_id.get(memory.id, [])
        last = memory.version - self._kept
        every = [*before, Version(memory._replace(links=()), replaced_at)]
        self._by_id[memory.id] = [one for one in every if one.memory.version > last]

    def of(self, memory_id: str) -> tuple[Version, ...]:
        """Return the replaced versions of a memory, the newest first."""
        return tuple(reversed(self._by_id.get(memory_id, ())))

    def forget(self, memory_id: str) -> None:
        """Remove the versions of a memory."""
        self._by_id.pop(memory_id, None)
