"""Counts what a view of the index holds."""

from collections.abc import Iterator

import numpy as np

from satchel.index.model import Contents, PartitionCounts
from satchel.index.searching import IndexView
from satchel.index.segment import SegmentView

_MOST_PARTITIONS = 100


def count_contents(view: IndexView) -> Contents:
    """Count passages, memories and bytes; takes time in proportion to the rows, not their width."""
    partitions = sorted(_partitions(view), key=lambda item: (-item.live, item.project, item.wing))
    views = [segment.view for segments in view.projects.values() for segment in segments]
    return Contents(
        passages=sum(segment.live for segment in views),
        memories=sum(
            int(np.count_nonzero(segment.alive & (segment.columns.passage == 0))) for segment in views
        ),
        tombstones=sum(segment.count - segment.live for segment in views),
        memory_bytes=sum(_nbytes(segment) for segment in views),
        partitions=tuple(partitions[:_MOST_PARTITIONS]),
    )


def _partitions(view: IndexView) -> Iterator[PartitionCounts]:
    for project, segments in view.projects.items():
        live: dict[int, int] = {}
        dead: dict[int, int] = {}
        in_graph: set[int] = set()
        for segment in segments:
            wings, alive = segment.view.columns.wing, segment.view.alive
            _add_counts(live, np.bincount(wings[alive]))
            _add_counts(dead, np.bincount(wings[~alive]))
            if segment.view.base is not None:
                in_graph |= set(np.unique(wings[: segment.view.base_count]).tolist())
        for wing in sorted(live.keys() | dead.keys()):
            name = view.vocabulary.wings.name(wing)
            yield PartitionCounts(project, name, live.get(wing, 0), dead.get(wing, 0), wing in in_graph)


def _add_counts(totals: dict[int, int], counts: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> None:
    for wing in np.flatnonzero(counts).tolist():
        totals[wing] = totals.get(wing, 0) + int(counts[wing])


def _nbytes(view: SegmentView) -> int:
    columns = sum(array.nbytes for array in view.columns.arrays().values())
    return (view.base.nbytes if view.base else 0) + view.tail.nbytes + columns + view.alive.nbytes
