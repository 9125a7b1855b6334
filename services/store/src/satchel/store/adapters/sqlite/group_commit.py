"""One writer for everybody: the writes that wait are committed together, each in its own savepoint.

A write is acknowledged after the commit that holds it. A write that fails is rolled back alone and fails
alone. While one group is being synchronised to disk the next one gathers, so throughput grows with load
and a single write never waits for company.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from satchel.runtime.errors import Overloaded, ServiceError, ShuttingDown
from satchel.runtime.metrics.measuring import measured
from satchel.runtime.metrics.queues import count_rejection, watch_queue
from satchel.runtime.telemetry import span
from satchel.store import metrics
from satchel.store.adapters.sqlite.connection import Connection, domain_error
from satchel.store.adapters.sqlite.rows import head_of

T = TypeVar("T")
_QUEUE = "store.writes"
Work: TypeAlias = Callable[[sqlite3.Connection], T]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Works that were asked for together, and the future that gets their results, one for each."""

    works: Sequence[Work[Any]]
    answer: "asyncio.Future[list[Any]]"


class GroupCommit:
    """The queue in front of the one connection that writes."""

    def __init__(self, connection: Connection, *, max_waiting: int, max_group: int) -> None:
        self._connection = connection
        self._waiting: asyncio.Queue[_Waiting | None] = asyncio.Queue()
        self._max_waiting = max_waiting
        self._max_group = max_group
        self._closed = False
        watch_queue(self, _QUEUE, limit=max_waiting, depth=lambda queue: queue.waiting)

    @property
    def waiting(self) -> int:
        """Number of requests that wait for the next commit."""
        return self._waiting.qsize()

    async def run(self, work: Work[T]) -> T:
        """Run ``work`` in the next group and return its result once it is on disk.

        Raises:
            Overloaded: too many writes wait already.
            ShuttingDown: the writer is closed.
            ServiceError: what ``work`` raised; nothing of it was written.
        """
        result = (await self.run_all([work]))[0]
        if isinstance(result, Exception):
            raise result
        return result

    async def run_all(self, works: Sequence[Work[T]]) -> list[T | Exception]:
        """Run works in order in one group, each in its own savepoint; a failure stands in its result's place.

        Raises:
            Overloaded, ShuttingDown: as `run`.
        """
        if self._closed:
            raise ShuttingDown
        if self._waiting.qsize() >= self._max_waiting:
            count_rejection(_QUEUE)
            raise Overloaded(queue=_QUEUE, limit=self._max_waiting, retry_after_s=0.5)
        answer: asyncio.Future[list[T | Exception]] = asyncio.get_running_loop().create_future()
        self._waiting.put_nowait(_Waiting(works, answer))
        return await answer

    async def serve(self, on_commit: Callable[[int], None]) -> None:
        """Commit groups until `close`; to be run as a task.

        ``on_commit`` is called with the newest revision after each group that is on disk.
        """
        open_ = True
        while open_:
            group, open_ = await self._gather()
            if group and (revision := await self._commit(group)) is not None:
                on_commit(revision)

    async def _gather(self) -> tuple[list[_Waiting], bool]:
        """Wait for a write, take those that wait beside it, and tell whether more may come."""
        group: list[_Waiting] = []
        size = 0
        waiting = await self._waiting.get()
        while waiting is not None:
            if not waiting.answer.cancelled():
                group.append(waiting)
                size += len(waiting.works)
            if size >= self._max_group or self._waiting.empty():
                return group, True
            waiting = self._waiting.get_nowait()
        return group, False

    async def _commit(self, group: list[_Waiting]) -> int | None:
        """Commit a group, answer those who wait, and return the newest revision; None if it failed."""
        works = [work for waiting in group for work in waiting.works]
        revision = None
        metrics.COMMIT_WRITES.observe(len(works))
        with (
            span("satchel.store.commit", **{"satchel.store.group": len(works)}),
            measured(None, metrics.COMMIT_SECONDS),
        ):
            try:
                results, revision = await self._connection.run(lambda raw: write_group(raw, works))
            except ServiceError as error:
                results = [error] * len(works)
        place = 0
        for waiting in group:
            own = results[place : place + len(waiting.works)]
            place += len(waiting.works)
            if not waiting.answer.done():
                waiting.answer.set_result(own)
        return revision

    def close(self) -> None:
        """Refuse new writes; those that wait are still committed before `serve` returns."""
        if not self._closed:
            self._closed = True
            self._waiting.put_nowait(None)


def write_group(raw: sqlite3.Connection, works: Sequence[Work[Any]]) -> tuple[list[Any], int]:
    """Run each work in a savepoint of one transaction.

    Returns results, or exceptions in their place, and the store's newest revision.

    Raises:
        sqlite3.Error: the transaction as a whole failed; nothing of it was written.
    """
    raw.execute("BEGIN IMMEDIATE")
    try:
        results = [_isolated(raw, work) for work in works]
        revision = head_of(raw)
        raw.execute("COMMIT")
    except BaseException:
        if raw.in_transaction:
            raw.execute("ROLLBACK")
        raise
    return results, revision


def _isolated(raw: sqlite3.Connection, work: Work[Any]) -> Any:  # noqa: ANN401  # results of every type
    raw.execute("SAVEPOINT work")
    try:
        result = work(raw)
    except Exception as error:  # whatever one write does must not fail its neighbours
        if not raw.in_transaction:  # SQLite itself rolled the whole transaction back (disk full, I/O)
            raise
        raw.execute("ROLLBACK TO work")
        raw.execute("RELEASE work")
        return domain_error(error) if isinstance(error, sqlite3.Error) else error
    raw.execute("RELEASE work")
    return result
