"""Archiving by age, on demand and from time to time, and its undoing."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from satchel.runtime.errors import ServiceError
from satchel.store.ids import Stamps
from satchel.store.lifecycle import Moved, ToArchive, ToUnarchive
from satchel.store.model import MemoryType
from satchel.store.ports import MemoryStore
from satchel.store.scope import Scope

log = logging.getLogger(__name__)

_DAY_US = 24 * 3600 * 1_000_000
_EVERYTHING = Scope(project="")


@dataclass(frozen=True, slots=True)
class Archived:
    """What was archived, and the id of the run; empty when nothing was, and when it was only counted."""

    batch: str
    moved: Moved


class Archiving:
    """Use cases of the archive; ``days`` says from which age each type is archived."""

    def __init__(
        self,
        store: MemoryStore,
        stamps: Stamps,
        *,
        days: Mapping[MemoryType, float],
        clock: Callable[[], int],
    ) -> None:
        self._store = store
        self._stamps = stamps
        self._days = days
        self._clock = clock

    async def archive(self, scope: Scope, ids: tuple[str, ...] = (), *, dry_run: bool = False) -> Archived:
        """Archive the memories of ids (an empty project means any), else what is old enough in a scope.

        Raises:
            MemoryNotFound: one of the ids is not there; nothing was archived.
        """
        now = self._clock()
        until = {kind: now - round(days * _DAY_US) for kind, days in self._days.items()}
        wanted = ToArchive(scope=scope, ids=tuple(dict.fromkeys(ids)), until=until)
        if dry_run:
            return Archived("", await self._store.lifecycle.archivable(wanted))
        batch = self._stamps.next().id
        moved = await self._store.lifecycle.archive(wanted, batch=batch, now=now)
        return Archived(batch if moved.count else "", moved)

    async def archive_everywhere(self) -> Archived:
        """Archive what is old enough in every project."""
        return await self.archive(_EVERYTHING)

    async def unarchive(self, project: str, ids: tuple[str, ...] = (), batch: str = "") -> Moved:
        """Bring back the memories of ids, else those of a batch; an empty project means any.

        Raises:
            MemoryNotFound: one of the ids is not there; nothing was brought back.
            BatchNotFound: no memory that is there was archived by such a run.
        """
        wanted = ToUnarchive(project, tuple(dict.fromkeys(ids)), batch)
        return await self._store.lifecycle.unarchive(wanted, now=self._clock())


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Seconds until the first run and between runs, 0 for no runs; ``pause`` waits for some seconds."""

    first_s: float
    interval_s: float
    pause: Callable[[float], Awaitable[None]] = field(repr=False)


async def archive_regularly(archiving: Archiving, schedule: Schedule) -> None:
    """Archive everywhere at the times of a schedule, for ever; to be run as a task and cancelled.

    A run that fails is logged where the failure arose, and the next one makes up for it.
    """
    if not schedule.interval_s:
        return
    await schedule.pause(schedule.first_s)
    while True:
        try:
            found = await archiving.archive_everywhere()
        except ServiceError as error:
            log.warning("store.archiving_failed", extra={"reason": error.reason})
        else:
            log.info("store.archived", extra={"memories": found.moved.count, "batch": found.batch})
        await schedule.pause(schedule.interval_s)
