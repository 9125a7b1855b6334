"""Builds the use cases that work on memories, for the store's composition root."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from satchel.runtime.executor import BoundedExecutor
from satchel.store.causality import Lookback
from satchel.store.engine.archiving import Archiving, Schedule
from satchel.store.engine.clearing import Clearing
from satchel.store.engine.consolidation import Consolidating
from satchel.store.engine.embedding import PendingEmbedder
from satchel.store.engine.importing import Importing
from satchel.store.engine.reembedding import Reembedding
from satchel.store.engine.timeline import Timelines
from satchel.store.engine.versions import Versioning
from satchel.store.engine.writing import Writing
from satchel.store.ids import Stamps
from satchel.store.model import MemoryType
from satchel.store.ports import Embedder, MemoryStore
from satchel.store.settings import StoreSettings

_FIRST_ARCHIVING_S = 60.0  # after the start, which has other things to do
_HOUR_S = 3600
_DAY_US = 24 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """What becomes of memories in time."""

    archiving: Archiving
    clearing: Clearing
    versioning: Versioning
    timelines: Timelines


@dataclass(frozen=True, slots=True)
class Parts:
    """What the use cases of one store share."""

    settings: StoreSettings
    store: MemoryStore
    embedder: Embedder
    stamps: Stamps
    clock: Callable[[], int]
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep

    def pending(self) -> PendingEmbedder:
        """Return what embeds the memories that wait for their vectors."""
        return PendingEmbedder(
            self.store,
            self.embedder,
            timeout_s=self.settings.import_timeout_s,
            first_s=self.settings.retry_first_s,
            longest_s=self.settings.retry_longest_s,
        )

    def reembedding(self, pending: PendingEmbedder) -> Reembedding:
        """Return what makes vectors anew."""
        return Reembedding(
            self.store,
            self.embedder,
            pending=pending,
            timeout_s=self.settings.import_timeout_s,
            first_s=self.settings.retry_first_s,
            longest_s=self.settings.retry_longest_s,
            clock=self.clock,
        )

    def writing(self, preparer: BoundedExecutor, pending: PendingEmbedder) -> Writing:
        """Return what stores, changes and deletes."""
        settings = self.settings
        return Writing(
            self.store,
            self.embedder,
            self.stamps,
            preparer=preparer,
            pending=pending,
            embed_timeout_s=settings.embed_timeout_s,
            lookback=Lookback(settings.causal_lookback, round(settings.causal_max_days * _DAY_US)),
            clock=self.clock,
        )

    def importing(self, writing: Writing) -> Importing:
        """Return what stores streams of memories."""
        return Importing(
            writing,
            self.store,
            batch_size=self.settings.import_batch,
            ahead=self.settings.import_ahead,
            timeout_s=self.settings.import_timeout_s,
        )

    def consolidating(self, writing: Writing, comparer: BoundedExecutor) -> Consolidating:
        """Return what makes one memory of several."""
        return Consolidating(
            self.store,
            writing,
            self.stamps,
            comparer=comparer,
            message_bytes=self.settings.message_bytes,
            embed_timeout_s=self.settings.embed_timeout_s,
            clock=self.clock,
        )

    def lifecycle(self, writing: Writing) -> Lifecycle:
        """Return what archives, clears, restores and shows in the order of time."""
        days = {
            MemoryType.SESSION_NOTE: self.settings.archive_session_note_days,
            MemoryType.DEBUG_LOG: self.settings.archive_debug_log_days,
        }
        return Lifecycle(
            Archiving(self.store, self.stamps, days=days, clock=self.clock),
            Clearing(self.store, clock=self.clock),
            Versioning(self.store, writing, message_bytes=self.settings.message_bytes, clock=self.clock),
            Timelines(self.store),
        )

    def schedule(self) -> Schedule:
        """Return when old memories are archived."""
        return Schedule(
            first_s=_FIRST_ARCHIVING_S,
            interval_s=self.settings.archive_interval_hours * _HOUR_S,
            pause=self.pause,
        )
