"""Ingest: the turns of a conversation become memories in one transaction, or are only looked at."""

from collections.abc import Sequence
from dataclasses import dataclass

from satchel.store.conversation import Conversation, Skip, memory_of, skipped
from satchel.store.engine.writing import Writing
from satchel.store.model import NewMemory, Prepared, RequestKey
from satchel.store.ports import MemoryStore


@dataclass(frozen=True, slots=True)
class Kept:
    """A turn that is a memory, or would be one; ``id`` is empty and ``revision`` 0 after a dry run."""

    duplicate: bool
    id: str = ""
    revision: int = 0


class Ingesting:
    """Use cases over conversations."""

    def __init__(self, store: MemoryStore, writing: Writing) -> None:
        self._store = store
        self._writing = writing

    async def ingest(
        self, conversation: Conversation, key: RequestKey | None, *, dry_run: bool
    ) -> tuple[Kept | Skip, ...]:
        """Store the turns that are worth a memory; tell what became of each, in their order.

        With ``dry_run`` nothing is written, and no request is remembered.

        Raises:
            RequestIdReused: nothing was stored.
        """
        reasons = [skipped(turn, conversation) for turn in conversation.turns]
        batch = [
            memory_of(turn, conversation)
            for turn, reason in zip(conversation.turns, reasons, strict=True)
            if reason is None
        ]
        kept = iter(await (self._look(batch) if dry_run else self._keep(batch, key)))
        return tuple(next(kept) if reason is None else reason for reason in reasons)

    async def _keep(self, batch: Sequence[NewMemory], key: RequestKey | None) -> list[Kept]:
        if not batch:
            return []
        stored = await self._writing.store(batch, key)
        return [Kept(one.duplicate, one.id, one.revision) for one in stored]

    async def _look(self, batch: Sequence[NewMemory]) -> list[Kept]:
        """Tell what is there already, or comes earlier in the batch."""
        prepared = await self._writing.prepare_all(batch)
        known = await self._store.are_stored(prepared)
        seen: set[object] = set()
        kept = []
        for memory, is_known in zip(prepared, known, strict=True):
            kept.append(Kept(is_known or _identity(memory) in seen))
            seen.add(_identity(memory))
        return kept


def _identity(memory: Prepared) -> object:
    """Return by what memories of one conversation are the same."""
    return memory.content_hash, memory.room, memory.new.occurred_at
