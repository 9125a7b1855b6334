"""The door `SearchService`."""

import math
from array import array

import grpc

from satchel.api.store.v1 import search_service_pb2 as pb
from satchel.api.store.v1 import search_service_pb2_grpc as rpc
from satchel.store.engine.reading import Reading
from satchel.store.errors import VectorMalformed
from satchel.store.ports import VectorQuery
from satchel.store.servicers import decoding, encoding

_DEFAULT_TEXT_HITS = 100
_DEFAULT_VECTOR_HITS = 10
_FLOAT_BYTES = 4


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

    async def SearchVectors(  # the contract's name
        self,
        request: pb.SearchVectorsRequest,
        context: grpc.aio.ServicerContext[pb.SearchVectorsRequest, pb.SearchVectorsResponse],  # noqa: ARG002
    ) -> pb.SearchVectorsResponse:
        """Find the memories nearest to a vector."""
        query = VectorQuery(
            vector=_checked(request.vector),
            model_sha256=request.model_sha256,
            scope=decoding.scope(request.filter),
            top_k=request.top_k or _DEFAULT_VECTOR_HITS,
        )
        return encoding.vectors_found(await self._reading.search_vectors(query))


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
