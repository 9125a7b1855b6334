"""A lane: requests that wait, and the workers that turn them into batches, each one at a time.

There is no timer and no artificial delay. While all workers are busy, what arrives accumulates; when one
has ended its batch, the next is formed from everything that waits. Requests take turns, so that a small one
behind a large one is in one of the next batches. An engine has two lanes, so that queries never wait for
bulk work.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

import numpy as np

from satchel.embedder import metrics
from satchel.embedder.batching import Pending, pad, take_batch
from satchel.embedder.coding import ArrivingCodes, bytes_per_token
from satchel.embedder.model import Batch, Embedded, Places, TokenIds, Vectors
from satchel.embedder.ports import Session
from satchel.runtime.errors import ShuttingDown

_log = logging.getLogger("satchel.embedder")

_LOOK_AHEAD = 256  # requests looked at for one batch
_IDLE_S = 1.0
_NO_PLACES = np.zeros(0, dtype=np.intp)


class Job:
    """One request in a lane: its rows, and its vectors (rows, dimension) and codes as they come in.

    ``coded`` has the places of each row's coded tokens, or nothing if no code is wanted.
    """

    __slots__ = (
        "_coded", "arrived_s", "began_s", "codes", "done", "inference_s", "left", "pending", "rows",
        "vectors",
    )  # fmt: skip

    def __init__(
        self, rows: Sequence[TokenIds], dimension: int, now_s: float, coded: Sequence[Places] = ()
    ) -> None:
        self.rows = rows
        self._coded = coded
        self.codes = ArrivingCodes(coded, bytes_per_token(dimension))
        self.pending = Pending([len(row) for row in rows])
        self.vectors: Vectors = np.empty((len(rows), dimension), dtype=np.float32)
        self.left = len(rows)
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.arrived_s = now_s
        self.began_s: float | None = None
        self.inference_s = 0.0

    @property
    def queue_s(self) -> float:
        """Seconds from arrival to the first batch."""
        return 0.0 if self.began_s is None else self.began_s - self.arrived_s

    def begin(self, now_s: float) -> None:
        """Note when the first batch began."""
        if self.began_s is None:
            self.began_s = now_s

    def coded(self, row: int) -> Places:
        """Return the places of a row's coded tokens."""
        return self._coded[row] if self._coded else _NO_PLACES

    def deliver(self, rows: list[int], embedded: Embedded, elapsed_s: float) -> None:
        """Take the vectors and codes of some rows; the last ones complete the job."""
        self.vectors[rows] = embedded.vectors
        self.codes.take(rows, embedded.codes)
        self.inference_s += elapsed_s
        self.left -= len(rows)
        if self.left == 0 and not self.done.done():
            self.done.set_result(None)

    def fail(self, error: Exception) -> None:
        """End the job with an error, unless it has ended."""
        if not self.done.done():
            self.done.set_exception(error)


