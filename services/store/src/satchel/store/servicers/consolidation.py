"""The door `ConsolidationService`."""

import grpc

from satchel.api.store.v1 import consolidation_service_pb2 as pb
from satchel.api.store.v1 import consolidation_service_pb2_grpc as rpc
from satchel.store.engine.consolidation import Consolidating, Merged
from satchel.store.model import MemoryType
from satchel.store.scope import Scope
from satchel.store.servicers.decoding import DEFAULT_PROJECT, memory_type

_DEFAULT_THRESHOLD = 0.92


class ConsolidationServicer(rpc.ConsolidationServiceServicer):
    """Answers `ConsolidationService` with the store's use case."""

    def __init__(self, consolidating: Consolidating) -> None:
        self._consolidating = consolidating

    async def ConsolidateMemories(  # the contract's name
        self,
        request: pb.ConsolidateMemoriesRequest,
        context: grpc.aio.ServicerContext[  # noqa: ARG002
            pb.ConsolidateMemoriesRequest, pb.ConsolidateMemoriesResponse
        ],
    ) -> pb.ConsolidateMemoriesResponse:
        """Merge similar memories, or say what would be merged."""
        threshold = request.similarity_threshold or _DEFAULT_THRESHOLD
        found = await self._consolidating.consolidate(_scope(request), threshold, dry_run=request.dry_run)
        return pb.ConsolidateMemoriesResponse(
            consolidated_count=len(found.merged),
            removed_count=sum(len(one.group.sources) for one in found.merged),
            clusters=[_cluster(one) for one in found.merged],
            batch_id=found.batch,
            has_more=found.has_more,
            revision=found.revision,
        )


def _scope(request: pb.ConsolidateMemoriesRequest) -> Scope:
    return Scope(
        project=request.project or DEFAULT_PROJECT,
        wings=(request.wing,),
        rooms=(request.room,) if request.room else (),
        types=(memory_type(request.type) or MemoryType.SESSION_NOTE,),
    )


def _cluster(one: Merged) -> pb.ConsolidatedCluster:
    return pb.ConsolidatedCluster(
        source_ids=[source.id for source in one.group.sources],
        similarity=one.similarity,
        content=one.group.text,
        id=one.id,
    )
