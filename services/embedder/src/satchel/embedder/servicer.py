"""The embedder's door: decode, call the engine, encode; nothing else."""

import logging
from collections.abc import AsyncIterator

import grpc

from satchel.api.embedder.v1 import embedder_service_pb2 as pb
from satchel.api.embedder.v1 import embedder_service_pb2_grpc as rpc
from satchel.api.types.v1 import model_pb2
from satchel.embedder.engine import Engine
from satchel.embedder.model import Embeddings, ModelIdentity, Priority, Role, TokenCodes
from satchel.runtime.errors import InternalError
from satchel.runtime.status import to_rpc_status, to_service_error
from satchel.runtime.validation import validate

_log = logging.getLogger("satchel.embedder")

_ROLES = {
    pb.TEXT_ROLE_UNSPECIFIED: Role.PASSAGE,
    pb.TEXT_ROLE_PASSAGE: Role.PASSAGE,
    pb.TEXT_ROLE_QUERY: Role.QUERY,
}


class EmbedderServicer(rpc.EmbedderServiceServicer):
    """Answers `EmbedderService` with one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def EmbedTexts(  # the contract's name
        self,
        request: pb.EmbedTextsRequest,
        context: grpc.aio.ServicerContext[pb.EmbedTextsRequest, pb.EmbedTextsResponse],  # noqa: ARG002
    ) -> pb.EmbedTextsResponse:
        """Embed texts; queries before all else."""
        role = _ROLES[request.role]
        priority = Priority.QUERY if role is Role.QUERY else Priority.NORMAL
        found = await self._engine.embed(
            request.texts,
            role=role,
            split=request.split_passages,
            priority=priority,
            with_codes=request.with_token_codes,
        )
        return encode_embeddings(self._engine.identity, found)

    async def EmbedStream(  # the contract's name
        self,
        request_iterator: AsyncIterator[pb.EmbedStreamRequest],
        context: grpc.aio.ServicerContext[pb.EmbedStreamRequest, pb.EmbedStreamResponse],  # noqa: ARG002
    ) -> AsyncIterator[pb.EmbedStreamResponse]:
        """Answer the batches of a stream, one after the other; the next is read when one is answered."""
        async for request in request_iterator:
            yield await self._answer(request)

    async def ListModels(  # the contract's name
        self,
        request: pb.ListModelsRequest,  # noqa: ARG002
        context: grpc.aio.ServicerContext[pb.ListModelsRequest, pb.ListModelsResponse],  # noqa: ARG002
    ) -> pb.ListModelsResponse:
        """List the one model."""
        return pb.ListModelsResponse(models=[encode_identity(self._engine.identity)])

    async def _answer(self, request: pb.EmbedStreamRequest) -> pb.EmbedStreamResponse:
        """Embed one batch of a stream; what goes wrong with it is its answer."""
        try:
            validate(request)
            batch = request.batch
            found = await self._engine.embed(
                batch.texts,
                role=_ROLES[batch.role],
                split=batch.split_passages,
                priority=Priority.BULK,
                with_codes=batch.with_token_codes,
            )
        except Exception as error:  # noqa: BLE001  # the boundary of one batch, as the interceptor is of one call
            failure = to_service_error(error)
            if isinstance(failure, InternalError):
                _log.exception("embedder.batch_failed")
            return pb.EmbedStreamResponse(sequence=request.sequence, error=to_rpc_status(failure))
        return pb.EmbedStreamResponse(
            sequence=request.sequence, vectors=encode_embeddings(self._engine.identity, found)
        )


def encode_embeddings(identity: ModelIdentity, found: Embeddings) -> pb.EmbedTextsResponse:
    """Return the answer with packed little-endian float32 rows."""
    return pb.EmbedTextsResponse(
        model=encode_identity(identity),
        vectors=found.vectors.astype("<f4", copy=False).tobytes(),
        count=len(found.vectors),
        dimension=identity.dimension,
        spans=[
            pb.PassageSpan(
                text_index=span.text_index, start=span.start, end=span.end, token_count=span.token_count
            )
            for span in found.spans
        ],
        queue_ms=found.queue_s * 1e3,
        inference_ms=found.inference_s * 1e3,
        cached_count=found.cached_count,
        token_codes=None if found.codes is None else encode_codes(found.codes),
    )


def encode_codes(found: TokenCodes) -> model_pb2.TokenCodes:
    """Return packed codes and their counts."""
    count, width = found.codes.shape
    return model_pb2.TokenCodes(
        codes=found.codes.tobytes(), counts=found.counts.tolist(), bytes_per_token=width if count else 0
    )


def encode_identity(identity: ModelIdentity) -> model_pb2.ModelIdentity:
    """Return the identity as every contract carries it."""
    return model_pb2.ModelIdentity(
        name=identity.name,
        revision=identity.revision,
        sha256=identity.sha256,
        dimension=identity.dimension,
        max_tokens=identity.max_tokens,
    )
