"""The door `IngestService`."""

from collections.abc import Sequence

import grpc

from satchel.api.store.v1 import ingest_service_pb2 as pb
from satchel.api.store.v1 import ingest_service_pb2_grpc as rpc
from satchel.store.conversation import DEFAULT_MIN_LENGTH, Conversation, Skip, Turn
from satchel.store.engine.ingesting import Ingesting, Kept
from satchel.store.servicers.decoding import DEFAULT_PROJECT, request_key, time

_DEFAULT_ROLE = "user"
_SKIPS = {Skip.SHORT: pb.INGEST_OUTCOME_SKIPPED_SHORT, Skip.ROLE: pb.INGEST_OUTCOME_SKIPPED_ROLE}


class IngestServicer(rpc.IngestServiceServicer):
    """Answers `IngestService` with the store's use case."""

    def __init__(self, ingesting: Ingesting) -> None:
        self._ingesting = ingesting

    async def IngestMessages(  # the contract's name
        self,
        request: pb.IngestMessagesRequest,
        context: grpc.aio.ServicerContext[pb.IngestMessagesRequest, pb.IngestMessagesResponse],  # noqa: ARG002
    ) -> pb.IngestMessagesResponse:
        """Store the turns of a conversation, or say what would be stored."""
        key = request_key(request, request.request_id)
        done = await self._ingesting.ingest(_conversation(request), key, dry_run=request.dry_run)
        return _response(done)


def _conversation(request: pb.IngestMessagesRequest) -> Conversation:
    return Conversation(
        turns=tuple(_turn(one, f"messages[{place}].") for place, one in enumerate(request.messages)),
        project=request.project or DEFAULT_PROJECT,
        wing=request.wing,
        room=request.room,
        session_id=request.session_id,
        include_assistant=request.include_assistant,
        min_length=request.min_length or DEFAULT_MIN_LENGTH,
    )


def _turn(message: pb.IngestMessage, prefix: str) -> Turn:
    return Turn(
        message.role or _DEFAULT_ROLE, message.content, message.name, time(message, "timestamp", prefix)
    )


def _response(done: Sequence[Kept | Skip]) -> pb.IngestMessagesResponse:
    kept = [one for one in done if isinstance(one, Kept)]
    duplicates = sum(one.duplicate for one in kept)
    return pb.IngestMessagesResponse(
        stored_count=len(kept) - duplicates,
        skipped_count=len(done) - len(kept),
        duplicate_count=duplicates,
        results=[_result(place, one) for place, one in enumerate(done)],
        revision=max((one.revision for one in kept), default=0),
    )


def _result(place: int, one: Kept | Skip) -> pb.IngestResult:
    if isinstance(one, Skip):
        return pb.IngestResult(index=place, outcome=_SKIPS[one])
    outcome = pb.INGEST_OUTCOME_DUPLICATE if one.duplicate else pb.INGEST_OUTCOME_STORED
    return pb.IngestResult(index=place, outcome=outcome, id=one.id)
