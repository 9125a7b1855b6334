"""Follows the store's change feed, and rebuilds the index when following is not enough."""

import asyncio
import logging
import time
from contextlib import aclosing
from dataclasses import dataclass

from satchel.index import metrics
from satchel.index.board import Board
from satchel.index.model import FeedBatch, Model
from satchel.index.ports import ChangeFeed
from satchel.index.writing import Writer
from satchel.runtime.errors import ServiceError

log = logging.getLogger(__name__)

OTHER_STORE = "The store was replaced: it is the database {found}, the index holds {known}."
REPLACED = "The store was replaced: its newest revision {head} is before the index's {applied}."
OTHER_MODEL = "The store holds vectors of the model {found}, the index those of {known}."
TOO_FAR_BEHIND = "The snapshot is {lag} revisions behind the store, more than {limit}."
ASKED_FOR = "A rebuild was asked for."


@dataclass(frozen=True, slots=True)
class FollowTuning:
    """``most_lag`` revisions behind the store a snapshot is not worth catching up.

    Connections are tried again after ``first_retry_s``, then twice as long each time, up to
    ``longest_retry_s``.
    """

    most_lag: int = 200_000
    first_retry_s: float = 0.1
    longest_retry_s: float = 5.0


class Follower:
    """Keeps the index at the head of the store."""

    def __init__(self, board: Board, writer: Writer, feed: ChangeFeed, tuning: FollowTuning) -> None:
        self._board = board
        self._writer = writer
        self._feed = feed
        self._tuning = tuning
        self._target: int | None = None
        self._rebuild_wanted = asyncio.Event()
        self._began = 0.0

    async def follow(self) -> None:
        """Load the snapshot, then follow the feed until cancelled, reconnecting as often as needed."""
        reason = await self._writer.load()
        self._board.is_loading = False
        if reason:
            self._begin_rebuild(reason)
        retry_s = self._tuning.first_retry_s
        while True:
            try:
                if await self._follow_once():
                    retry_s = self._tuning.first_retry_s
                    continue
            except ServiceError as exc:
                log.warning("index.feed.lost", extra={"reason": exc.reason, "retry_s": retry_s})
            self._board.note_connection(is_connected=False)
            await asyncio.sleep(retry_s)
            retry_s = min(2 * retry_s, self._tuning.longest_retry_s)

    async def serve_rebuilds(self) -> None:
        """Rebuild the index aside whenever `ask_for_rebuild` was called, until cancelled."""
        while True:
            await self._rebuild_wanted.wait()
            began = time.perf_counter()
            try:
                await self._rebuild_aside()
                self._note_rebuilt(began)
            except ServiceError as exc:
                self._board.rebuild_reason = f"{ASKED_FOR} It failed: {exc.message}"
                log.warning("index.rebuild.failed", extra={"reason": exc.reason})
            self._board.rebuild_progress = None
            self._rebuild_wanted.clear()

    def ask_for_rebuild(self) -> int:
        """Begin a rebuild, or join the one that runs; return the revision that it aims at."""
        if self._board.rebuild_progress is None:
            metrics.REBUILDS.inc()
            self._board.rebuild_reason = ASKED_FOR
            self._board.rebuild_progress = 0.0
            self._rebuild_wanted.set()
        return self._board.head_revision

    async def _follow_once(self) -> bool:
        """Follow one connection to its end; return whether it brought anything."""
        useful = False
        async with aclosing(self._feed.watch(self._board.view.revision)) as batches:
            async for batch in batches:
                useful = True
                self._board.note_connection(is_connected=True)
                self._board.head_revision = batch.head_revision
                self._board.is_partial = batch.reembedding
                reason = self._reason_to_rebuild(batch)
                if reason:
                    await self._writer.replace(self._writer.new_catalog())
                    self._board.snapshot_revision = 0
                    self._begin_rebuild(reason)
                    return True
                await self._take(batch)
        return useful

    def _begin_rebuild(self, reason: str) -> None:
        log.info("index.rebuild.begun", extra={"reason": reason})
        metrics.REBUILDS.inc()
        self._board.is_current = False
        self._board.rebuild_reason = reason
        self._board.rebuild_progress = 0.0
        self._target = None
        self._began = time.perf_counter()

    def _reason_to_rebuild(self, batch: FeedBatch) -> str:
        view = self._board.view
        if _is_other_store(view.store_id, batch.store_id):
            return OTHER_STORE.format(found=batch.store_id, known=view.store_id)
        if batch.head_revision < view.revision:
            return REPLACED.format(head=batch.head_revision, applied=view.revision)
        if batch.model and view.model and _is_other_model(view.model, batch.model):
            return OTHER_MODEL.format(found=batch.model.sha256[:12], known=view.model.sha256[:12])
        lag = batch.head_revision - view.revision
        if (
            not self._board.is_current
            and view.revision
            and self._target is None
            and lag > self._tuning.most_lag
        ):
            return TOO_FAR_BEHIND.format(lag=lag, limit=self._tuning.most_lag)
        return ""

    async def _take(self, batch: FeedBatch) -> None:
        if self._target is None:
            self._target = batch.head_revision
        view = await self._writer.apply(
            batch.changes, revision=batch.through_revision, model=batch.model, store_id=batch.store_id
        )
        if self._board.is_current:
            return
        if view.revision >= self._target:
            self._board.is_current = True
            if self._began:
                self._note_rebuilt(self._began)
                self._began = 0.0
            if not self._rebuild_wanted.is_set():
                self._board.rebuild_progress = None
        elif self._board.rebuild_progress is not None:
            self._board.rebuild_progress = view.revision / self._target

    def _note_rebuilt(self, began: float) -> None:
        segments = (segment for one in self._board.view.projects.values() for segment in one)
        self._writer.note("rebuild", passages=sum(one.view.live for one in segments), began=began)

    async def _rebuild_aside(self) -> None:
        """Read the whole store into a new catalog, then swap; the old one follows and answers meanwhile."""
        catalog = self._writer.new_catalog()
        while True:
            async with aclosing(self._feed.watch(catalog.revision, stop_at_head=True)) as batches:
                async for batch in batches:
                    if _is_other_store(catalog.store_id, batch.store_id) or _is_other_model(
                        catalog.model, batch.model
                    ):
                        catalog = self._writer.new_catalog()
                        break
                    await self._writer.fill(catalog, batch)
                    share = catalog.revision / max(batch.head_revision, 1)
                    self._board.rebuild_progress = min(share, 1.0)
            if await self._writer.replace(catalog, unless_behind=True):
                return


def _is_other_store(known: str, found: str) -> bool:
    """Return whether two ids are of different databases; an empty one is unknown."""
    return bool(known and found and known != found)


def _is_other_model(known: Model | None, found: Model | None) -> bool:
    """Return whether two models are different ones; `None` is unknown."""
    return known is not None and found is not None and known.sha256 != found.sha256