class Lane:
    """Ordinary and bulk jobs, served in turn; ``workers`` batches run at once."""

    def __init__(
        self,
        session: Session,
        *,
        budget_tokens: int,
        pad_id: int,
        dimension: int,
        clock: Callable[[], float],
        most_rows: int | None = None,
        workers: int = 1,
    ) -> None:
        self._session = session
        self._budget_tokens = budget_tokens
        self._most_rows = most_rows
        self._pad_id = pad_id
        self._dimension = dimension
        self._clock = clock
        self._workers = workers
        # Ordered dictionaries as queues: first in first out, and a job can leave from anywhere at once.
        self._queues: tuple[OrderedDict[Job, None], OrderedDict[Job, None]] = (OrderedDict(), OrderedDict())
        self._bulk_turn = False
        self._arrival = asyncio.Event()
        self._closed = False

    async def embed(
        self, rows: Sequence[TokenIds], *, bulk: bool = False, coded: Sequence[Places] = ()
    ) -> Job:
        """Return the finished job of some rows; if the caller is cancelled, its waiting rows are dropped.

        ``coded`` has the places of the tokens in each row whose codes are wanted too.

        Raises:
            ShuttingDown: the lane is closed, or closes before the job is done.
        """
        if self._closed:
            raise ShuttingDown
        job = Job(rows, self._dimension, self._clock(), coded)
        self._queues[bulk][job] = None
        self._arrival.set()
        try:
            await job.done
        finally:
            self._forget(job)
        return job

    async def run(self) -> None:
        """Serve until cancelled; then refuse what waits and what comes."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._workers):
                    group.create_task(self._work())
        finally:
            self._closed = True
            for job in chain(*self._queues):
                job.fail(ShuttingDown())

    async def _work(self) -> None:
        while True:
            while any(self._queues):
                await self._run_batch(self._next_batch())
            await self._wait()

    async def _wait(self) -> None:
        """Wait for a job; if none comes for a while, let the model give its memory back meanwhile."""
        self._arrival.clear()
        try:
            async with asyncio.timeout(_IDLE_S):
                await self._arrival.wait()
        except TimeoutError:
            await self._rest()
            await self._arrival.wait()

    async def _rest(self) -> None:
        """Let the model rest; a failure costs memory, not the lane."""
        try:
            await self._session.rest()
        except Exception:  # noqa: BLE001  # the lane serves on; the log tells
            _log.exception("embedder.rest_failed")

    def _next_batch(self) -> list[tuple[Job, list[int]]]:
        """Take the rows of the next batch: the head of a queue, filled up with what is of like length."""
        first, second = self._queues[self._bulk_turn], self._queues[not self._bulk_turn]
        self._bulk_turn = not self._bulk_turn
        jobs = list(islice(chain(first, second), _LOOK_AHEAD))
        taken = take_batch((job.pending for job in jobs), self._budget_tokens, self._most_rows)
        parts = [(job, rows) for job, rows in zip(jobs, taken, strict=False) if rows]
        for job, _ in parts:
            if not job.pending:
                self._forget(job)
        head_queue = first or second
        if jobs[0] in head_queue:
            head_queue.move_to_end(jobs[0])
        return parts

    async def _run_batch(self, parts: list[tuple[Job, list[int]]]) -> None:
        """Run one batch and hand out its vectors. A failure ends the jobs in it and not the lane."""
        batch = _batch(parts, self._pad_id)
        began_s = self._clock()
        for job, _ in parts:
            job.begin(began_s)
        try:
            embedded = await self._session.embed(batch)
        except asyncio.CancelledError:
            self._fail(parts, ShuttingDown())
            raise
        except Exception as error:  # noqa: BLE001  # the lane outlives a batch; its callers get the error
            self._fail(parts, error)
            return
        elapsed_s = self._clock() - began_s
        _measure(batch, elapsed_s)
        for (job, rows), own in zip(parts, _shares(parts, embedded), strict=True):
            job.deliver(rows, own, elapsed_s)

    def _fail(self, parts: list[tuple[Job, list[int]]], error: Exception) -> None:
        for job, _ in parts:
            job.fail(error)
            self._forget(job)

    def _forget(self, job: Job) -> None:
        for queue in self._queues:
            queue.pop(job, None)


def _batch(parts: list[tuple[Job, list[int]]], pad_id: int) -> Batch:
    places = [(job, row) for job, rows in parts for row in rows]
    return pad([job.rows[row] for job, row in places], pad_id, [job.coded(row) for job, row in places])


def _shares(parts: list[tuple[Job, list[int]]], embedded: Embedded) -> Iterator[Embedded]:
    """Yield what belongs to each job of a batch."""
    row, code = 0, 0
    for job, rows in parts:
        row_end, code_end = row + len(rows), code + job.codes.count(rows)
        yield Embedded(embedded.vectors[row:row_end], embedded.codes[code:code_end])
        row, code = row_end, code_end


def _measure(batch: Batch, elapsed_s: float) -> None:
    metrics.BATCH_ROWS.observe(len(batch.ids))
    metrics.BATCH_TOKENS.observe(batch.ids.size)
    metrics.INFERENCE_SECONDS.observe(elapsed_s)
