"""The three services behind the ports: the only module that speaks their contracts."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import grpc
import numpy as np

from satchel.allocator.errors import StoreUnreachable
from satchel.allocator.late_interaction import MOST_QUERY_TOKENS, unpacked
from satchel.allocator.loading import FetchedMemories
from satchel.allocator.model import Vectors
from satchel.allocator.ports import (
    DenseHits,
    EmbeddedQuery,
    IndexState,
    Loaded,
    ModelIdentity,
    Peers,
    Scope,
    StoreCounts,
    StoreState,
    WordHits,
)
from satchel.allocator.settings import AllocatorSettings
from satchel.allocator.vocabulary import INDEX_STATES, TYPE_NUMBERS, timestamp
from satchel.api.embedder.v1 import embedder_service_pb2 as embedder_pb
from satchel.api.embedder.v1 import embedder_service_pb2_grpc as embedder_rpc
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.index.v1 import index_service_pb2_grpc as index_rpc
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.store.v1 import memory_service_pb2_grpc as memory_rpc
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.store.v1 import search_service_pb2_grpc as search_rpc
from satchel.api.types.v1 import scope_pb2
from satchel.runtime.status import from_rpc_error

# So that a call that is late already fails with the deadline of the peer.
_LEAST_TIMEOUT_S = 0.001
_FLOAT32 = np.dtype("<f4")


def connect(
    settings: AllocatorSettings,
    *,
    embedder: grpc.aio.Channel,
    index: grpc.aio.Channel,
    store: grpc.aio.Channel,
) -> Peers:
    """Return the peers over channels that the caller opened and closes."""
    timeout, status_timeout = settings.peer_timeout_s, settings.status_timeout_s
    return Peers(
        RemoteEmbedder(embedder, timeout, status_timeout),
        RemoteIndex(index, timeout, status_timeout),
        RemoteStore(store, timeout, status_timeout),
    )


class RemoteEmbedder:
    """`Embedder` over its contract."""

    def __init__(self, channel: grpc.aio.Channel, timeout_s: float, status_timeout_s: float) -> None:
        self._stub = embedder_rpc.EmbedderServiceStub(channel)
        self._timeout_s, self._status_timeout_s = timeout_s, status_timeout_s

    async def embed_query(self, texts: Sequence[str]) -> EmbeddedQuery:
        """Embed the variants of one query in one call."""
        request = embedder_pb.EmbedTextsRequest(
            texts=texts, role=embedder_pb.TEXT_ROLE_QUERY, with_token_codes=True
        )
        with _translated():
            reply = await self._stub.EmbedTexts(request, timeout=self._timeout_s)
        rows = np.frombuffer(reply.vectors, dtype=_FLOAT32).reshape(reply.count, reply.dimension)
        found = reply.token_codes
        own = min(found.counts[0], MOST_QUERY_TOKENS) if found.counts else 0
        codes = unpacked(found.codes, found.bytes_per_token)[:own]
        return EmbeddedQuery(rows, reply.model.sha256, codes)

    async def list_models(self) -> Sequence[ModelIdentity]:
        """Return the loaded models, the default first."""
        with _translated():
            reply = await self._stub.ListModels(
                embedder_pb.ListModelsRequest(), timeout=self._status_timeout_s
            )
        return tuple(
            ModelIdentity(one.name, one.revision, one.sha256, one.dimension, one.max_tokens)
            for one in reply.models
        )


class RemoteIndex:
    """`Index` over its contract."""

    def __init__(self, channel: grpc.aio.Channel, timeout_s: float, status_timeout_s: float) -> None:
        self._stub = index_rpc.IndexServiceStub(channel)
        self._timeout_s, self._status_timeout_s = timeout_s, status_timeout_s

    async def search(self, query: EmbeddedQuery, scope: Scope, *, limit: int, min_revision: int) -> DenseHits:
        """Find the memories nearest to the first vector."""
        request = index_pb.SearchVectorsRequest(
            vector=_packed(query.vectors[0]),
            model_sha256=query.model_sha256,
            filter=filter_of(scope),
            top_k=limit,
            min_revision=min_revision,
        )
        with _translated():
            reply = await self._stub.SearchVectors(request, timeout=self._timeout_s)
        scores = {hit.memory_id: hit.score for hit in reply.hits}
        return DenseHits(scores, reply.applied_revision, reply.degraded)

    async def status(self) -> IndexState:
        """Return the state of the index."""
        with _translated():
            reply = await self._stub.GetIndexStatus(
                index_pb.GetIndexStatusRequest(), timeout=self._status_timeout_s
            )
        state = INDEX_STATES[reply.state]
        return IndexState(state, reply.applied_revision, reply.lag, reply.passage_count)


class RemoteStore:
    """`Store` over its contracts."""

    def __init__(self, channel: grpc.aio.Channel, timeout_s: float, status_timeout_s: float) -> None:
        self._memories = memory_rpc.MemoryServiceStub(channel)
        self._searches = search_rpc.SearchServiceStub(channel)
        self._timeout_s, self._status_timeout_s = timeout_s, status_timeout_s

    async def search_text(self, query: str, scope: Scope, *, limit: int) -> WordHits:
        """Find memories by words and by tags."""
        request = search_pb.SearchTextRequest(query=query, filter=filter_of(scope), top_k=limit)
        with _translated():
            reply = await self._searches.SearchText(request, timeout=self._timeout_s)
        scores = {hit.memory_id: hit.score for hit in reply.hits}
        return WordHits(scores, {hit.memory_id: hit.matches for hit in reply.tag_hits}, reply.revision)

    async def search_vectors(self, query: EmbeddedQuery, scope: Scope, *, limit: int) -> DenseHits:
        """Find the memories nearest to the first vector, exactly."""
        request = search_pb.SearchStoredVectorsRequest(
            vector=_packed(query.vectors[0]),
            model_sha256=query.model_sha256,
            filter=filter_of(scope),
            top_k=limit,
        )
        with _translated():
            reply = await self._searches.SearchStoredVectors(request, timeout=self._timeout_s)
        return DenseHits({hit.memory_id: hit.score for hit in reply.hits}, reply.revision, degraded=True)

    async def fetch(
        self, ids: Sequence[str], scope: Scope, *, neighbors: int, neighbors_of_first: int
    ) -> Loaded:
        """Return memories with vectors and neighbours; those deleted meanwhile are left out.

        What does not fit in one reply is asked for again, all of it within the time for one call.
        """
        request = search_pb.FetchCandidatesRequest(
            filter=filter_of(scope),
            neighbor_count=neighbors,
            neighbors_of_first=neighbors_of_first,
            with_token_codes=True,
        )
        replies: list[search_pb.FetchCandidatesResponse] = []
        remaining, until = list(ids), time.monotonic() + self._timeout_s
        while remaining:
            request.ids[:] = remaining
            left_s = max(until - time.monotonic(), _LEAST_TIMEOUT_S)
            with _translated():
                reply = await self._searches.FetchCandidates(request, timeout=left_s)
            replies.append(reply)
            if len(reply.remaining_ids) >= len(remaining):
                raise StoreUnreachable
            remaining = list(reply.remaining_ids)
        return FetchedMemories(replies)

    async def status(self, project: str) -> StoreState:
        """Return what the store holds."""
        with _translated():
            reply = await self._memories.GetStoreStatus(
                memory_pb.GetStoreStatusRequest(project=project), timeout=self._status_timeout_s
            )
        stats = reply.stats
        counts = StoreCounts(
            verbatim_count=stats.verbatim_count,
            fingerprint_count=stats.fingerprint_count,
            embedding_count=stats.embedding_count,
            causal_node_count=stats.causal_node_count,
            causal_edge_count=stats.causal_edge_count,
            total_tokens=stats.total_tokens,
            type_counts=dict(stats.type_counts),
            active_wings=tuple(stats.active_wings),
            archived_count=stats.archived_count,
            pending_embedding_count=stats.pending_embedding_count,
            pending_enrichment_count=stats.pending_enrichment_count,
        )
        return StoreState(counts, reply.head_revision, reply.database_bytes)


def filter_of(scope: Scope) -> scope_pb2.MemoryFilter:
    """Return the filter of the contract."""
    return scope_pb2.MemoryFilter(
        project=scope.project,
        wings=[scope.wing] if scope.wing else [],
        rooms=[scope.room] if scope.room else [],
        types=[TYPE_NUMBERS[one] for one in scope.types],
        tags=scope.tags,
        since=timestamp(scope.since_us),
        until=timestamp(scope.until_us),
    )


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise from_rpc_error(error) from error


def _packed(vector: Vectors) -> bytes:
    return np.ascontiguousarray(vector, dtype=_FLOAT32).tobytes()
