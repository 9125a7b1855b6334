"""The door `LifecycleService`."""

import grpc

from satchel.api.store.v1 import lifecycle_service_pb2 as pb
from satchel.api.store.v1 import lifecycle_service_pb2_grpc as rpc
from satchel.store.engine.archiving import Archiving
from satchel.store.engine.clearing import Clearing
from satchel.store.engine.reading import Reading
from satchel.store.engine.versions import Restoration, Versioning
from satchel.store.servicers import decoding, encoding, listing
from satchel.store.servicers import lifecycle_messages as messages


class LifecycleServicer(rpc.LifecycleServiceServicer):
    """Answers `LifecycleService` with the store's use cases."""

    def __init__(
        self, archiving: Archiving, clearing: Clearing, versioning: Versioning, reading: Reading
    ) -> None:
        self._archiving = archiving
        self._clearing = clearing
        self._versioning = versioning
        self._reading = reading

    async def ArchiveMemories(  # the contract's name
        self,
        request: pb.ArchiveMemoriesRequest,
        context: grpc.aio.ServicerContext[pb.ArchiveMemoriesRequest, pb.ArchiveMemoriesResponse],  # noqa: ARG002
    ) -> pb.ArchiveMemoriesResponse:
        """Archive memories of ids, or by age."""
        archived = await self._archiving.archive(
            messages.archive_scope(request), messages.ids_of(request), dry_run=request.dry_run
        )
        return messages.archived(archived)

    async def UnarchiveMemories(  # the contract's name
        self,
        request: pb.UnarchiveMemoriesRequest,
        context: grpc.aio.ServicerContext[pb.UnarchiveMemoriesRequest, pb.UnarchiveMemoriesResponse],  # noqa: ARG002
    ) -> pb.UnarchiveMemoriesResponse:
        """Bring memories of ids or of a batch back."""
        batch = messages.batch_of(request)
        return messages.unarchived(
            await self._archiving.unarchive(request.project, messages.ids_of(request), batch)
        )

    async def UnarchiveMemory(  # the contract's name
        self,
        request: pb.UnarchiveMemoryRequest,
        context: grpc.aio.ServicerContext[pb.UnarchiveMemoryRequest, pb.UnarchiveMemoryResponse],  # noqa: ARG002
    ) -> pb.UnarchiveMemoryResponse:
        """Bring one memory back and return it."""
        memory_id = decoding.memory_id(request.id)
        await self._archiving.unarchive(request.project, (memory_id,))
        found = await self._reading.get(memory_id, request.project)
        return pb.UnarchiveMemoryResponse(memory=encoding.memory(found))

    async def ClearMemories(  # the contract's name
        self,
        request: pb.ClearMemoriesRequest,
        context: grpc.aio.ServicerContext[pb.ClearMemoriesRequest, pb.ClearMemoriesResponse],  # noqa: ARG002
    ) -> pb.ClearMemoriesResponse:
        """Delete the memories of a project, a wing or a room."""
        cleared = await self._clearing.clear(
            messages.clear_scope(request),
            expected=request.expected_count if request.HasField("expected_count") else None,
            dry_run=request.dry_run,
        )
        return pb.ClearMemoriesResponse(
            deleted_count=cleared.count, mode=request.mode, revision=cleared.revision
        )

    async def ListVersions(  # the contract's name
        self,
        request: pb.ListVersionsRequest,
        context: grpc.aio.ServicerContext[pb.ListVersionsRequest, pb.ListVersionsResponse],  # noqa: ARG002
    ) -> pb.ListVersionsResponse:
        """Return a page of versions."""
        page = await self._versioning.page(
            decoding.memory_id(request.id),
            project=request.project,
            size=listing.page_size(request.page_size),
            token=request.page_token,
            arguments=listing.arguments(request),
        )
        versions = [messages.version(one) for one in page.versions]
        return pb.ListVersionsResponse(versions=versions, next_page_token=page.next_token)

    async def RestoreVersion(  # the contract's name
        self,
        request: pb.RestoreVersionRequest,
        context: grpc.aio.ServicerContext[pb.RestoreVersionRequest, pb.RestoreVersionResponse],  # noqa: ARG002
    ) -> pb.RestoreVersionResponse:
        """Make a new version that says what an older one said."""
        wanted = Restoration(
            id=decoding.memory_id(request.id),
            version=request.version,
            project=request.project,
            expected_version=request.expected_version,
        )
        restored = await self._versioning.restore(wanted, decoding.request_key(request, request.request_id))
        return pb.RestoreVersionResponse(memory=encoding.memory(restored))
