"""The door `SearchService`."""

import math
from array import array
from collections.abc import Sequence
from struct import unpack
from typing import cast

import grpc

from satchel.api.store.v1 import search_service_pb2 as pb
from satchel.api.store.v1 import search_service_pb2_grpc as rpc
from satchel.api.types.v1 import memory_pb2, model_pb2
from satchel.store.candidates import Candidates
from satchel.store.engine.reading import Reading
from satchel.store.errors import VectorMalformed
from satchel.store.ports import VectorQuery
from satchel.store.servicers import decoding, encoding

_DEFAULT_TEXT_HITS = 100
_DEFAULT_VECTOR_HITS = 10
_FLOAT_BYTES = 4
_INT_BYTES = 4


class SearchServicer(rpc.SearchServiceServicer):
    """Answers `SearchService` with the store's use cases."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    async def SearchText(  # the contract's name
        self,
        request: pb.SearchTextRequest,
        context: grpc.aio.ServicerContext[pb.SearchTextRequest, pb.SearchTextResponse],  # noqa: ARG002
    ) -> pb.SearchTextResponse:
        """Find memories by words and tags."""
        found = await self._reading.search_text(
            request.query, decoding.scope(request.filter), request.top_k or _DEFAULT_TEXT_HITS
        )
        return encoding.text_found(found)

    async def SearchStoredVectors(  # the contract's name
        self,
        request: pb.SearchStoredVectorsRequest,
        context: grpc.aio.ServicerContext[pb.SearchStoredVectorsRequest, pb.SearchStoredVectorsResponse],  # noqa: ARG002
    ) -> pb.SearchStoredVectorsResponse:
        """Find the memories nearest to a vector."""
        query = VectorQuery(
            vector=_checked(request.vector),
            model_sha256=request.model_sha256,
            scope=decoding.scope(request.filter),
            top_k=request.top_k or _DEFAULT_VECTOR_HITS,
        )
        return encoding.vectors_found(await self._reading.search_vectors(query))

    async def FetchCandidates(  # the contract's name
        self,
        request: pb.FetchCandidatesRequest,
        context: grpc.aio.ServicerContext[pb.FetchCandidatesRequest, pb.FetchCandidatesResponse],  # noqa: ARG002
    ) -> pb.FetchCandidatesResponse:
        """Return what a recall needs of memories, in columns."""
        found = await self._reading.fetch_candidates(
            list(map(decoding.memory_id, request.ids)),
            decoding.scope(request.filter),
            neighbors=request.neighbor_count,
            neighbors_of_first=request.neighbors_of_first,
            with_codes=request.with_token_codes,
        )
        return candidates_found(found, with_codes=request.with_token_codes)


def candidates_found(found: Candidates, *, with_codes: bool = False) -> pb.FetchCandidatesResponse:
    """Encode columns."""
    edges = unpack(f"<{len(found.spans) // _INT_BYTES}i", found.spans)
    return pb.FetchCandidatesResponse(
        asked_count=found.asked_count,
        ids=found.ids,
        contents=found.contents,
        fingerprints=found.fingerprints,
        wings=found.wings,
        rooms=found.rooms,
        session_ids=found.session_ids,
        session_orders=found.session_orders,
        types=cast("Sequence[memory_pb2.MemoryType.ValueType]", found.types),
        created_micros=found.created,
        effective_micros=found.effective,
        occurred=map(bool, found.occurred),
        versions=found.versions,
        token_counts=found.token_counts,
        fact_counts=found.fact_counts,
        in_filter=found.in_filter,
        passage_counts=found.passage_counts,
        passage_starts=edges[::2],
        passage_ends=edges[1::2],
        vectors=found.vectors,
        dimension=found.dimension,
        links=[pb.CandidateLinks(index=at, memory_ids=ids) for at, ids in found.links.items()],
        remaining_ids=found.remaining,
        token_codes=_codes(found) if with_codes else None,
    )


def _codes(found: Candidates) -> model_pb2.TokenCodes:
    counts = unpack(f"<{len(found.code_counts) // _INT_BYTES}i", found.code_counts)
    width = len(found.codes) // sum(counts) if found.codes else 0
    return model_pb2.TokenCodes(codes=found.codes, counts=counts, bytes_per_token=width)


def _checked(vector: bytes) -> bytes:
    """Return a packed vector that has a direction.

    Raises:
        VectorMalformed: the bytes are not whole numbers, or these are not finite or all zero.
    """
    if not vector or len(vector) % _FLOAT_BYTES:
        raise VectorMalformed(limit="a whole number of 4-byte numbers")
    numbers = array("f", vector)
    if not all(map(math.isfinite, numbers)):
        raise VectorMalformed(limit="finite numbers")
    if not any(numbers):
        raise VectorMalformed(limit="numbers that are not all zero")
    return vector
