"""The index's door: decode, call the engine, encode; nothing else."""

import grpc

from satchel.api.index.v1 import index_service_pb2 as pb
from satchel.api.index.v1 import index_service_pb2_grpc as rpc
from satchel.index.board import State, Status
from satchel.index.engine import Engine
from satchel.index.errors import VectorMalformed
from satchel.index.messages import decode_change, decode_filter, encode_model
from satchel.index.model import Answer, Query
from satchel.index.vectors import unpack_rows
from satchel.runtime.interceptors.chain import current_principal

_DEFAULT_TOP_K = 10
_STATES = {
    State.LOADING: pb.INDEX_STATE_LOADING,
    State.REBUILDING: pb.INDEX_STATE_REBUILDING,
    State.READY: pb.INDEX_STATE_READY,
    State.DISCONNECTED: pb.INDEX_STATE_DISCONNECTED,
}


class IndexServicer(rpc.IndexServiceServicer):
    """Answers `IndexService` with one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def SearchVectors(  # the contract's name
        self,
        request: pb.SearchVectorsRequest,
        context: grpc.aio.ServicerContext[pb.SearchVectorsRequest, pb.SearchVectorsResponse],  # noqa: ARG002
    ) -> pb.SearchVectorsResponse:
        """Find the memories nearest to a vector."""
        return encode_answer(await self._engine.search(decode_query(request)))

    async def GetIndexStatus(  # the contract's name
        self,
        request: pb.GetIndexStatusRequest,  # noqa: ARG002
        context: grpc.aio.ServicerContext[pb.GetIndexStatusRequest, pb.GetIndexStatusResponse],  # noqa: ARG002
    ) -> pb.GetIndexStatusResponse:
        """Report what the index holds and how far it is."""
        caller = current_principal()
        return encode_status(await self._engine.status(), caller.projects if caller else frozenset())

    async def RebuildIndex(  # the contract's name
        self,
        request: pb.RebuildIndexRequest,  # noqa: ARG002
        context: grpc.aio.ServicerContext[pb.RebuildIndexRequest, pb.RebuildIndexResponse],  # noqa: ARG002
    ) -> pb.RebuildIndexResponse:
        """Begin a rebuild."""
        return pb.RebuildIndexResponse(target_revision=await self._engine.rebuild())

    async def ApplyChanges(  # the contract's name
        self,
        request: pb.ApplyChangesRequest,
        context: grpc.aio.ServicerContext[pb.ApplyChangesRequest, pb.ApplyChangesResponse],  # noqa: ARG002
    ) -> pb.ApplyChangesResponse:
        """Apply pushed changes."""
        changes = [decode_change(change, f"changes[{i}]") for i, change in enumerate(request.changes)]
        after = request.after_revision if request.HasField("after_revision") else None
        applied = await self._engine.push(changes, after_revision=after)
        return pb.ApplyChangesResponse(applied_revision=applied)


def decode_query(request: pb.SearchVectorsRequest) -> Query:
    """Return the query.

    Raises:
        VectorMalformed: the vector is not one finite row of unit norm.
    """
    if not request.vector or len(request.vector) % 4:
        raise VectorMalformed(field="vector", problem=f"has {len(request.vector)} bytes")
    return Query(
        vector=unpack_rows(request.vector, dimension=len(request.vector) // 4, field="vector")[0],
        filter=decode_filter(request.filter),
        top_k=request.top_k or _DEFAULT_TOP_K,
        model_sha256=request.model_sha256,
        min_score=request.min_score if request.HasField("min_score") else None,
        min_revision=request.min_revision,
    )


def encode_answer(answer: Answer) -> pb.SearchVectorsResponse:
    """Return the hits in their order."""
    response = pb.SearchVectorsResponse(
        applied_revision=answer.applied_revision, degraded=answer.degraded, model=encode_model(answer.model)
    )
    # In place, which saves a message and its copy for each.
    for hit in answer.hits:
        response.hits.add(memory_id=hit.memory_id, score=hit.score, passage=hit.passage)
    return response


def encode_status(status: Status, projects: frozenset[str]) -> pb.GetIndexStatusResponse:
    """Return the state of the index, with the partitions of some projects; without any, of all."""
    contents = status.contents
    return pb.GetIndexStatusResponse(
        state=_STATES[status.state],
        applied_revision=status.applied_revision,
        head_revision=status.head_revision,
        lag=max(0, status.head_revision - status.applied_revision),
        passage_count=contents.passages,
        memory_count=contents.memories,
        tombstone_count=contents.tombstones,
        model=encode_model(status.model),
        snapshot_revision=status.snapshot_revision,
        rebuild_progress=status.rebuild_progress,
        rebuild_reason=status.rebuild_reason,
        partitions=[
            pb.PartitionStatus(
                project=item.project,
                wing=item.wing,
                live_count=item.live,
                tombstone_count=item.tombstones,
                graph=item.graph,
            )
            for item in contents.partitions
            if not projects or item.project in projects
        ],
        memory_bytes=contents.memory_bytes,
    )
