"""Provides the synchronous client."""

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self, TypeAlias, TypeVar, Unpack

import grpc

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.types.v1.memory_pb2 import Memory
from satchel.client import rpcs
from satchel.client.connection import DEFAULT_TIMEOUT_S, Connection, default_project
from satchel.client.fields import (
    AllocateFields,
    ChangedFields,
    ExportFields,
    ListFields,
    MemoryFields,
    RecallFields,
    RoleLike,
    SearchFields,
    refuse_text,
)
from satchel.client.following import ExportProgress
from satchel.client.importing import Account, ImportReport, Progress, Record
from satchel.client.paging import ManyById, Pages
from satchel.client.requests import Call, CandidateLike, NewMemoryLike, Requests
from satchel.client.serving import Serving
from satchel.client.sync_streams import Watch, run_export, run_import
from satchel.client.vectors import Embedding

Q = TypeVar("Q")
A = TypeVar("A")
# The method `list` hides the type of that name inside the class.
Memories: TypeAlias = list[Memory]
Stored: TypeAlias = list[memory_pb.StoreMemoryResponse]


class Satchel:
    """Stores and recalls memories, over gRPC.

    Without ``url`` it calls the Satchel that ``SATCHEL_URL`` names, else the one that runs on the data folder
    (``SATCHEL_DATA_DIR`` or ``~/.satchel``), else ``127.0.0.1:50051``. ``url`` is ``host:port``, or names the
    services that run apart: ``store=host:port,allocator=host:port,index=host:port,embedder=host:port``.
    ``project`` (else ``SATCHEL_PROJECT``) and ``wing`` serve the calls that name none; without a wing,
    memories are stored in ``general``, and all wings are read. ``timeout`` is in seconds, for calls that give
    none; streams take as long as they need. ``credentials`` are gRPC's, for TLS; without them the connection,
    and the key, are in the clear.

    Answers are messages of the contract, and the fields of calls have its names. Calls raise `SatchelError`.
    A client may be used by several threads. Nothing is connected before the first call; close the client, or
    use it in a ``with`` block, when it is done.

    Raises:
        AddressError: the URL cannot be used.
    """

    def __init__(
        self,
        url: str = "",
        *,
        api_key: str = "",
        project: str | None = None,
        wing: str = "",
        timeout: float = DEFAULT_TIMEOUT_S,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        self._requests = Requests(default_project() if project is None else project, wing)
        self._connection = Connection(
            url=url,
            api_key=api_key,
            timeout=timeout,
            credentials=credentials,
            open_plain=grpc.insecure_channel,
            open_secure=grpc.secure_channel,
        )

    def remember(
        self, content: str, *, timeout: float | None = None, **fields: Unpack[MemoryFields]
    ) -> memory_pb.StoreMemoryResponse:
        """Store a memory; its ``id`` and ``revision`` are in the answer.

        The same text in the same place is stored once. See `StoreMemory` for fields and errors.
        """
        return self._call(self._requests.remember(content, fields), timeout)

    def remember_many(
        self,
        memories: Iterable[NewMemoryLike],
        *,
        timeout: float | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Stored:
        """Store up to 500 memories in one transaction, all or none; answers come in their order.

        ``fields`` are for the memories that do not have them. The client's timeout is for each 50 of them.
        For more memories than that, see `import_`.
        """
        return [*self._call(self._requests.remember_many(memories, fields), timeout).memories]

    def recall(
        self,
        query: str,
        *,
        budget: int = 0,
        timeout: float | None = None,
        **fields: Unpack[RecallFields],
    ) -> allocator_pb.RecallResponse:
        """Return the most useful memories for a question that fit in ``budget`` tokens, as ``context``.

        A budget of 0 means the server's default. ``min_revision`` makes a write visible that was just
        answered. See `Recall` for fields and errors.
        """
        return self._call(self._requests.recall(query, budget, fields), timeout)

    def search(
        self, query: str, *, top_k: int = 10, timeout: float | None = None, **fields: Unpack[SearchFields]
    ) -> allocator_pb.SearchMemoriesResponse:
        """Find memories by words and meaning, best first; see `SearchMemories` for fields and errors."""
        return self._call(self._requests.search(query, top_k, fields), timeout)

    def get(self, memory_id: str, *, project: str | None = None, timeout: float | None = None) -> Memory:
        """Return one memory, whole.

        Raises:
            NotFound: no memory has this id.
        """
        return self._call(self._requests.get(memory_id, project), timeout).memory

    def get_many(
        self, memory_ids: Iterable[str], *, project: str | None = None, timeout: float | None = None
    ) -> Memories:
        """Return memories in the order of the ids; ids that do not exist are left out."""
        refuse_text(memory_ids, "memory_ids")
        many = ManyById(self._requests.get_many(project), memory_ids)
        while (call := many.next_call) is not None:
            many.take(self._call(call, timeout))
        return many.found

    def list(self, *, timeout: float | None = None, **fields: Unpack[ListFields]) -> Iterator[Memory]:
        """Yield memories to the last one, newest first; pages are fetched as they are needed."""
        pages = Pages(self._requests.list(fields))
        while pages.next_call is not None:
            yield from pages.take(self._call(pages.next_call, timeout))

    def update(
        self,
        memory_id: str,
        *,
        expected_version: int = 0,
        project: str | None = None,
        timeout: float | None = None,
        **changes: Unpack[ChangedFields],
    ) -> Memory:
        """Change the given fields of a memory, and return it; `None` clears a field.

        Raises:
            NotFound: no memory has this id.
            Aborted: the memory has another version than expected (0: any).
        """
        call = self._requests.update(memory_id, changes, expected_version=expected_version, project=project)
        return self._call(call, timeout).memory

    def delete(
        self,
        memory_id: str,
        *,
        expected_version: int = 0,
        project: str | None = None,
        timeout: float | None = None,
    ) -> memory_pb.DeleteMemoryResponse:
        """Delete a memory for good; the answer has the revision without it.

        Raises:
            NotFound: no memory has this id.
            Aborted: the memory has another version than expected (0: any).
        """
        call = self._requests.delete(memory_id, expected_version=expected_version, project=project)
        return self._call(call, timeout)

    def import_(
        self, records: Iterable[Record], *, progress: Progress | None = None, timeout: float | None = None
    ) -> ImportReport:
        """Store records over one stream: texts, fields of new memories, or memories that an export gave.

        ``progress`` is called for every record, once it is on disk or refused: in order, but for records of
        which no request can be made, which are told of as they are taken. A refused record fails alone, and
        its number is its place among the records, from 1. Records are taken from the iterable as they are
        needed, in this thread. When an import breaks off, repeat it: what is stored already is counted as a
        duplicate.
        """
        refuse_text(records, "records")
        account = Account(self._requests, progress)
        terms = self._connection.stream_terms(timeout)
        method = self._connection.method(rpcs.IMPORT)
        return run_import(
            lambda requests: method(requests, **terms),
            self._connection.explainer(rpcs.IMPORT),
            records,
            account,
        )

    def export(
        self,
        *,
        progress: ExportProgress | None = None,
        timeout: float | None = None,
        **fields: Unpack[ExportFields],
    ) -> Iterator[Memory]:
        """Yield every memory, whole, by creation time, as the store was when the export began.

        ``progress`` is called with the number of memories so far and of all, some hundred memories apart.
        """
        call = self._requests.export(fields)
        return run_export(
            lambda: self._open(call, timeout), self._connection.explainer(rpcs.EXPORT), progress
        )

    def watch(
        self,
        after_revision: int | None = None,
        *,
        include_vectors: bool = False,
        stop_at_head: bool = False,
        project: str | None = None,
        timeout: float | None = None,
    ) -> Watch:
        """Watch the changes after a revision: 0 for all that is there, `None` for those from now on."""
        if after_revision is None:
            after_revision = self._call(self._requests.head(project), timeout).head_revision
        call = self._requests.watch(
            after_revision, include_vectors=include_vectors, stop_at_head=stop_at_head, project=project
        )
        return Watch(self._open(call, timeout), self._connection.explainer(rpcs.WATCH), after_revision)

    def allocate(
        self,
        candidates: Iterable[CandidateLike],
        *,
        budget: int = 0,
        timeout: float | None = None,
        **fields: Unpack[AllocateFields],
    ) -> allocator_pb.AllocateResponse:
        """Pack the caller's own candidates into a budget; touches no store."""
        return self._call(self._requests.allocate(candidates, budget, fields), timeout)

    def embed(
        self,
        texts: Iterable[str],
        *,
        role: RoleLike = "passage",
        split_passages: bool = False,
        timeout: float | None = None,
    ) -> Embedding:
        """Turn up to 256 texts into vectors; with ``split_passages`` a long text gives several rows."""
        call = self._requests.embed(texts, role, split_passages=split_passages)
        return Embedding.of(self._call(call, timeout))

    def status(
        self, *, project: str | None = None, timeout: float | None = None
    ) -> allocator_pb.GetStatusResponse:
        """Return what Satchel holds, and how its parts are."""
        return self._call(self._requests.status(project), timeout)

    def health(self, service: str = "", *, timeout: float | None = None) -> Serving:
        """Return whether the store's server serves, or one service of it by its full name.

        Raises:
            NotFound: the server has no such service.
        """
        return Serving(self._call(self._requests.check(service), timeout).value)

    def channel(self, part: str) -> grpc.Channel:
        """Return the channel to ``embedder``, ``index``, ``store`` or ``allocator``, for the generated stubs.

        Send `metadata` with their calls. A write may be repeated by the channel: give it a ``request_id``.
        """
        channel: grpc.Channel = self._connection.channel(part)
        return channel

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What every call carries: the API key, and the context of the current trace."""
        return self._connection.metadata()

    def close(self) -> None:
        """Close the connections; calls and streams under way are cancelled."""
        for channel in self._connection.close():
            channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, call: Call[Q, A], timeout: float | None) -> A:
        method = self._connection.method(call.rpc)
        try:
            answer: A = method(call.request, **self._connection.unary_terms(call, timeout))
        except grpc.RpcError as exc:
            raise self._connection.explainer(call.rpc)(exc) from exc
        return answer

    def _open(self, call: Call[Q, A], timeout: float | None) -> Iterator[A]:
        stream: Iterator[A] = self._connection.method(call.rpc)(
            call.request, **self._connection.stream_terms(timeout)
        )
        return stream
