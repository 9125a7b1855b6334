"""Changes the index: applies changes, builds graphs behind the scenes, keeps snapshots.

Changes run one after another on one thread; graphs and snapshots on another. Searches need neither.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol

from satchel.index import metrics
from satchel.index.board import Board
from satchel.index.catalog import Catalog, Job
from satchel.index.errors import SnapshotUnusable
from satchel.index.graph import MeasuredGraph
from satchel.index.model import Change, FeedBatch, Model
from satchel.index.ports import Maintenance, SnapshotStore, VectorLibrary
from satchel.index.searching import IndexView
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.metrics.measuring import measured
from satchel.runtime.telemetry import span

log = logging.getLogger(__name__)

_MOST_TO_TELL = 16


class _Done(NamedTuple):
    """A maintenance to be told of."""

    action: str
    passages: int
    seconds: float
    revision: int


class Publication(Protocol):
    """A step on the writing thread that ends with a new view, or with `None` if nothing changed."""

    def __call__(self) -> IndexView | None:
        """Do the step."""
        ...


class Writer:
    """The only one that changes the catalog; publishes every change on the board."""

    def __init__(
        self,
        board: Board,
        library: VectorLibrary,
        *,
        crossover: int,
        ef_search: int,
        writes: BoundedExecutor,
        builds: BoundedExecutor,
        snapshots: SnapshotStore | None,
        snapshot_every: int,
        quiet_s: float,
        maintenance: Maintenance | None = None,
    ) -> None:
        self._board = board
        self._library = library
        self._crossover = crossover
        self._ef_search = ef_search
        self._writes = writes
        self._builds = builds
        self._snapshots = snapshots
        self._snapshot_every = snapshot_every
        self._quiet_s = quiet_s
        self._maintenance = maintenance
        self._to_tell: asyncio.Queue[_Done] = asyncio.Queue(_MOST_TO_TELL)
        self._is_unsettled = False
        self._catalog = Catalog(crossover=crossover)
        self._changed = asyncio.Event()
        self._stopping = threading.Event()
        self._publishing = asyncio.Lock()

    def new_catalog(self) -> Catalog:
        """Return an empty catalog of the same settings, to be filled aside."""
        return Catalog(crossover=self._crossover)

    async def load(self) -> str:
        """Take over the snapshot; return why there is none that could be used, or an empty text."""
        if self._snapshots is None:
            return "No folder for snapshots is set."
        try:
            snapshot = await self._builds.run(self._snapshots.load)
        except SnapshotUnusable as exc:
            log.warning("index.snapshot.unusable", extra={"reason": str(exc)})
            return str(exc)
        if snapshot is None:
            return "There is no snapshot."
        catalog = await self._writes.run(Catalog.restore, snapshot, crossover=self._crossover)
        await self.replace(catalog)
        self._board.snapshot_revision = catalog.revision
        return ""

    async def load_without_feed(self) -> None:
        """Take over the snapshot where nothing else follows: changes will be pushed."""
        await self.load()
        self._board.is_loading = False
        self._board.is_current = True
        self._board.note_connection(is_connected=True)

    async def apply(
        self, changes: Sequence[Change], *, revision: int, model: Model | None = None, store_id: str = ""
    ) -> IndexView:
        """Apply changes; see `Catalog.apply`."""

        def step() -> IndexView:
            return self._catalog.apply(changes, revision=revision, model=model, store_id=store_id)

        with span("satchel.index.apply", changes=len(changes), revision=revision):
            await self._publish(step)
        metrics.CHANGES.inc(len(changes))
        self._changed.set()
        return self._board.view

    async def fill(self, catalog: Catalog, batch: FeedBatch) -> None:
        """Apply changes to a catalog that is not in use yet."""
        await self._writes.run(
            catalog.apply,
            batch.changes,
            revision=batch.through_revision,
            model=batch.model,
            store_id=batch.store_id,
        )

    async def replace(self, catalog: Catalog, *, unless_behind: bool = False) -> bool:
        """Put another catalog in the place of the present one; return whether that was done."""

        def step() -> IndexView | None:
            if unless_behind and catalog.revision < self._catalog.revision:
                return None
            self._catalog = catalog
            return catalog.view()

        is_replaced = await self._publish(step)
        self._changed.set()
        return is_replaced

    async def maintain(self) -> None:
        """Build graphs and save snapshots whenever changes call for it, until cancelled."""
        while True:
            is_quiet = not await self._is_changed()
            await self.build_graphs(is_quiet=is_quiet)
            if self._board.view.revision - self._board.snapshot_revision >= self._snapshot_every:
                await self.save()

    async def _is_changed(self) -> bool:
        """Wait for a change; return `False` once when changes have just ceased."""
        try:
            async with asyncio.timeout(self._quiet_s if self._is_unsettled else None):
                await self._changed.wait()
        except TimeoutError:
            self._is_unsettled = False
            return False
        self._changed.clear()
        self._is_unsettled = True
        return True

    async def build_graphs(self, *, is_quiet: bool = False) -> None:
        """Build the graphs that are due, one after another; searches go on meanwhile."""
        while not self._stopping.is_set():
            catalog = self._catalog
            job = await self._writes.run(catalog.next_job, is_quiet=is_quiet)
            if job is None:
                return
            began = time.perf_counter()
            with span("satchel.index.build", rows=job.view.count), measured(None, metrics.BUILD_SECONDS):
                graph = await self._builds.run(
                    job.run, self._library, self._stopping.is_set, ef_search=self._ef_search
                )
            await self._publish(partial(self._finish, catalog, job, graph))
            self.note("graph", passages=job.view.count, began=began)

    def note(self, action: str, *, passages: int, began: float) -> None:
        """Let it be told of a maintenance that began at a time of `time.perf_counter`, soon if at all."""
        if self._maintenance is not None and not self._to_tell.full():
            seconds = time.perf_counter() - began
            self._to_tell.put_nowait(_Done(action, passages, seconds, self._board.view.revision))

    async def tell(self) -> None:
        """Tell of maintenances until cancelled, so that nothing else waits for who is told."""
        while self._maintenance is not None:
            done = await self._to_tell.get()
            await self._maintenance.note(
                done.action, passages=done.passages, seconds=done.seconds, revision=done.revision
            )

    def _finish(self, catalog: Catalog, job: Job, graph: MeasuredGraph | None) -> IndexView | None:
        view = catalog.finish(job, graph)
        return view if catalog is self._catalog else None

    async def save(self) -> None:
        """Write a snapshot of the present view. A failure is logged and tried again with later changes."""
        if self._snapshots is None or self._board.view.revision == self._board.snapshot_revision:
            return
        snapshot = await self._writes.run(self._catalog.snapshot)
        try:
            with span("satchel.index.snapshot", revision=snapshot.revision):
                await self._builds.run(self._snapshots.save, snapshot)
        except OSError:
            log.exception("index.snapshot.failed", extra={"revision": snapshot.revision})
            metrics.FAILED.inc()
            return
        metrics.WRITTEN.inc()
        self._board.snapshot_revision = snapshot.revision

    def stop(self) -> None:
        """Let a running build end soon."""
        self._stopping.set()

    async def _publish(self, step: Publication) -> bool:
        """Run a step on the writing thread and publish its view, in the order of the steps."""
        async with self._publishing:
            view = await self._writes.run(step)
            if view is not None:
                self._board.publish(view)
        return view is not None
