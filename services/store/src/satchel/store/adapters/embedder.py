"""The port `Embedder` over the contract of the embedder service."""

import time
from collections.abc import Callable, Sequence
from itertools import groupby
from struct import pack

import grpc

from satchel.api.embedder.v1 import embedder_service_pb2 as pb
from satchel.api.embedder.v1 import embedder_service_pb2_grpc as rpc
from satchel.runtime.errors import Code
from satchel.runtime.status import from_rpc_error
from satchel.store.model import ModelIdentity, Passages
from satchel.store.ports import EmbedderRefused, EmbedderUnavailable

_MAX_TEXTS = 256
_FLOAT_BYTES = 4
_LEAST_S = 0.001  # of a request, so that one without time fails as too late and not as malformed
_REFUSALS = frozenset({Code.INVALID_ARGUMENT, Code.NOT_FOUND, Code.FAILED_PRECONDITION})


class RemoteEmbedder:
    """Asks an embedder behind a channel, in this process or elsewhere; ``clock`` in seconds."""

    def __init__(self, channel: grpc.aio.Channel, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stub = rpc.EmbedderServiceStub(channel)
        self._clock = clock

    async def embed(self, texts: Sequence[str], *, timeout_s: float) -> tuple[Passages, ...]:
        """See the port."""
        found: list[Passages] = []
        end = self._clock() + timeout_s
        for start in range(0, len(texts), _MAX_TEXTS):
            left_s = max(end - self._clock(), _LEAST_S)
            found += await self._embed_some(texts[start : start + _MAX_TEXTS], left_s)
        return tuple(found)

    async def _embed_some(self, texts: Sequence[str], timeout_s: float) -> list[Passages]:
        request = pb.EmbedTextsRequest(texts=texts, role=pb.TEXT_ROLE_PASSAGE, split_passages=True)
        try:
            response = await self._stub.EmbedTexts(request, timeout=timeout_s)
        except grpc.aio.AioRpcError as error:
            failure = from_rpc_error(error)
            if failure.code in _REFUSALS:
                raise EmbedderRefused(failure.message) from error
            raise EmbedderUnavailable(failure.message) from error
        return _passages(response, len(texts))


def _passages(response: pb.EmbedTextsResponse, count: int) -> list[Passages]:
    """Cut the rows of a response into the passages of each text.

    Raises:
        EmbedderUnavailable: the response does not hold what it says; another try may.
    """
    model = ModelIdentity(
        response.model.name,
        response.model.revision,
        response.model.sha256,
        response.dimension,
        response.model.max_tokens,
    )
    row = response.dimension * _FLOAT_BYTES
    found, place = [], 0
    for _, spans in groupby(response.spans, key=lambda span: span.text_index):
        own = list(spans)
        packed = pack(f"<{2 * len(own)}i", *(edge for span in own for edge in (span.start, span.end)))
        found.append(Passages(model, len(own), packed, response.vectors[place : place + row * len(own)]))
        place += row * len(own)
    if len(found) != count or place != len(response.vectors):
        raise EmbedderUnavailable("The embedder's response does not match its request.")
    return found
