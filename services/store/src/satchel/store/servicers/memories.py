"""The door `MemoryService`."""

from collections.abc import AsyncIterator

import grpc

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2_grpc as rpc
from satchel.store.engine.enriching import Enriching
from satchel.store.engine.importing import Importing, Record
from satchel.store.engine.reading import Reading
from satchel.store.engine.timeline import Timelines
from satchel.store.engine.writing import Writing
from satchel.store.ports import FetchQuery
from satchel.store.servicers import decoding, encoding, listing
from satchel.store.servicers.records import decode_record, encode_answer


class MemoryServicer(rpc.MemoryServiceServicer):
    """Answers `MemoryService` with the store's use cases."""

    def __init__(
        self,
        writing: Writing,
        importing: Importing,
        reading: Reading,
        timelines: Timelines,
        enriching: Enriching,
    ) -> None:
        self._writing = writing
        self._importing = importing
        self._reading = reading
        self._timelines = timelines
        self._enriching = enriching

    async def StoreMemory(  # the contract's name
        self,
        request: pb.StoreMemoryRequest,
        context: grpc.aio.ServicerContext[pb.StoreMemoryRequest, pb.StoreMemoryResponse],  # noqa: ARG002
    ) -> pb.StoreMemoryResponse:
        """Store a memory."""
        key = decoding.request_key(request, request.request_id)
        stored = await self._writing.store([decoding.new_memory(request)], key)
        return encoding.stored(stored[0])

    async def BatchStoreMemories(  # the contract's name
        self,
        request: pb.BatchStoreMemoriesRequest,
        context: grpc.aio.ServicerContext[pb.BatchStoreMemoriesRequest, pb.BatchStoreMemoriesResponse],  # noqa: ARG002
    ) -> pb.BatchStoreMemoriesResponse:
        """Store memories, all or none."""
        batch = [
            decoding.new_memory(one, f"memories[{place}].") for place, one in enumerate(request.memories)
        ]
        stored = await self._writing.store(batch, decoding.request_key(request, request.request_id))
        return pb.BatchStoreMemoriesResponse(memories=[encoding.stored(one) for one in stored])

    async def ImportMemories(  # type: ignore[override]  # writes its responses to the context
        self,
        request_iterator: AsyncIterator[pb.ImportMemoriesRequest],
        context: grpc.aio.ServicerContext[pb.ImportMemoriesRequest, pb.ImportMemoriesResponse],
    ) -> None:
        """Import records."""
        await self._importing.run(
            _records(request_iterator), lambda answer: context.write(encode_answer(answer))
        )

    async def ExportMemories(  # the contract's name
        self,
        request: pb.ExportMemoriesRequest,
        context: grpc.aio.ServicerContext[pb.ExportMemoriesRequest, pb.ExportMemoriesResponse],  # noqa: ARG002
    ) -> AsyncIterator[pb.ExportMemoriesResponse]:
        """Export memories; an empty export gives one response without any."""
        async with self._reading.export(listing.export_scope(request)) as export:
            yield pb.ExportMemoriesResponse(total_count=export.total)
            async for batch in export.batches:
                memories = [encoding.memory(one) for one in batch]
                yield pb.ExportMemoriesResponse(memories=memories, total_count=export.total)

    async def GetMemory(  # the contract's name
        self,
        request: pb.GetMemoryRequest,
        context: grpc.aio.ServicerContext[pb.GetMemoryRequest, pb.GetMemoryResponse],  # noqa: ARG002
    ) -> pb.GetMemoryResponse:
        """Return one memory."""
        found = await self._reading.get(decoding.memory_id(request.id), request.project)
        return pb.GetMemoryResponse(memory=encoding.memory(found))

    async def BatchGetMemories(  # the contract's name
        self,
        request: pb.BatchGetMemoriesRequest,
        context: grpc.aio.ServicerContext[pb.BatchGetMemoriesRequest, pb.BatchGetMemoriesResponse],  # noqa: ARG002
    ) -> pb.BatchGetMemoriesResponse:
        """Return memories by id."""
        whole = request.view != pb.MEMORY_VIEW_RECALL
        query = FetchQuery(
            ids=tuple(map(decoding.memory_id, request.ids)),
            project=request.project,
            with_details=whole,
            with_vectors=request.include_vectors,
            neighbors=request.neighbor_count,
        )
        return encoding.fetched(await self._reading.fetch(query), whole=whole)

    async def ListMemories(  # the contract's name
        self,
        request: pb.ListMemoriesRequest,
        context: grpc.aio.ServicerContext[pb.ListMemoriesRequest, pb.ListMemoriesResponse],  # noqa: ARG002
    ) -> pb.ListMemoriesResponse:
        """Return a page of memories."""
        page = await self._reading.page(
            listing.list_scope(request),
            listing.page_size(request.page_size),
            request.page_token,
            listing.arguments(request),
        )
        memories = [encoding.memory(one) for one in page.memories]
        return pb.ListMemoriesResponse(memories=memories, next_page_token=page.next_token)

    async def ListTimeline(  # the contract's name
        self,
        request: pb.ListTimelineRequest,
        context: grpc.aio.ServicerContext[pb.ListTimelineRequest, pb.ListTimelineResponse],  # noqa: ARG002
    ) -> pb.ListTimelineResponse:
        """Return a page of what happened when."""
        page = await self._timelines.page(
            listing.timeline_scope(request),
            listing.page_size(request.limit),
            request.cursor,
            listing.arguments(request, "cursor"),
        )
        items = [encoding.timeline_item(one) for one in page.items]
        return pb.ListTimelineResponse(items=items, next_cursor=page.next_cursor)

    async def UpdateMemory(  # the contract's name
        self,
        request: pb.UpdateMemoryRequest,
        context: grpc.aio.ServicerContext[pb.UpdateMemoryRequest, pb.UpdateMemoryResponse],  # noqa: ARG002
    ) -> pb.UpdateMemoryResponse:
        """Change a memory."""
        key = decoding.request_key(request, request.request_id)
        return pb.UpdateMemoryResponse(
            memory=encoding.memory(await self._writing.update(decoding.update(request), key))
        )

    async def DeleteMemory(  # the contract's name
        self,
        request: pb.DeleteMemoryRequest,
        context: grpc.aio.ServicerContext[pb.DeleteMemoryRequest, pb.DeleteMemoryResponse],  # noqa: ARG002
    ) -> pb.DeleteMemoryResponse:
        """Delete a memory."""
        deleted = await self._writing.delete(
            decoding.memory_id(request.id),
            project=request.project,
            expected_version=request.expected_version,
            key=decoding.request_key(request, request.request_id),
        )
        return pb.DeleteMemoryResponse(id=deleted.id, revision=deleted.revision)

    async def GetStoreStatus(  # the contract's name
        self,
        request: pb.GetStoreStatusRequest,
        context: grpc.aio.ServicerContext[pb.GetStoreStatusRequest, pb.GetStoreStatusResponse],  # noqa: ARG002
    ) -> pb.GetStoreStatusResponse:
        """Count what the store holds."""
        unread = await self._enriching.waiting(request.project)
        return encoding.status(await self._reading.status(request.project), unread=unread)


async def _records(requests: AsyncIterator[pb.ImportMemoriesRequest]) -> AsyncIterator[Record]:
    async for request in requests:
        yield decode_record(request)
