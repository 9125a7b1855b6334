"""Runs the streams of the asynchronous client."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

import grpc

from satchel.api.store.v1 import change_service_pb2, memory_service_pb2
from satchel.api.types.v1.memory_pb2 import Memory
from satchel.client.errors import SatchelError
from satchel.client.following import ExportProgress, Place
from satchel.client.importing import Account, ImportReport, Record

T = TypeVar("T")

# Begins a stream; makes an error of ours of gRPC's.
Start: TypeAlias = Callable[..., Any]
Explain: TypeAlias = Callable[[grpc.RpcError], SatchelError]


class AsyncWatch(Place):
    """The changes of the store, as they happen.

    Iterate over it, once, and cancel it or leave the ``async with`` block. Iterating ends when the watch is
    cancelled, and with ``stop_at_head`` at the head.
    """

    def __init__(self, call: Any, explain: Explain, after_revision: int) -> None:  # noqa: ANN401  # gRPC does not type it
        super().__init__(after_revision)
        self._call = call
        self._explain = explain
        self._cancelled = False

    async def __aiter__(self) -> AsyncIterator[change_service_pb2.Change]:
        """Yield each change, oldest first.

        Raises:
            SatchelError: the stream broke; a new watch after ``through_revision`` goes on.
        """
        async for response in self.responses():
            for change in response.changes:
                yield change

    async def responses(self) -> AsyncIterator[change_service_pb2.WatchChangesResponse]:
        """Yield the stream's responses whole; the first comes at once, even without changes.

        Raises:
            SatchelError: as iterating.
        """
        try:
            async for response in self._call:
                self.arrive(response)
                yield response
                self.leave(response)
        except grpc.aio.AioRpcError as exc:
            if not self._cancelled:
                raise self._explain(exc) from exc
        except asyncio.CancelledError:
            # gRPC raises this to the reader of a call that was cancelled, and so does a task that was.
            task = asyncio.current_task()
            if not self._cancelled or (task is not None and task.cancelling()):
                raise

    def cancel(self) -> None:
        """End the stream; calling it again does nothing."""
        self._cancelled = True
        self._call.cancel()

    async def code(self) -> grpc.StatusCode:
        """Wait until the stream has ended, and return its status code."""
        code: grpc.StatusCode = await self._call.code()
        return code

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


async def run_export(
    start: Start, explain: Explain, progress: ExportProgress | None
) -> AsyncIterator[Memory]:
    """Yield the memories of an export, which begins with the first; stopping early ends the stream."""
    done = 0
    call = start()
    try:
        async for response in call:
            for memory in response.memories:
                yield memory
            done += len(response.memories)
            if progress is not None:
                progress(done, response.total_count)
    except grpc.aio.AioRpcError as exc:
        raise explain(exc) from exc
    finally:
        call.cancel()


async def run_import(
    start: Start,
    explain: Explain,
    records: Iterable[Record] | AsyncIterable[Record],
    account: Account,
) -> ImportReport:
    """Send records over one stream until all are answered, `WINDOW` at most ahead of the answers."""
    source = _Source(records, account)
    call = start(source.requests())
    ending = _Ending(call)
    try:
        async for answer in call:
            account.take(answer)
            source.go_on()
    except grpc.aio.AioRpcError as exc:
        raise source.error or explain(ending.error or exc) from exc
    finally:
        source.stop()
        call.cancel()
    if source.error is not None:
        raise source.error
    return account.close()


class _Ending:
    """How a stream failed, as the server said it.

    When a write fails because the server has ended the stream, gRPC sets the status INTERNAL, before or after
    the one of the server, and so in its place (https://github.com/grpc/grpc/issues/36066). Errors of Satchel
    have trailing metadata, and that one has none.
    """

    def __init__(self, call: Any) -> None:  # noqa: ANN401  # gRPC does not type it
        self.error: grpc.aio.AioRpcError | None = None
        call.add_done_callback(self._note)

    def _note(self, call: Any) -> None:  # noqa: ANN401  # gRPC does not type it
        code, trailing = _result_of(call.code()), _result_of(call.trailing_metadata())
        if code is not grpc.StatusCode.OK and (code is not grpc.StatusCode.INTERNAL or trailing):
            initial, details = _result_of(call.initial_metadata()), _result_of(call.details())
            self.error = grpc.aio.AioRpcError(code, initial, trailing, details)


def _result_of(coroutine: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401  # gRPC does not type it
    """Return the result of a coroutine that has nothing to wait for: that of a call which is done."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    return None


class _Source:
    """The requests of an import, made as gRPC asks for them."""

    def __init__(self, records: Iterable[Record] | AsyncIterable[Record], account: Account) -> None:
        self.error: Exception | None = None
        self._records = records
        self._account = account
        self._may_go_on = asyncio.Event()
        self._stopped = False

    async def requests(self) -> AsyncIterator[memory_service_pb2.ImportMemoriesRequest]:
        """Yield the requests. An error of the records ends them: raised in here it would be lost."""
        try:
            async for record in _iterate(self._records):
                request = self._account.request(record)
                if request is not None:
                    yield request
                await self._room()
                if self._stopped:
                    return
        except Exception as exc:  # noqa: BLE001  # raised again by run_import
            self.error = exc
        else:
            self._account.end()

    def go_on(self) -> None:
        """Let the next request be made: an answer came."""
        self._may_go_on.set()

    def stop(self) -> None:
        """Make no more requests."""
        self._stopped = True
        self._may_go_on.set()

    async def _room(self) -> None:
        while self._account.is_full and not self._stopped:
            self._may_go_on.clear()
            await self._may_go_on.wait()


async def _iterate(items: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item
