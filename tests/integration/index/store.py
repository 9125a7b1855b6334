"""A store of two servicers in memory, to run the index against real stubs and messages."""

from collections.abc import AsyncIterator

from google.protobuf.timestamp_pb2 import Timestamp
from unit.index.fakes import FakeExact, FakeFeed

from satchel.api.store.v1 import (
    change_service_pb2,
    change_service_pb2_grpc,
    search_service_pb2,
    search_service_pb2_grpc,
)
from satchel.index.messages import decode_filter, encode_model
from satchel.index.model import Change, Query
from satchel.index.vectors import unpack_rows


class StoreChanges(change_service_pb2_grpc.ChangeServiceServicer):
    def __init__(self, feed: FakeFeed) -> None:
        self.feed = feed

    async def WatchChanges(  # noqa: N802
        self, request: change_service_pb2.WatchChangesRequest, context: object
    ) -> AsyncIterator[change_service_pb2.WatchChangesResponse]:
        del context
        assert request.include_vectors
        async for batch in self.feed.watch(request.after_revision, stop_at_head=request.stop_at_head):
            yield change_service_pb2.WatchChangesResponse(
                changes=[encode_change(change) for change in batch.changes],
                head_revision=batch.head_revision,
                through_revision=batch.through_revision,
                model=encode_model(batch.model),
                store_id=batch.store_id,
            )


class StoreSearches(search_service_pb2_grpc.SearchServiceServicer):
    def __init__(self, exact: FakeExact) -> None:
        self.exact = exact

    async def SearchText(  # noqa: N802
        self, request: search_service_pb2.SearchTextRequest, context: object
    ) -> search_service_pb2.SearchTextResponse:
        raise NotImplementedError

    async def SearchStoredVectors(  # noqa: N802
        self, request: search_service_pb2.SearchStoredVectorsRequest, context: object
    ) -> search_service_pb2.SearchStoredVectorsResponse:
        del context
        vector = unpack_rows(request.vector, dimension=len(request.vector) // 4, field="vector")[0]
        query = Query(vector, decode_filter(request.filter), request.top_k or 10)
        answer = await self.exact.search(query, 1.0)
        return search_service_pb2.SearchStoredVectorsResponse(
            hits=[
                search_service_pb2.StoredVectorHit(
                    memory_id=hit.memory_id, score=hit.score, passage=hit.passage
                )
                for hit in answer.hits
            ],
            revision=answer.applied_revision,
            model=encode_model(answer.model),
        )


def encode_change(change: Change) -> change_service_pb2.Change:
    kinds = change_service_pb2
    count = 0 if change.vectors is None else len(change.vectors)
    return change_service_pb2.Change(
        revision=change.revision,
        kind=kinds.CHANGE_KIND_DELETE if change.deleted else kinds.CHANGE_KIND_UPSERT,
        memory_id=change.memory_id,
        project=change.project,
        wing=change.wing,
        room=change.room,
        type=change.type,  # type: ignore[arg-type]
        state=change.state,  # type: ignore[arg-type]
        passage_count=count,
        vectors=b"" if change.vectors is None else change.vectors.tobytes(),
        dimension=0 if change.vectors is None else change.vectors.shape[1],
        model_sha256=change.model_sha256,
        effective_at=Timestamp(
            seconds=change.effective_us // 1_000_000, nanos=change.effective_us % 1_000_000 * 1_000
        ),
        session_id=change.session_id,
        tags=change.tags,
    )
