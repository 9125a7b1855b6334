"""The door `ChangeService`."""

from collections.abc import AsyncIterator

import grpc

from satchel.api.store.v1 import change_service_pb2 as pb
from satchel.api.store.v1 import change_service_pb2_grpc as rpc
from satchel.store.engine.following import Following
from satchel.store.servicers import encoding

_DEFAULT_BATCH = 200


class ChangeServicer(rpc.ChangeServiceServicer):
    """Answers `ChangeService` with the store's use cases."""

    def __init__(self, following: Following) -> None:
        self._following = following

    async def WatchChanges(  # the contract's name
        self,
        request: pb.WatchChangesRequest,
        context: grpc.aio.ServicerContext[pb.WatchChangesRequest, pb.WatchChangesResponse],  # noqa: ARG002
    ) -> AsyncIterator[pb.WatchChangesResponse]:
        """Stream changes, and wait for more."""
        watched = self._following.watch(
            request.after_revision,
            limit=request.batch_size or _DEFAULT_BATCH,
            project=request.project,
            with_vectors=request.include_vectors,
            stop_at_head=request.stop_at_head,
        )
        async for found in watched:
            yield encoding.changes(found, with_vectors=request.include_vectors)
