"""Import: batches are prepared and embedded ahead while earlier ones are written, and answers keep order."""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from satchel.runtime.errors import ServiceError
from satchel.runtime.metrics.calls import FAILED_CALLS
from satchel.store import metrics
from satchel.store.engine.writing import Writing
from satchel.store.model import NewMemory, Prepared, Stored
from satchel.store.ports import MemoryStore

_MAX_CODE_POINTS = 262_144  # texts of one batch together, so that a request to the embedder stays small


@dataclass(frozen=True, slots=True)
class Record:
    """One record of an import: a memory, or why it was refused already."""

    sequence: int
    content: NewMemory | ServiceError


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to the record of the same sequence."""

    sequence: int
    result: Stored | ServiceError


_Batch: TypeAlias = list[Record]
_Ready: TypeAlias = list[Prepared] | ServiceError


@dataclass(frozen=True, slots=True)
class _Begun:
    """A batch whose memories are being prepared and embedded."""

    batch: _Batch
    preparing: "asyncio.Task[_Ready]"


class Importing:
    """Imports a stream of records in batches of at most ``batch_size``.

    While a batch is embedded or written, ``ahead`` more are prepared and embedded: the embedder always has
    the next request, and what is held in memory stays bounded.
    """

    def __init__(
        self, writing: Writing, store: MemoryStore, *, batch_size: int, ahead: int, timeout_s: float
    ) -> None:
        self._writing = writing
        self._store = store
        self._batch_size = batch_size
        self._ahead = ahead
        self._timeout_s = timeout_s

    async def run(self, records: AsyncIterable[Record], answer: Callable[[Answer], Awaitable[None]]) -> None:
        """Give ``answer`` one answer for each record, in order, each once its record is on disk.

        Records that have come are never held back to fill a batch, so a client may wait for an answer
        before it sends the next record. What ``records`` raises is raised here, after the answers to the
        records before.
        """
        waiting: asyncio.Queue[Record | None] = asyncio.Queue(self._batch_size * 2)
        started: asyncio.Queue[_Begun | None] = asyncio.Queue()
        slots = asyncio.Semaphore(self._ahead + 1)
        try:
            async with asyncio.TaskGroup() as tasks:
                filling = tasks.create_task(_fill(waiting, records))
                tasks.create_task(self._start(tasks, waiting, started, slots))
                while (begun := await started.get()) is not None:
                    for one in await self._write(begun.batch, await begun.preparing):
                        await answer(one)
                    slots.release()
        except ExceptionGroup as group:
            raise group.exceptions[0] from group
        if (failure := filling.result()) is not None:
            raise failure

    async def _start(
        self,
        tasks: asyncio.TaskGroup,
        waiting: "asyncio.Queue[Record | None]",
        started: "asyncio.Queue[_Begun | None]",
        slots: asyncio.Semaphore,
    ) -> None:
        """Cut the records into batches and begin each as soon as there is a slot for it.

        Records that come while there is none go into one batch: the busier the embedder, the larger.
        """
        more = True
        while more:
            await slots.acquire()
            batch, more = await self._gather(waiting)
            if batch:
                started.put_nowait(_Begun(batch, tasks.create_task(self._prepare(batch))))
        started.put_nowait(None)

    async def _gather(self, waiting: "asyncio.Queue[Record | None]") -> tuple[_Batch, bool]:
        """Wait for a record and take those that wait beside it."""
        batch: _Batch = []
        size = 0
        record = await waiting.get()
        while record is not None:
            batch.append(record)
            size += len(record.content.content) if isinstance(record.content, NewMemory) else 0
            if len(batch) >= self._batch_size or size >= _MAX_CODE_POINTS or waiting.empty():
                return batch, True
            record = waiting.get_nowait()
        return batch, False

    async def _prepare(self, batch: Sequence[Record]) -> _Ready:
        """Prepare and embed; a failure is a result, as it must fail this batch alone."""
        try:
            prepared = await self._writing.prepare_all(
                [record.content for record in batch if isinstance(record.content, NewMemory)]
            )
            return await self._writing.with_passages(prepared, self._timeout_s)
        except ServiceError as error:
            return error

    async def _write(self, batch: Sequence[Record], ready: _Ready) -> list[Answer]:
        """Write what is ready and answer every record of the batch."""
        if isinstance(ready, ServiceError):
            results: Sequence[Stored | ServiceError] = [ready] * len(batch)
        else:
            results = await self._store_all(ready)
            self._writing.note_stored(ready, results)
        left = iter(results)
        answers = [
            Answer(record.sequence, next(left) if isinstance(record.content, NewMemory) else record.content)
            for record in batch
        ]
        metrics.STORES.inc(len(answers))
        FAILED_CALLS.inc(sum(isinstance(answer.result, ServiceError) for answer in answers))
        return answers

    async def _store_all(self, ready: list[Prepared]) -> Sequence[Stored | ServiceError]:
        if not ready:
            return ()
        try:
            return await self._store.import_(ready)
        except ServiceError as error:
            return [error] * len(ready)


async def _fill(
    waiting: "asyncio.Queue[Record | None]", records: AsyncIterable[Record]
) -> ServiceError | None:
    """Pass records on; return what the client's stream broke with."""
    failure: ServiceError | None = None
    try:
        async for record in records:
            await waiting.put(record)
    except ServiceError as error:
        failure = error
    await waiting.put(None)
    return failure
