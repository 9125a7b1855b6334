"""The door `MaintenanceService`."""

from collections.abc import AsyncIterator

import grpc

from satchel.api.store.v1 import maintenance_service_pb2 as pb
from satchel.api.store.v1 import maintenance_service_pb2_grpc as rpc
from satchel.store.engine.reembedding import Progress, Reembedding, State
from satchel.store.model import ModelIdentity
from satchel.store.servicers import encoding

_STATES = {
    State.DONE: pb.REEMBEDDING_STATE_DONE,
    State.NEEDED: pb.REEMBEDDING_STATE_NEEDED,
    State.RUNNING: pb.REEMBEDDING_STATE_RUNNING,
    State.WAITING: pb.REEMBEDDING_STATE_WAITING,
    State.UNKNOWN: pb.REEMBEDDING_STATE_UNKNOWN,
    State.CANCELLED: pb.REEMBEDDING_STATE_CANCELLED,
    State.INCOMPLETE: pb.REEMBEDDING_STATE_INCOMPLETE,
}
_DETAILS = {
    State.DONE: "Every vector is of the embedder's model, {embedder}.",
    State.NEEDED: "The store uses vectors of {stored}, and the embedder has {embedder}: memories are found "
    "by words alone, and new ones wait for their vectors. Run 'satchel reembed', or give the embedder the "
    "model {stored} again.",
    State.RUNNING: "{outdated} memories are to get vectors of {embedder}; until then they are found by words "
    "alone. {uncoded} more are to get token codes.",
    State.WAITING: "{outdated} memories are to get vectors of {stored}, {uncoded} more token codes, and the "
    "embedder does not answer. Start it; the work goes on by itself.",
    State.UNKNOWN: "The embedder does not answer. Start it, then look again.",
    State.CANCELLED: "{outdated} memories have no vectors of {stored}, as the re-embedding was cancelled: "
    "they are found by words alone. Run 'satchel reembed' to go on, or give the embedder the former model "
    "and run it to go back.",
    State.INCOMPLETE: "Every vector is of the embedder's model, {embedder}. {uncoded} memories lack the "
    "token codes that it gives, and are compared with questions less closely. Run 'satchel reembed' to make "
    "them.",
}


class MaintenanceServicer(rpc.MaintenanceServiceServicer):
    """Answers `MaintenanceService` with the store's use cases."""

    def __init__(self, reembedding: Reembedding) -> None:
        self._reembedding = reembedding

    async def ReembedMemories(  # the contract's name
        self,
        request: pb.ReembedMemoriesRequest,  # noqa: ARG002
        context: grpc.aio.ServicerContext[pb.ReembedMemoriesRequest, pb.ReembedMemoriesResponse],  # noqa: ARG002
    ) -> AsyncIterator[pb.ReembedMemoriesResponse]:
        """Make the vectors anew, and stream the progress."""
        async for progress in self._reembedding.reembed():
            yield pb.ReembedMemoriesResponse(reembedding=_encoded(progress))

    async def BeginReembedding(  # the contract's name
        self,
        request: pb.BeginReembeddingRequest,  # noqa: ARG002
        context: grpc.aio.ServicerContext[pb.BeginReembeddingRequest, pb.BeginReembeddingResponse],  # noqa: ARG002
    ) -> pb.BeginReembeddingResponse:
        """Begin to make the vectors anew."""
        return pb.BeginReembeddingResponse(reembedding=_encoded(await self._reembedding.begin()))

    async def CancelReembedding(  # the contract's name
        self,
        request: pb.CancelReembeddingRequest,  # noqa: ARG002
        context: grpc.aio.ServicerContext[pb.CancelReembeddingRequest, pb.CancelReembeddingResponse],  # noqa: ARG002
    ) -> pb.CancelReembeddingResponse:
        """End it before its time."""
        return pb.CancelReembeddingResponse(reembedding=_encoded(await self._reembedding.cancel()))

    async def GetReembedding(  # the contract's name
        self,
        request: pb.GetReembeddingRequest,
        context: grpc.aio.ServicerContext[pb.GetReembeddingRequest, pb.GetReembeddingResponse],  # noqa: ARG002
    ) -> pb.GetReembeddingResponse:
        """Report the progress."""
        return pb.GetReembeddingResponse(
            reembedding=_encoded(await self._reembedding.progress(request.project))
        )


def _encoded(progress: Progress) -> pb.Reembedding:
    counts = progress.counts
    return pb.Reembedding(
        state=_STATES[progress.state],
        detail=_detail(progress),
        store_model=encoding.model(counts.model),
        embedder_model=encoding.model(progress.embedder_model),
        outdated_count=counts.outdated,
        pending_count=counts.pending,
        total_count=counts.total,
        done_count=counts.done,
        begun_at=None if counts.begun_at is None else encoding.timestamp(counts.begun_at),
        finished_at=None if counts.finished_at is None else encoding.timestamp(counts.finished_at),
        uncoded_count=counts.uncoded,
        cancelled_at=None if counts.cancelled_at is None else encoding.timestamp(counts.cancelled_at),
    )


def _detail(progress: Progress) -> str:
    stored, embedder = progress.counts.model, progress.embedder_model
    counts = progress.counts
    return _DETAILS[progress.state].format(
        stored=_named(stored, embedder),
        embedder=_named(embedder, stored),
        outdated=counts.outdated,
        uncoded=counts.uncoded if counts.with_codes or progress.gives_codes else 0,
    )


def _named(model: ModelIdentity | None, other: ModelIdentity | None) -> str:
    """Return the name of a model, with the first digits of its hash where the other has the same name."""
    if model is None:
        return "no model"
    is_ambiguous = other is not None and other.name == model.name and other.sha256 != model.sha256
    return f"{model.name} ({model.sha256[:12]})" if is_ambiguous else model.name
