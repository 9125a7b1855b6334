"""The port `Embedder` over the contract of the embedder service."""

import time
from collections.abc import Callable, Sequence
from itertools import accumulate, groupby
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
_WORD = "word"
_MISMATCH = "The embedder's response does not match its request."
_LEAST_S = 0.001  # of a request, so that one without time fails as too late and not as malformed
_REFUSALS = frozenset({Code.INVALID_ARGUMENT, Code.NOT_FOUND, Code.FAILED_PRECONDITION})


class RemoteEmbedder:
    """Asks an embedder behind a channel, in this process or elsewhere; ``clock`` in seconds."""

    def __init__(self, channel: grpc.aio.Channel, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stub = rpc.EmbedderServiceStub(channel)
        self._clock = clock

    async def loaded_model(self, *, timeout_s: float) -> ModelIdentity:
        """See the port."""
        try:
            response = await self._stub.ListModels(pb.ListModelsRequest(), timeout=timeout_s)
        except grpc.aio.AioRpcError as error:
            raise EmbedderUnavailable(from_rpc_error(error).message) from error
        if not response.models:
            raise EmbedderUnavailable("The embedder has no model.")
        first = response.models[0]
        return ModelIdentity(first.name, first.revision, first.sha256, first.dimension, first.max_tokens)

    async def gives_codes(self, *, timeout_s: float) -> bool:
        """See the port; asked by embedding one word, so that an embedder of any version answers."""
        (found,) = await self.embed([_WORD], timeout_s=timeout_s)
        return bool(found.code_counts)

    async def embed(self, texts: Sequence[str], *, timeout_s: float) -> tuple[Passages, ...]:
        """See the port."""
        found: list[Passages] = []
        end = self._clock() + timeout_s
        for start in range(0, len(texts), _MAX_TEXTS):
            left_s = max(end - self._clock(), _LEAST_S)
            found += await self._embed_some(texts[start : start + _MAX_TEXTS], left_s)
        return tuple(found)

    async def _embed_some(self, texts: Sequence[str], timeout_s: float) -> list[Passages]:
        request = pb.EmbedTextsRequest(
            texts=texts, role=pb.TEXT_ROLE_PASSAGE, split_passages=True, with_token_codes=True
        )
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
    found, first = [], 0
    codes = _Codes(response)
    for _, spans in groupby(response.spans, key=lambda span: span.text_index):
        own = list(spans)
        end = first + len(own)
        packed = pack(f"<{2 * len(own)}i", *(edge for span in own for edge in (span.start, span.end)))
        vectors = response.vectors[row * first : row * end]
        found.append(Passages(model, len(own), packed, vectors, *codes.of(first, end)))
        first = end
    if len(found) != count or row * first != len(response.vectors):
        raise EmbedderUnavailable(_MISMATCH)
    return found


class _Codes:
    """The codes of a response's rows, if its model gives any.

    Raises:
        EmbedderUnavailable: there are not as many as it says.
    """

    def __init__(self, response: pb.EmbedTextsResponse) -> None:
        found, rows = response.token_codes, len(response.spans)
        self._are_given = response.HasField("token_codes")
        self._codes, self._width = found.codes, found.bytes_per_token
        self._counts = list(found.counts) if found.codes else [0] * rows
        self._ends = [0, *accumulate(self._counts)]
        if len(self._counts) != rows or self._ends[-1] * self._width != len(self._codes):
            raise EmbedderUnavailable(_MISMATCH)

    def of(self, first: int, end: int) -> tuple[bytes, bytes]:
        """Return counts and codes of rows [first, end), packed; both empty where the model gives none."""
        if not self._are_given:
            return b"", b""
        start, stop = self._ends[first], self._ends[end]
        counts = pack(f"<{end - first}i", *self._counts[first:end])
        return counts, self._codes[start * self._width : stop * self._width]
