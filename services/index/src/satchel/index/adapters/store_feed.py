"""The store as the index sees it: its change feed and its exact search, over generated stubs."""

import dataclasses
import logging
from collections.abc import AsyncGenerator

import grpc

from satchel.api.store.v1 import (
    change_service_pb2,
    change_service_pb2_grpc,
    search_service_pb2,
    search_service_pb2_grpc,
    webhook_service_pb2,
    webhook_service_pb2_grpc,
)
from satchel.index.errors import DimensionMismatch, VectorMalformed
from satchel.index.messages import decode_change, decode_model, encode_filter
from satchel.index.model import Answer, Change, FeedBatch, Hit, Query
from satchel.runtime.status import from_rpc_error

log = logging.getLogger(__name__)

_REPORT_S = 5.0


class StoreFeed:
    """`ChangeService`; a connection lives ``lifetime_s`` seconds, so that every call has a deadline."""

    def __init__(self, channel: grpc.aio.Channel, *, lifetime_s: float, batch_size: int) -> None:
        self._stub = change_service_pb2_grpc.ChangeServiceStub(channel)
        self._lifetime_s = lifetime_s
        self._batch_size = batch_size

    async def watch(
        self, after_revision: int, *, stop_at_head: bool = False
    ) -> AsyncGenerator[FeedBatch, None]:
        """Yield changes after a revision, and then wait for more, until the connection's life ends.

        Raises:
            ServiceError: the store cannot be reached or refuses.
        """
        request = change_service_pb2.WatchChangesRequest(
            after_revision=after_revision,
            include_vectors=True,
            batch_size=self._batch_size,
            stop_at_head=stop_at_head,
        )
        call = self._stub.WatchChanges(request, timeout=self._lifetime_s)
        answered = False
        try:
            async for response in call:
                answered = True
                yield _batch(response)
        except grpc.aio.AioRpcError as exc:
            if exc.code() is grpc.StatusCode.DEADLINE_EXCEEDED and answered:
                return
            raise from_rpc_error(exc) from exc
        finally:
            call.cancel()


class StoreEvents:
    """`WebhookService.ReportMaintenance`, by which the store tells who wants to know."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = webhook_service_pb2_grpc.WebhookServiceStub(channel)

    async def note(self, action: str, *, passages: int, seconds: float, revision: int) -> None:
        """Report a maintenance; a store that cannot be told, or not by us, does without."""
        request = webhook_service_pb2.ReportMaintenanceRequest(
            action=action, passage_count=passages, duration_s=seconds, revision=revision
        )
        try:
            await self._stub.ReportMaintenance(request, timeout=_REPORT_S)
        except grpc.aio.AioRpcError as exc:
            log.debug("index.maintenance.untold", extra={"reason": from_rpc_error(exc).reason})


class StoreSearch:
    """`SearchService.SearchStoredVectors`, the exact search that answers while the index cannot."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = search_service_pb2_grpc.SearchServiceStub(channel)

    async def search(self, query: Query, timeout_s: float) -> Answer:
        """Answer from the store, marked ``degraded``; ``min_score`` is applied here.

        Raises:
            ServiceError: the store cannot be reached or refuses.
        """
        request = search_service_pb2.SearchStoredVectorsRequest(
            vector=query.vector.astype("<f4", copy=False).tobytes(),
            model_sha256=query.model_sha256,
            filter=encode_filter(query.filter),
            top_k=query.top_k,
        )
        try:
            response = await self._stub.SearchStoredVectors(request, timeout=timeout_s)
        except grpc.aio.AioRpcError as exc:
            raise from_rpc_error(exc) from exc
        least = -1.0 if query.min_score is None else query.min_score
        hits = tuple(
            Hit(hit.memory_id, hit.score, hit.passage) for hit in response.hits if hit.score >= least
        )
        return Answer(hits, response.revision, degraded=True, model=decode_model(response.model))


def _batch(response: change_service_pb2.WatchChangesResponse) -> FeedBatch:
    return FeedBatch(
        changes=tuple(_change(message) for message in response.changes),
        head_revision=response.head_revision,
        through_revision=response.through_revision,
        model=decode_model(response.model),
        store_id=response.store_id,
        reembedding=response.reembedding,
    )


def _change(message: change_service_pb2.Change) -> Change:
    """Decode a change; with vectors that cannot be used it is one without, as if they were pending."""
    try:
        return decode_change(message, "changes")
    except (VectorMalformed, DimensionMismatch) as exc:
        log.error(  # noqa: TRY400  # the sentence says all; a trace would not help
            "index.feed.vectors_unusable",
            extra={"memory_id": message.memory_id, "revision": message.revision, "problem": exc.message},
        )
        message.vectors = b""
        return dataclasses.replace(decode_change(message, "changes"), vectors=None)
