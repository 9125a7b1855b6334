"""Runs the streams of the synchronous client."""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Self, TypeAlias

import grpc

from satchel.api.store.v1 import change_service_pb2, memory_service_pb2
from satchel.api.types.v1.memory_pb2 import Memory
from satchel.client.errors import SatchelError
from satchel.client.following import ExportProgress, Place
from satchel.client.importing import Account, ImportReport, Record

# Begins a stream; makes an error of ours of gRPC's.
Start: TypeAlias = Callable[..., Any]
Explain: TypeAlias = Callable[[grpc.RpcError], SatchelError]


class Watch(Place):
    """The changes of the store, as they happen.

    Iterate over it, once, and cancel it or leave the ``with`` block. Iterating ends when the watch is
    cancelled, from whatever thread, and with ``stop_at_head`` at the head.
    """

    def __init__(self, call: Any, explain: Explain, after_revision: int) -> None:  # noqa: ANN401  # gRPC does not type it
        super().__init__(after_revision)
        self._call = call
        self._explain = explain
        self._cancelled = False

    def __iter__(self) -> Iterator[change_service_pb2.Change]:
        """Yield each change, oldest first.

        Raises:
            SatchelError: the stream broke; a new watch after ``through_revision`` goes on.
        """
        for response in self.responses():
            yield from response.changes

    def responses(self) -> Iterator[change_service_pb2.WatchChangesResponse]:
        """Yield the stream's responses whole; the first comes at once, even without changes.

        Raises:
            SatchelError: as iterating.
        """
        try:
            for response in self._call:
                self.arrive(response)
                yield response
                self.leave(response)
        except grpc.RpcError as exc:
            if not self._cancelled:
                raise self._explain(exc) from exc

    def cancel(self) -> None:
        """End the stream; calling it again does nothing."""
        self._cancelled = True
        self._call.cancel()

    def code(self) -> grpc.StatusCode:
        """Wait until the stream has ended, and return its status code."""
        code: grpc.StatusCode = self._call.code()
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


def run_export(start: Start, explain: Explain, progress: ExportProgress | None) -> Iterator[Memory]:
    """Yield the memories of an export, which begins with the first; stopping early ends the stream."""
    done = 0
    call = start()
    try:
        for response in call:
            yield from response.memories
            done += len(response.memories)
            if progress is not None:
                progress(done, response.total_count)
    except grpc.RpcError as exc:
        raise explain(exc) from exc
    finally:
        call.cancel()


def run_import(start: Start, explain: Explain, records: Iterable[Record], account: Account) -> ImportReport:
    """Send records over one stream until all are answered.

    The records are taken in the caller's thread (a cursor of a database may not leave it), and only while
    fewer than `WINDOW` of them wait for their answer. gRPC sends in a thread of its own, and another one
    brings the answers back.
    """
    outbox: queue.SimpleQueue[memory_service_pb2.ImportMemoriesRequest | None] = queue.SimpleQueue()
    call = start(iter(outbox.get, None))
    answers = _Answers(call)
    try:
        for record in records:
            request = account.request(record)
            if request is not None:
                outbox.put(request)
            while account.is_full or answers.are_waiting():
                answers.take_one(account)
        account.end()
        outbox.put(None)
        while answers.take_one(account):
            pass
    except grpc.RpcError as exc:
        raise explain(exc) from exc
    finally:
        call.cancel()
        outbox.put(None)
        answers.join()
    return account.close()


class _Answers:
    """The answers of an import, brought to the caller's thread by one of their own."""

    def __init__(self, call: Any) -> None:  # noqa: ANN401  # gRPC does not type it
        self._call = call
        self._inbox: queue.SimpleQueue[memory_service_pb2.ImportMemoriesResponse | grpc.RpcError | None]
        self._inbox = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._read, name="satchel-import", daemon=True)
        self._thread.start()

    def are_waiting(self) -> bool:
        """Tell whether `take_one` would return at once."""
        return not self._inbox.empty()

    def take_one(self, account: Account) -> bool:
        """Wait for an answer and count it; false at the end of the stream.

        Raises:
            grpc.RpcError: the stream broke.
            Internal: the stream ended before all records were sent and answered.
        """
        answer = self._inbox.get()
        if isinstance(answer, grpc.RpcError):
            raise answer
        if answer is None:
            account.close()
            return False
        account.take(answer)
        return True

    def join(self) -> None:
        """Wait until the stream has ended."""
        self._thread.join()

    def _read(self) -> None:
        ending: grpc.RpcError | None = None
        try:
            for answer in self._call:
                self._inbox.put(answer)
        except grpc.RpcError as exc:
            ending = exc
        self._inbox.put(ending)
