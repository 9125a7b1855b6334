"""What the index needs from outside: a vector library, the store, and a place for snapshots."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Protocol

from satchel.index.graph import Graph, Scored
from satchel.index.model import Answer, FeedBatch, FloatMatrix, FloatVector, Query, RowNumbers
from satchel.index.snapshots import Snapshot


class VectorLibrary(Protocol):
    """Exact comparison, and graphs. Every method blocks: call it on a worker thread."""

    def exact(self, vectors: FloatMatrix, rows: RowNumbers | None, query: FloatVector, count: int) -> Scored:
        """Return the ``count`` rows of greatest inner product, of all or of ``rows`` (ascending)."""
        ...

    def extend(self, base: Graph | None, vectors: FloatMatrix, stop: Callable[[], bool]) -> Graph | None:
        """Return a new graph over the rows of ``base`` and then ``vectors``; ``base`` stays as it is.

        Asks ``stop`` every now and then and returns `None` when it says so.
        """
        ...

    def read(self, path: Path) -> Graph:
        """Read a graph that `Graph.write` wrote."""
        ...


class ChangeFeed(Protocol):
    """The change feed of the store."""

    def watch(self, after_revision: int, *, stop_at_head: bool = False) -> AsyncGenerator[FeedBatch, None]:
        """Yield changes after a revision, and then wait for more, until the connection's life ends.

        The caller closes the generator, which releases the connection at once.

        Raises:
            ServiceError: the store cannot be reached or refuses.
        """
        ...


class ExactSearch(Protocol):
    """The exact search of the store, which answers while the index cannot."""

    async def search(self, query: Query, timeout_s: float) -> Answer:
        """Answer from the store, marked ``degraded``.

        Raises:
            ServiceError: the store cannot be reached or refuses.
        """
        ...


class SnapshotStore(Protocol):
    """Keeps one snapshot. Every method blocks: call it on a worker thread."""

    def save(self, snapshot: Snapshot) -> None:
        """Replace the snapshot atomically: after a crash the old or the new one is there, whole."""
        ...

    def load(self) -> Snapshot | None:
        """Return the snapshot, or `None` if there is none.

        Raises:
            SnapshotUnusable: it is damaged, of another format, or unreadable.
        """
        ...


class Maintenance(Protocol):
    """Is told what was done to keep the index in order."""

    async def note(self, action: str, *, passages: int, seconds: float, revision: int) -> None:
        """Take note of what is done: a ``graph`` was built, or a ``rebuild`` is over. Never fails."""
        ...


class Effort:
    """Is told what searches take, on whichever thread; this one listens to nothing."""

    def note_walk(self, breadth: int) -> None:
        """Take note of the breadth of a walk of a graph that found enough."""

    def note_compared(self, rows: int) -> None:
        """Take note of how many passages an exact comparison looked at."""
