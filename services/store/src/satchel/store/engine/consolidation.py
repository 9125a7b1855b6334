"""Consolidation: similar memories become one."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.telemetry import span
from satchel.store.consolidation import Group, clusters_of, groups_of, merged_memory
from satchel.store.consolidation_ports import Merge, SourceVersion
from satchel.store.engine.writing import Writing
from satchel.store.errors import VersionMismatch
from satchel.store.ids import Stamps
from satchel.store.model import Memory, Stored
from satchel.store.ports import FetchQuery, MemoryStore
from satchel.store.scope import Scope

_MOST_COMPARED = 2000
_TRIES = 5
_ID_BYTES = 64  # of an id in an answer, amply


@dataclass(frozen=True, slots=True)
class Merged:
    """Memories that became one, in the order of time, and the least cosine of any two of them.

    ``id`` is that of what they became; empty when nothing was done.
    """

    group: Group
    similarity: float
    id: str = ""


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What became what, that with the newest source first, the id of the batch, and whether there is more."""

    merged: tuple[Merged, ...] = ()
    batch: str = ""
    has_more: bool = False
    revision: int = 0


class Consolidating:
    """Use case that merges similar memories; what one call does fits in one answer.

    Vectors are compared on a thread of ``comparer``.
    """

    def __init__(
        self,
        store: MemoryStore,
        writing: Writing,
        stamps: Stamps,
        *,
        comparer: BoundedExecutor,
        message_bytes: int,
        embed_timeout_s: float,
        clock: Callable[[], int],
    ) -> None:
        self._store = store
        self._writing = writing
        self._stamps = stamps
        self._comparer = comparer
        self._message_bytes = message_bytes
        self._embed_timeout_s = embed_timeout_s
        self._clock = clock

    async def consolidate(self, scope: Scope, threshold: float, *, dry_run: bool) -> Consolidated:
        """Merge memories of which any two are at least as similar as the threshold.

        Memories that others change meanwhile are looked at again.

        Raises:
            VersionMismatch: they are changed all the time; nothing was done.
        """
        for attempt in range(_TRIES):
            found = await self._find(scope, threshold)
            if dry_run or not found.merged:
                return found
            try:
                return await self._carry_out(found)
            except VersionMismatch:
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    async def _find(self, scope: Scope, threshold: float) -> Consolidated:
        comparable = await self._store.consolidation.comparable(scope, limit=_MOST_COMPARED)
        with span("satchel.store.compare", **{"satchel.store.memories": len(comparable.ids)}):
            clusters = await self._comparer.run(clusters_of, comparable.vectors, threshold)
        room = _Room(self._message_bytes)
        for cluster in clusters:
            sources = await self._read([comparable.ids[place] for place in cluster.places], scope.project)
            for group in reversed(await self._comparer.run(groups_of, sources)):
                if not room.take(Merged(group, cluster.similarity)):
                    return Consolidated(tuple(room.taken), has_more=True)
        return Consolidated(tuple(room.taken))

    async def _read(self, ids: list[str], project: str) -> list[Memory]:
        """Return memories whole; those that are gone meanwhile are left out."""
        found: list[Memory] = []
        remaining = tuple(ids)
        while remaining:
            part = await self._store.fetch(FetchQuery(ids=remaining, project=project))
            found += part.memories
            remaining = part.remaining
        return found

    async def _carry_out(self, found: Consolidated) -> Consolidated:
        new = [merged_memory(one.group) for one in found.merged]
        prepared = [replace(one, clues=None) for one in await self._writing.prepare_all(new)]
        ready = await self._writing.with_passages(prepared, self._embed_timeout_s)
        merges = [
            Merge(memory, tuple(SourceVersion(source.id, source.version) for source in one.group.sources))
            for memory, one in zip(ready, found.merged, strict=True)
        ]
        batch = self._stamps.next().id
        stored = await self._store.consolidation.merge(merges, batch=batch, now=self._clock())
        self._writing.note_stored(ready, stored)
        return replace(
            found,
            merged=tuple(replace(one, id=made.id) for one, made in zip(found.merged, stored, strict=True)),
            batch=batch,
            revision=_last_revision(stored, merges),
        )


@dataclass(slots=True)
class _Room:
    """What fits in an answer of some bytes; the first always does."""

    left: int
    taken: list[Merged] = field(default_factory=list)

    def take(self, one: Merged) -> bool:
        """Add one and tell whether it fits."""
        self.left -= len(one.group.text.encode("utf-8", "replace")) + _ID_BYTES * (len(one.group.sources) + 1)
        if self.taken and self.left < 0:
            return False
        self.taken.append(one)
        return True


def _last_revision(stored: tuple[Stored, ...], merges: list[Merge]) -> int:
    """Return the revision in which everything is done: each source takes one after the new memories."""
    return max(one.revision for one in stored) + sum(len(one.sources) for one in merges)
