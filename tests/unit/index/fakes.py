"""Stands in for FAISS and for the store, in memory, and the brute force that answers are compared with."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from satchel.index.graph import Graph, Scored
from satchel.index.model import (
    ACTIVE,
    Answer,
    Change,
    FeedBatch,
    Filter,
    FloatMatrix,
    FloatVector,
    Hit,
    Model,
    Query,
    RowNumbers,
)
from satchel.runtime.errors import PeerUnavailable

DIMENSION = 8
MODEL = Model("a" * 64, DIMENSION, "test-model", "1", 256)


class NumpyGraph:
    """A graph that walks perfectly: it gives exactly the ``breadth`` nearest rows."""

    def __init__(self, rows: FloatMatrix) -> None:
        self._rows = rows
        self.breadths: list[int] = []

    @property
    def count(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def vectors(self) -> FloatMatrix:
        return self._rows

    def search(self, query: FloatVector, breadth: int) -> Scored:
        self.breadths.append(breadth)
        return _nearest(self._rows, np.arange(self.count), query, breadth)

    def write(self, path: Path) -> None:
        path.write_bytes(self._rows.tobytes())


class NumpyLibrary:
    """Exact search by numpy, and graphs that walk perfectly."""

    def exact(self, vectors: FloatMatrix, rows: RowNumbers | None, query: FloatVector, count: int) -> Scored:
        return _nearest(vectors, np.arange(len(vectors)) if rows is None else rows, query, count)

    def extend(self, base: Graph | None, vectors: FloatMatrix, stop: Callable[[], bool]) -> NumpyGraph | None:
        if stop():
            return None
        return NumpyGraph(np.concatenate([base.vectors(), vectors] if base is not None else [vectors]))

    def read(self, path: Path) -> NumpyGraph:
        return NumpyGraph(np.frombuffer(path.read_bytes(), np.float32).reshape(-1, DIMENSION))


class FakeFeed:
    """A change feed of the newest change of each memory, as the store's is."""

    def __init__(
        self, changes: Iterable[Change] = (), *, model: Model | None = MODEL, store_id: str = ""
    ) -> None:
        self.changes: dict[str, Change] = {}
        self.head = 0
        self.model = model
        self.store_id = store_id
        self.reembedding = False
        self.is_reachable = True
        self.starts: list[int] = []
        self._grown = asyncio.Event()
        self.add(*changes)

    def add(self, *changes: Change) -> None:
        for change in changes:
            self.changes[change.memory_id] = change
            self.head = max(self.head, change.revision)
        self._wake()

    def tell(self, *, reembedding: bool) -> None:
        """Give a batch without a change, at the next revision."""
        self.reembedding = reembedding
        self.head += 1
        self._wake()

    def replace(self, changes: Iterable[Change], *, store_id: str = "") -> None:
        """Become another store."""
        self.changes, self.head, self.store_id = {}, 0, store_id
        self.add(*changes)

    def disconnect(self) -> None:
        self.is_reachable = False
        self._wake()

    def _wake(self) -> None:
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()

    async def watch(
        self, after_revision: int, *, stop_at_head: bool = False
    ) -> AsyncGenerator[FeedBatch, None]:
        self.starts.append(after_revision)
        position, is_first = after_revision, True
        while True:
            if not self.is_reachable:
                raise PeerUnavailable
            grown = self._grown
            fresh = sorted(
                (c for c in self.changes.values() if c.revision > position), key=lambda c: c.revision
            )
            if fresh or is_first or position < self.head:
                is_first = False
                batch = tuple(fresh[:3])
                position = batch[-1].revision if len(fresh) > len(batch) else max(position, self.head)
                through = min(position, self.head)
                yield FeedBatch(batch, self.head, through, self.model, self.store_id, self.reembedding)
                continue
            if stop_at_head:
                return
            await grown.wait()


class FakeExact:
    """The store's exact search over what a feed holds."""

    def __init__(self, feed: FakeFeed) -> None:
        self._feed = feed
        self.is_reachable = True

    async def search(self, query: Query, timeout_s: float) -> Answer:
        assert timeout_s > 0
        if not self.is_reachable:
            raise PeerUnavailable
        hits = brute_force(self._feed.changes.values(), query)
        return Answer(hits, self._feed.head, degraded=True, model=self._feed.model)


def unit_rows(rng: np.random.Generator, count: int, dimension: int = DIMENSION) -> FloatMatrix:
    rows = rng.standard_normal((count, dimension)).astype(np.float32)
    scaled: FloatMatrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def direction(axis: int, other: int | None = None) -> FloatMatrix:
    """Return one unit row along an axis, or halfway between two."""
    row = np.zeros((1, DIMENSION), np.float32)
    row[0, axis] = 1.0
    if other is not None:
        row[0, axis] = row[0, other] = np.sqrt(0.5)
    return row


def upsert(revision: int, memory_id: str, vectors: FloatMatrix | None, **fields: object) -> Change:
    given: dict[str, object] = {"wing": "work", "room": "general", "type": 2, **fields}
    return Change(revision, memory_id, vectors=vectors, model_sha256=MODEL.sha256, **given)  # type: ignore[arg-type]


def delete(revision: int, memory_id: str) -> Change:
    return Change(revision, memory_id, deleted=True)


def passes(change: Change, wanted: Filter) -> bool:
    """Say row by row, in plain Python, what a filter means."""
    return (
        not change.deleted
        and change.project == wanted.project
        and (not wanted.wings or change.wing in wanted.wings)
        and (not wanted.rooms or change.room in wanted.rooms)
        and (not wanted.types or change.type in wanted.types)
        and change.state in (wanted.states or (ACTIVE,))
        and (not wanted.session_ids or change.session_id in wanted.session_ids)
        and set(wanted.tags) <= set(change.tags)
        and (wanted.since_us is None or change.effective_us >= wanted.since_us)
        and (wanted.until_us is None or change.effective_us < wanted.until_us)
    )


def brute_force(changes: Iterable[Change], query: Query) -> tuple[Hit, ...]:
    """Compare with every passage of every memory that passes."""
    hits = []
    for change in changes:
        if change.vectors is None or not len(change.vectors) or not passes(change, query.filter):
            continue
        scores = [round(float(score), 6) for score in (change.vectors @ query.vector).astype(np.float64)]
        hits.append(Hit(change.memory_id, max(scores), scores.index(max(scores))))
    least = -2.0 if query.min_score is None else query.min_score
    return tuple(
        sorted((hit for hit in hits if hit.score >= least), key=lambda hit: (-hit.score, hit.memory_id))[
            : query.top_k
        ]
    )


async def until(condition: Callable[[], bool]) -> None:
    """Let other tasks run until a condition holds; at most ten seconds."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  # what is waited for is the code's own progress
            await asyncio.sleep(0)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.memory_id for hit in hits]


def _nearest(vectors: FloatMatrix, rows: RowNumbers, query: FloatVector, count: int) -> Scored:
    scores = vectors[rows] @ query
    order = np.argsort(-scores, kind="stable")[:count]
    return scores[order], rows[order]
