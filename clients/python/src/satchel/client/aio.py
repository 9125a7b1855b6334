"""Provides the asynchronous client, for asyncio."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable
from types import TracebackType
from typing import Self, TypeAlias, TypeVar, Unpack

import grpc

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.types.v1.memory_pb2 import Memory
from satchel.client import rpcs
from satchel.client.aio_streams import AsyncWatch, run_export, run_import
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
from satchel.client.vectors import Embedding

Q = TypeVar("Q")
A = TypeVar("A")
# The method `list` hides the type of that name inside the class.
Memories: TypeAlias = list[Memory]
Stored: TypeAlias = list[memory_pb.StoreMemoryResponse]


class AsyncSatchel:
    """Stores and recalls memories, over gRPC, for programs that use asyncio.

    Arguments, defaults, answers and errors are those of `Satchel`. Use it in one event loop.

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
            open_plain=grpc.aio.insecure_channel,
            open_secure=grpc.aio.secure_channel,
        )

    async def remember(
        self, content: str, *, timeout: float | None = None, **fields: Unpack[MemoryFields]
    ) -> memory_pb.StoreMemoryResponse:
        """Store a memory; its ``id`` and ``revision`` are in the answer."""
        return await self._call(self._requests.remember(content, fields), timeout)

    async def remember_many(
        self,
        memories: Iterable[NewMemoryLike],
        *,
        timeout: float | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Stored:
        """Store up to 500 memories in one transaction, all or none; answers come in their order."""
        return [*(await self._call(self._requests.remember_many(memories, fields), timeout)).memories]

    async def recall(
        self,
        query: str,
        *,
        budget: int = 0,
        timeout: float | None = None,
        **fields: Unpack[RecallFields],
    ) -> allocator_pb.RecallResponse:
        """Return the most useful memories for a question that fit in ``budget`` tokens, as ``context``."""
        return await self._call(self._requests.recall(query, budget, fields), timeout)

    async def search(
        self, query: str, *, top_k: int = 10, timeout: float | None = None, **fields: Unpack[SearchFields]
    ) -> allocator_pb.SearchMemoriesResponse:
        """Find memories by words and meaning, best first; see `SearchMemories` for fields and errors."""
        return await self._call(self._requests.search(query, top_k, fields), timeout)

    async def get(
        self, memory_id: str, *, project: str | None = None, timeout: float | None = None
    ) -> Memory:
        """Return one memory, whole."""
        return (await self._call(self._requests.get(memory_id, project), timeout)).memory

    async def get_many(
        self, memory_ids: Iterable[str], *, project: str | None = None, timeout: float | None = None
    ) -> Memories:
        """Return memories in the order of the ids; ids that do not exist are left out."""
        refuse_text(memory_ids, "memory_ids")
        many = ManyById(self._requests.get_many(project), memory_ids)
        while (call := many.next_call) is not None:
            many.take(await self._call(call, timeout))
        return many.found

    async def list(
        self, *, timeout: float | None = None, **fields: Unpack[ListFields]
    ) -> AsyncIterator[Memory]:
        """Yield memories to the last one, newest first; pages are fetched as they are needed."""
        pages = Pages(self._requests.list(fields))
        while pages.next_call is not None:
            for memory in pages.take(await self._call(pages.next_call, timeout)):
                yield memory

    async def update(
        self,
        memory_id: str,
        *,
        expected_version: int = 0,
        project: str | None = None,
        timeout: float | None = None,
        **changes: Unpack[ChangedFields],
    ) -> Memory:
        """Change the given fields of a memory, and return it; `None` clears a field."""
        call = self._requests.update(memory_id, changes, expected_version=expected_version, project=project)
        return (await self._call(call, timeout)).memory

    async def delete(
        self,
        memory_id: str,
        *,
        expected_version: int = 0,
        project: str | None = None,
        timeout: float | None = None,
    ) -> memory_pb.DeleteMemoryResponse:
        """Delete a memory for good; the answer has the revision without it."""
        call = self._requests.delete(memory_id, expected_version=expected_version, project=project)
        return await self._call(call, timeout)

    async def import_(
        self,
        records: Iterable[Record] | AsyncIterable[Record],
        *,
        progress: Progress | None = None,
        timeout: float | None = None,
    ) -> ImportReport:
        """Store records over one stream: texts, fields of new memories, or memories that an export gave.

        As `Satchel.import_`: a record that is refused, or of which no request can be made, fails alone.
        """
        refuse_text(records, "records")
        account = Account(self._requests, progress)
        terms = self._connection.stream_terms(timeout)
        method = self._connection.method(rpcs.IMPORT)
        return await run_import(
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
    ) -> AsyncIterator[Memory]:
        """Yield every memory, whole, by creation time, as the store was when the export began."""
        call = self._requests.export(fields)
        return run_export(
            lambda: self._open(call, timeout), self._connection.explainer(rpcs.EXPORT), progress
        )

    async def watch(
        self,
        after_revision: int | None = None,
        *,
        include_vectors: bool = False,
        stop_at_head: bool = False,
        project: str | None = None,
        timeout: float | None = None,
    ) -> AsyncWatch:
        """Watch the changes after a revision: 0 for all that is there, `None` for those from now on."""
        if after_revision is None:
            after_revision = (await self._call(self._requests.head(project), timeout)).head_revision
        call = self._requests.watch(
            after_revision, include_vectors=include_vectors, stop_at_head=stop_at_head, project=project
        )
        return AsyncWatch(self._open(call, timeout), self._connection.explainer(rpcs.WATCH), after_revision)

    async def allocate(
        self,
        candidates: Iterable[CandidateLike],
        *,
        budget: int = 0,
        timeout: float | None = None,
        **fields: Unpack[AllocateFields],
    ) -> allocator_pb.AllocateResponse:
        """Pack the caller's own candidates into a budget; touches no store."""
        return await self._call(self._requests.allocate(candidates, budget, fields), timeout)

    async def embed(
        self,
        texts: Iterable[str],
        *,
        role: RoleLike = "passage",
        split_passages: bool = False,
        timeout: float | None = None,
    ) -> Embedding:
        """Turn up to 256 texts into vectors; with ``split_passages`` a long text gives several rows."""
        call = self._requests.embed(texts, role, split_passages=split_passages)
        return Embedding.of(await self._call(call, timeout))

    async def status(
        self, *, project: str | None = None, timeout: float | None = None
    ) -> allocator_pb.GetStatusResponse:
        """Return what Satchel holds, and how its parts are."""
        return await self._call(self._requests.status(project), timeout)

    async def health(self, service: str = "", *, timeout: float | None = None) -> Serving:
        """Return whether the store's server serves, or one service of it by its full name."""
        return Serving((await self._call(self._requests.check(service), timeout)).value)

    def channel(self, part: str) -> grpc.aio.Channel:
        """Return the channel to ``embedder``, ``index``, ``store`` or ``allocator``, for generated stubs."""
        channel: grpc.aio.Channel = self._connection.channel(part)
        return channel

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What every call carries: the API key, and the context of the current trace."""
        return self._connection.metadata()

    async def close(self) -> None:
        """Close the connections; calls and streams under way are cancelled."""
        for channel in self._connection.close():
            await channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _call(self, call: Call[Q, A], timeout: float | None) -> A:
        method = self._connection.method(call.rpc)
        try:
            answer: A = await method(call.request, **self._connection.unary_terms(call, timeout))
        except grpc.aio.AioRpcError as exc:
            raise self._connection.explainer(call.rpc)(exc) from exc
        return answer

    def _open(self, call: Call[Q, A], timeout: float | None) -> AsyncIterator[A]:
        stream: AsyncIterator[A] = self._connection.method(call.rpc)(
            call.request, **self._connection.stream_terms(timeout)
        )
        return stream
