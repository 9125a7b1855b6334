"""Finds the memories nearest to a query in a view of the index. Blocks: run it on a worker thread."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from satchel.index.graph import Graph, Scored
from satchel.index.model import Filter, FloatVector, Hit, Model, Query
from satchel.index.planning import Tuning, first_breadth, is_exact_cheaper, next_breadth
from satchel.index.ports import Effort, VectorLibrary
from satchel.index.segment import SegmentView, Selection
from satchel.index.vocabulary import Vocabulary

_DECIMALS = 6
_TIE_MARGIN = 2
_PASSAGES_PER_MEMORY = 2


@dataclass(frozen=True, slots=True)
class WingSegment:
    """A segment and its wing: a number of the vocabulary, or `None` for the shared one."""

    wing: int | None
    view: SegmentView


@dataclass(frozen=True, slots=True)
class IndexView:
    """The whole index at one revision of the store ``store_id`` (empty for unknown).

    ``memory_ids`` and ``vocabulary`` may grow, never change.
    """

    revision: int
    store_id: str
    model: Model | None
    projects: Mapping[str, tuple[WingSegment, ...]]
    memory_ids: Sequence[str]
    vocabulary: Vocabulary

    def segments(self, wanted: Filter) -> list[SegmentView]:
        """Return the segments in which rows may pass the filter."""
        segments = self.projects.get(wanted.project, ())
        if not wanted.wings:
            return [segment.view for segment in segments]
        wings = {self.vocabulary.wings.find(name) for name in wanted.wings} - {None}
        return [segment.view for segment in segments if segment.wing is None or segment.wing in wings]


@dataclass(frozen=True, slots=True)
class Method:
    """With what, and how, vectors are compared, and who is told what it took."""

    library: VectorLibrary
    tuning: Tuning
    effort: Effort = field(default_factory=Effort)


Found = tuple[float, str, int]
"""A passage: its score, negated, the id of its memory, and its number there. Sorts as hits are ordered."""


def search_view(view: IndexView, query: Query, method: Method) -> tuple[Hit, ...]:
    """Return the memories nearest to the query, each once, by its best passage.

    Ordered by descending score, then ascending id. Scores are rounded to six decimals, so that equal
    vectors have equal scores whichever way they were compared.
    """
    segments = view.segments(query.filter)
    selected = [(segment, segment.select(query.filter, view.vocabulary)) for segment in segments]
    has_long = any(segment.has_long for segment in segments)
    wanted = (query.top_k + _TIE_MARGIN) * (_PASSAGES_PER_MEMORY if has_long else 1)
    while True:
        order, floor = _nearest_of_all(selected, query.vector, wanted, method, view.memory_ids)
        if has_long:
            order = _best_passages(order)
        # Below the floor, or at it, passages that were not given may hide a better hit or a smaller id.
        if floor == -np.inf or (len(order) >= query.top_k and -order[query.top_k - 1][0] > floor):
            break
        wanted *= 4
    least = -np.inf if query.min_score is None else query.min_score
    return tuple(
        [
            Hit(memory_id, -negated, passage)
            for negated, memory_id, passage in order[: query.top_k]
            if -negated >= least
        ]
    )


def _nearest_of_all(
    selected: Sequence[tuple[SegmentView, Selection]],
    query: FloatVector,
    wanted: int,
    method: Method,
    memory_ids: Sequence[str],
) -> tuple[list[Found], float]:
    """Return the nearest passages of each segment, sorted together, and the floor of the search.

    The floor is the greatest score that a passage which was not given can have; minus infinity if all were.
    """
    order: list[Found] = []
    floor = -np.inf
    for view, selection in selected:
        if not len(selection.rows):
            continue
        scores, rows = nearest(view, selection, query, wanted, method)
        negated: list[float] = (-scores.astype(np.float64)).round(_DECIMALS).tolist()
        names = [memory_ids[number] for number in view.columns.memory[rows].tolist()]
        order += zip(negated, names, view.columns.passage[rows].tolist(), strict=True)
        if len(rows) < len(selection.rows):
            floor = max(floor, -negated[-1])
    order.sort()
    return order, floor


def _best_passages(order: Sequence[Found]) -> list[Found]:
    """Return the first passage of each memory."""
    best: dict[str, Found] = {}
    for passage in order:
        best.setdefault(passage[1], passage)
    return list(best.values())


def nearest(
    view: SegmentView, selection: Selection, query: FloatVector, wanted: int, method: Method
) -> Scored:
    """Return the ``wanted`` nearest passages of a segment, or fewer if no more pass the filter."""
    if selection.packed is not None:
        method.effort.note_compared(len(selection.rows))
        scores, found = method.library.exact(selection.packed, None, query, wanted)
        return scores, selection.rows[found]
    parts = list(_parts(view, selection, query, wanted, method))
    if len(parts) == 1:
        return parts[0]
    scores = np.concatenate([part[0] for part in parts])
    rows = np.concatenate([part[1] for part in parts])
    order = np.argsort(-scores, kind="stable")[:wanted]
    return scores[order], rows[order]


def _parts(
    view: SegmentView, selection: Selection, query: FloatVector, wanted: int, method: Method
) -> Iterator[Scored]:
    """Search the graph's rows and the rows behind it, each with row numbers of the segment."""
    if view.base is not None and selection.base_count:
        found = _walk(view.base, view.breadth, selection, query, wanted=wanted, method=method)
        if found is None:
            method.effort.note_compared(selection.base_count)
            has_all = selection.base_count == view.base_count
            rows = None if has_all else selection.rows[: selection.base_count]
            found = method.library.exact(view.base.vectors(), rows, query, wanted)
        yield found
    behind = len(selection.rows) - selection.base_count
    if behind:
        method.effort.note_compared(behind)
        rows = None if behind == len(view.tail) else selection.rows[selection.base_count :] - view.base_count
        scores, places = method.library.exact(view.tail, rows, query, wanted)
        yield scores, places + view.base_count


def _walk(
    graph: Graph, measured: int, selection: Selection, query: FloatVector, *, wanted: int, method: Method
) -> Scored | None:
    """Walk the graph until enough allowed rows are among the nearest; `None`: exact search is cheaper."""
    allowed = selection.base_count
    wanted = min(wanted, allowed)
    breadth = first_breadth(measured=measured, wanted=wanted, allowed=allowed, total=graph.count)
    while not is_exact_cheaper(method.tuning, breadth=breadth, allowed=allowed):
        scores, rows = graph.search(query, breadth)
        if not selection.everything:
            passing = selection.mask[rows]
            scores, rows = scores[passing], rows[passing]
        if len(rows) >= wanted:
            method.effort.note_walk(breadth)
            return scores[:wanted], rows[:wanted]
        breadth = next_breadth(breadth, wanted=wanted, kept=len(rows))
    return None
