"""The use cases: search, status, rebuild, pushed changes."""

from collections.abc import Sequence
from dataclasses import dataclass

from satchel.index import metrics
from satchel.index.board import Board, Status
from satchel.index.contents import count_contents
from satchel.index.errors import (
    ChangeGap,
    DimensionMismatch,
    IndexNotReady,
    ModelMismatch,
    RevisionNotReached,
    RevisionUnknown,
)
from satchel.index.following import Follower
from satchel.index.model import Answer, Change, Hit, Model, Query
from satchel.index.ports import ExactSearch
from satchel.index.searching import IndexView, Method, search_view
from satchel.index.writing import Writer
from satchel.runtime.deadlines import remaining_s
from satchel.runtime.errors import Code, ServiceError
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.metrics.measuring import measured
from satchel.runtime.telemetry import span

_UNREACHABLE = frozenset(
    {Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.UNIMPLEMENTED, Code.RESOURCE_EXHAUSTED}
)
_WAIT_SHARE = 0.5
# Passages that are compared in some 0.6 ms; to change threads twice takes 0.3 ms, and more beside other work.
_AT_ONCE = 12_000


@dataclass(frozen=True, slots=True)
class Waits:
    """How long a search may take without a deadline of its caller, and wait for a revision at most.

    A wait takes at most half of what is left of the deadline, so that the store can still be asked.
    """

    search_s: float = 5.0
    revision_s: float = 2.0


class Engine:
    """Answers from the view on the board, or else from the store."""

    def __init__(
        self,
        board: Board,
        writer: Writer,
        follower: Follower | None,
        *,
        exact: ExactSearch,
        searches: BoundedExecutor,
        method: Method,
        waits: Waits,
    ) -> None:
        self._board = board
        self._writer = writer
        self._follower = follower
        self._exact = exact
        self._searches = searches
        self.method = method
        self._waits = waits

    async def search(self, query: Query) -> Answer:
        """Return the memories nearest to the query, best first.

        Raises:
            DimensionMismatch: the query has another length than the index's vectors.
            ModelMismatch: another model made the query.
            RevisionNotReached: ``min_revision`` was not applied in time, nor does the store answer.
            IndexNotReady: the index is not current, and the store does not answer.
        """
        with span("satchel.index.search", top_k=query.top_k) as current:
            answer = await self._search(query)
            current.set(hits=len(answer.hits), degraded=answer.degraded, revision=answer.applied_revision)
            return answer

    async def _search(self, query: Query) -> Answer:
        board = self._board
        if not board.is_current:
            return await self._from_store(query)
        if not await board.wait_for(query.min_revision, self._wait_s()):
            return await self._from_store(query)
        answer = await self._from_view(board.view, query, degraded=board.is_partial)
        metrics.FROM_INDEX.inc()
        return answer

    def _wait_s(self) -> float:
        return min(self._waits.revision_s, _WAIT_SHARE * remaining_s(self._waits.search_s))

    async def _from_view(self, view: IndexView, query: Query, *, degraded: bool) -> Answer:
        if view.model is not None:
            _check_query(query, view.model)
        with measured(None, metrics.SEARCH_SECONDS):
            hits = await self._hits(view, query)
        return Answer(hits, view.revision, degraded, view.model)

    async def _hits(self, view: IndexView, query: Query) -> tuple[Hit, ...]:
        """Compare with few passages at once, and with many on a thread, so that they stall nobody."""
        if sum(segment.live for segment in view.segments(query.filter)) <= _AT_ONCE:
            return search_view(view, query, self.method)
        return await self._searches.run(search_view, view, query, self.method)

    async def _from_store(self, query: Query) -> Answer:
        """Ask the store; if it does not answer, a loaded snapshot does, unless a revision was wanted."""
        try:
            answer = await self._exact.search(query, remaining_s(self._waits.search_s))
        except ServiceError as exc:
            if exc.code not in _UNREACHABLE:
                raise
            return await self._without_store(query, exc)
        if answer.applied_revision < query.min_revision:
            raise RevisionUnknown(wanted=query.min_revision, newest=answer.applied_revision)
        metrics.FROM_STORE.inc()
        return answer

    async def _without_store(self, query: Query, cause: ServiceError) -> Answer:
        board = self._board
        if board.view.revision < query.min_revision:
            raise RevisionNotReached(wanted=query.min_revision, applied=board.view.revision) from cause
        if board.is_loading or board.rebuild_progress is not None or not board.view.revision:
            raise IndexNotReady(state=board.state.value) from cause
        answer = await self._from_view(board.view, query, degraded=True)
        metrics.FROM_SNAPSHOT.inc()
        return answer

    async def status(self) -> Status:
        """Return the state of the index and what it holds."""
        return self._board.status(await self._searches.run(count_contents, self._board.view))

    async def rebuild(self) -> int:
        """Begin a rebuild, or join the one that runs; return the revision that it aims at.

        Raises:
            IndexNotReady: the index does not follow a store, so it has nothing to rebuild from.
        """
        if self._follower is None:
            raise IndexNotReady(state="not following a store")
        return self._follower.ask_for_rebuild()

    async def push(self, changes: Sequence[Change], *, after_revision: int | None = None) -> int:
        """Apply changes that the caller pushes; return the last applied revision.

        Without ``after_revision`` they must have every revision after the last applied one. With it they
        are what the feed gave after that revision: what is not among them was replaced by later changes.

        Raises:
            ChangeGap: a revision is missing, or the changes do not ascend.
            ModelMismatch: the vectors are of another model than the index's.
            DimensionMismatch: the vectors have another length than the index's.
        """
        view = self._board.view
        fresh = [change for change in changes if change.revision > view.revision]
        _check_order(fresh, applied=view.revision, after_revision=after_revision)
        model = view.model
        for number, change in enumerate(fresh):
            if change.vectors is None or not len(change.vectors):
                continue
            model = model or Model(change.model_sha256, change.vectors.shape[1])
            _check_change(number, change, model)
        if fresh:
            view = await self._writer.apply(fresh, revision=fresh[-1].revision, model=model)
        return view.revision


def _check_order(changes: Sequence[Change], *, applied: int, after_revision: int | None) -> None:
    if after_revision is not None and after_revision > applied:
        raise ChangeGap(expected=applied + 1, actual=after_revision + 1)
    expected = applied + 1
    for change in changes:
        if change.revision < expected or (after_revision is None and change.revision > expected):
            raise ChangeGap(expected=expected, actual=change.revision)
        expected = change.revision + 1


def _check_query(query: Query, model: Model) -> None:
    if query.model_sha256 and query.model_sha256 != model.sha256:
        raise ModelMismatch(expected=model.sha256, actual=query.model_sha256)
    if len(query.vector) != model.dimension:
        raise DimensionMismatch(field="vector", expected=model.dimension, actual=len(query.vector))


def _check_change(number: int, change: Change, model: Model) -> None:
    if change.model_sha256 != model.sha256:
        raise ModelMismatch(expected=model.sha256, actual=change.model_sha256)
    if change.vectors is not None and change.vectors.shape[1] != model.dimension:
        raise DimensionMismatch(
            field=f"changes[{number}].vectors",
            expected=model.dimension,
            actual=change.vectors.shape[1],
        )
