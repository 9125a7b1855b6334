"""The writer's side of the index: segments by project, changed by one thread, published as views.

A project has one segment that its small wings share, so that a thousand wings of ten memories are one
comparison, and one segment for each wing above the crossover. A segment above the crossover gets a graph,
which grows on a copy while the old one, and exact search over the rows behind it, answer.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from satchel.index.calibration import measure_breadth
from satchel.index.columns import Columns
from satchel.index.graph import CHUNK_ROWS, Graph, MeasuredGraph
from satchel.index.memories import MemoryTable
from satchel.index.model import Change, FloatMatrix, Model, RowNumbers
from satchel.index.ports import VectorLibrary
from satchel.index.searching import IndexView, WingSegment
from satchel.index.segment import Segment, SegmentView
from satchel.index.snapshots import Names, SegmentImage, Snapshot
from satchel.index.vocabulary import Vocabulary

_DEAD_SHARE = 0.3
_LEAST_DEAD = 64
# Rows behind a graph that are worth a copy of it, at least and for each `_BEHIND_ROWS` rows in it.
_LEAST_BEHIND = 2_048
_LEAST_BEHIND_QUIET = CHUNK_ROWS
_BEHIND_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class Job:
    """A graph to build for a segment: over the rows behind the present one, or anew over ``keep``."""

    segment: Segment
    view: SegmentView
    keep: RowNumbers | None = None

    def run(
        self, library: VectorLibrary, stop: Callable[[], bool], *, ef_search: int = 100
    ) -> MeasuredGraph | None:
        """Build the graph and measure it; `None` if ``stop`` said so.

        ``ef_search`` is the least breadth of a walk. Takes long: run it on a thread of its own.
        """
        graph = self._build(library, stop)
        if graph is None:
            return None
        breadth = measure_breadth(graph, library, ef_search=ef_search, stop=stop)
        return None if breadth is None else MeasuredGraph(graph, breadth)

    def _build(self, library: VectorLibrary, stop: Callable[[], bool]) -> Graph | None:
        if self.keep is not None:
            return library.extend(None, self.view.vectors(self.keep), stop)
        # Whole chunks only, so that the graph does not depend on the moment of the job.
        end = self.view.count // CHUNK_ROWS * CHUNK_ROWS
        return library.extend(self.view.base, self.view.tail[: end - self.view.base_count], stop)


class Catalog:
    """All segments. Every method runs on one thread at a time; the views may go anywhere."""

    def __init__(self, *, crossover: int) -> None:
        self.revision = 0
        self.store_id = ""
        self.model: Model | None = None
        self._crossover = crossover
        self._vocabulary = Vocabulary()
        self._memories = MemoryTable()
        self._projects: dict[str, list[Segment]] = {}

    @classmethod
    def restore(cls, snapshot: Snapshot, *, crossover: int) -> "Catalog":
        """Return a catalog with the content of a snapshot."""
        catalog = cls(crossover=crossover)
        catalog.revision, catalog.model = snapshot.revision, snapshot.model
        catalog.store_id = snapshot.store_id
        names = snapshot.names
        catalog._vocabulary = Vocabulary(names.wings, names.rooms, names.sessions, names.tagsets)
        used, numbers = _renumbering(snapshot)
        catalog._memories = MemoryTable(names.memories[number] for number in used)
        for image in snapshot.segments:
            wing = None if image.wing is None else catalog._vocabulary.wings.add(image.wing)
            arrays = image.columns.arrays() | {"memory": numbers[image.columns.memory]}
            segment = Segment(
                image.project,
                wing,
                image.tail,
                base=None if image.graph is None else MeasuredGraph(image.graph, image.breadth),
                columns=Columns(**arrays),
                alive=image.alive,
            )
            catalog._projects.setdefault(image.project, []).append(segment)
            catalog._memories.relocate(segment, segment.view())
        return catalog

    def view(self) -> IndexView:
        """Return the index as it is now."""
        return IndexView(
            revision=self.revision,
            store_id=self.store_id,
            model=self.model,
            projects={
                project: tuple(WingSegment(segment.wing, segment.view()) for segment in segments)
                for project, segments in self._projects.items()
            },
            memory_ids=self._memories.ids,
            vocabulary=self._vocabulary,
        )

    def snapshot(self) -> Snapshot:
        """Return what a snapshot of this moment holds."""
        wings = self._vocabulary.wings
        return Snapshot(
            revision=self.revision,
            store_id=self.store_id,
            model=self.model,
            names=Names(
                memories=self._memories.ids.copy(),
                wings=wings.names(),
                rooms=self._vocabulary.rooms.names(),
                sessions=self._vocabulary.sessions.names(),
                tagsets=self._vocabulary.tagsets.sets(),
            ),
            segments=tuple(
                _image(segment, None if segment.wing is None else wings.name(segment.wing))
                for segments in self._projects.values()
                for segment in segments
            ),
        )

    def apply(
        self, changes: Sequence[Change], *, revision: int, model: Model | None = None, store_id: str = ""
    ) -> IndexView:
        """Apply changes up to ``revision``, all at once for those who search; return the new view.

        ``model`` and ``store_id`` (empty for unknown) are noted if they were not known. Changes up to the
        present revision are skipped. Of several changes of one memory the last counts. Vectors of another
        model than the index's are left out: they cannot be compared.
        """
        if self.model is None:
            self.model = model
        self.store_id = self.store_id or store_id
        newest = {change.memory_id: change for change in changes if change.revision > self.revision}
        arriving: dict[Segment, list[Change]] = {}
        touched: set[Segment] = set()
        for change in newest.values():
            place = self._memories.lift(change.memory_id)
            if place is not None:
                place.segment.kill(slice(place.start, place.end))
                touched.add(place.segment)
            if self._is_searchable(change):
                arriving.setdefault(self._segment_for(change), []).append(change)
            else:
                self._memories.forget(change.memory_id)
        for segment, group in arriving.items():
            self._add(segment, group)
        self.revision = max(self.revision, revision)
        self._tidy(touched | set(arriving))
        return self.view()

    def next_job(self, *, is_quiet: bool = False) -> Job | None:
        """Return the next graph to build, or `None`; call `finish` with it in any case.

        ``is_quiet`` says that few changes come, so that few rows behind a graph are worth adding to it.
        """
        least = _LEAST_BEHIND_QUIET if is_quiet else _LEAST_BEHIND
        for segment in self._all():
            job = None if segment.is_busy else self._job(segment, least)
            if job is not None:
                segment.is_busy = True
                return job
        return None

    def finish(self, job: Job, graph: MeasuredGraph | None) -> IndexView:
        """Put a built graph to use, or give up the job if there is none; return the new view."""
        job.segment.is_busy = False
        if graph is not None and job.keep is None:
            job.segment.adopt(graph)
        elif graph is not None and job.keep is not None:
            self._compact(job.segment, job.view, job.keep, graph)
        self._tidy({job.segment})
        return self.view()

    def _all(self) -> Iterable[Segment]:
        return (segment for segments in self._projects.values() for segment in segments)

    def _is_searchable(self, change: Change) -> bool:
        if change.deleted or change.vectors is None or not len(change.vectors) or self.model is None:
            return False
        return change.vectors.shape[1] == self.model.dimension and change.model_sha256 == self.model.sha256

    def _segment_for(self, change: Change) -> Segment:
        wing = self._vocabulary.wings.add(change.wing)
        segments = self._projects.setdefault(change.project, [])
        own = next((segment for segment in segments if segment.wing == wing), None)
        return own or self._shared(change.project)

    def _shared(self, project: str) -> Segment:
        segments = self._projects.setdefault(project, [])
        shared = next((segment for segment in segments if segment.wing is None), None)
        return shared or self._open(project, None)

    def _open(self, project: str, wing: int | None) -> Segment:
        dimension = self.model.dimension if self.model is not None else 0
        segment = Segment(project, wing, np.empty((0, dimension), np.float32))
        self._projects[project].append(segment)
        return segment

    def _add(self, segment: Segment, group: Sequence[Change]) -> None:
        vectors, columns = self._rows(group)
        start = segment.append(vectors, columns)
        for change in group:
            count = len(change.vectors) if change.vectors is not None else 0
            self._memories.put(self._memories.number(change.memory_id), segment, start, count)
            start += count

    def _rows(self, group: Sequence[Change]) -> tuple[FloatMatrix, Columns]:
        """Return the rows of some changes, the passages of a memory side by side."""
        blocks = [change.vectors for change in group if change.vectors is not None]
        counts = [len(block) for block in blocks]
        words, tagsets = self._vocabulary, self._vocabulary.tagsets
        of_memory = {
            "memory": [self._memories.number(change.memory_id) for change in group],
            "wing": [words.wings.add(change.wing) for change in group],
            "room": [words.rooms.add(change.room) for change in group],
            "session": [
                words.sessions.add(change.session_id) if change.session_id else -1 for change in group
            ],
            "tagset": [tagsets.add(change.tags) for change in group],
        }
        repeated = {name: np.repeat(np.array(values, np.int32), counts) for name, values in of_memory.items()}
        columns = Columns(
            passage=np.concatenate([np.arange(count, dtype=np.int32) for count in counts]),
            type=np.repeat(np.array([change.type for change in group], np.int8), counts),
            state=np.repeat(np.array([change.state for change in group], np.int8), counts),
            effective_us=np.repeat(np.array([change.effective_us for change in group], np.int64), counts),
            **repeated,
        )
        return np.concatenate(blocks), columns

    def _tidy(self, touched: set[Segment]) -> None:
        """Give large wings a segment of their own, and drop dead rows where that is cheap."""
        for segment in touched:
            if segment.wing is None and segment.live > self._crossover:
                self._promote(segment)
            if segment.is_busy:
                continue
            if segment.live == 0:
                self._drop(segment)
            elif _has_many_dead(segment) and segment.live <= self._crossover:
                view = segment.view()
                self._compact(segment, view, np.flatnonzero(view.alive), None)

    def _drop(self, segment: Segment) -> None:
        segments = self._projects.get(segment.project, [])
        if segment in segments:
            segments.remove(segment)
        if not segments:
            self._projects.pop(segment.project, None)

    def _promote(self, shared: Segment) -> None:
        view = shared.view()
        sizes = np.bincount(view.columns.wing[view.alive])
        for wing in np.flatnonzero(sizes > self._crossover).tolist():
            rows = np.flatnonzero(view.alive & (view.columns.wing == wing))
            own = self._open(shared.project, wing)
            own.append(view.vectors(rows), view.columns.take(rows))
            shared.kill(rows)
            self._memories.relocate(own, own.view())

    def _job(self, segment: Segment, least_behind: int) -> Job | None:
        if segment.live <= self._crossover:
            return None
        view = segment.view()
        if _has_many_dead(segment):
            # Rows of one room side by side: a filter by room then reads memory in one sweep.
            keep = np.flatnonzero(view.alive)
            order = np.lexsort((view.columns.room[keep], view.columns.wing[keep]))
            return Job(segment, view, keep[order])
        behind = view.count // CHUNK_ROWS * CHUNK_ROWS - view.base_count
        if behind <= 0 or len(view.tail) < max(least_behind, view.base_count * least_behind / _BEHIND_ROWS):
            return None
        return Job(segment, view)

    def _compact(
        self, segment: Segment, view: SegmentView, keep: RowNumbers, graph: MeasuredGraph | None
    ) -> None:
        segment.compact(view, keep, graph)
        self._memories.relocate(segment, segment.view())


def _has_many_dead(segment: Segment) -> bool:
    return segment.dead > max(_LEAST_DEAD, segment.count * _DEAD_SHARE)


def _image(segment: Segment, wing: str | None) -> SegmentImage:
    view = segment.view()
    return SegmentImage(
        segment.project, wing, view.base, view.tail, view.columns, view.alive, breadth=view.breadth
    )


def _renumbering(snapshot: Snapshot) -> tuple[list[int], "np.ndarray[tuple[int], np.dtype[np.int32]]"]:
    """Return the memory numbers still in use, ascending, and for each old number the new one."""
    is_used = np.zeros(len(snapshot.names.memories), np.bool_)
    for image in snapshot.segments:
        is_used[image.columns.memory[image.alive]] = True
    renumbered = np.maximum(np.cumsum(is_used, dtype=np.int32) - 1, 0).astype(np.int32)
    return np.flatnonzero(is_used).tolist(), renumbered
