"""The client of the embedder's contract, against a servicer that answers as told."""

import struct
from typing import NoReturn

import grpc
import pytest

from requirements import requirement
from satchel.api.embedder.v1 import embedder_service_pb2 as pb
from satchel.api.embedder.v1 import embedder_service_pb2_grpc as rpc
from satchel.api.types.v1 import model_pb2
from satchel.runtime.errors import DeadlineExceeded, InvalidRequest, Overloaded, ServiceError, ShuttingDown
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import default_chain
from satchel.store.adapters.embedder import RemoteEmbedder
from satchel.store.ports import EmbedderRefused, EmbedderUnavailable

MODEL = model_pb2.ModelIdentity(name="m", revision="1", sha256="a" * 64, dimension=2, max_tokens=8)


class Embedder(rpc.EmbedderServiceServicer):
    """Gives text number n as many passages as its first character says."""

    def __init__(
        self, failure: ServiceError | None = None, *, drop_row: bool = False, missing_codes: int | None = None
    ) -> None:
        self.failure = failure
        self.drop_row = drop_row
        self.missing_codes = missing_codes
        self.requests: list[pb.EmbedTextsRequest] = []
        self.timeouts: list[float] = []

    async def EmbedTexts(  # noqa: N802  # the contract's name
        self, request: pb.EmbedTextsRequest, context: grpc.aio.ServicerContext[object, object]
    ) -> pb.EmbedTextsResponse:
        self.requests.append(request)
        self.timeouts.append(context.time_remaining())
        if self.failure is not None:
            raise self.failure
        spans = [
            pb.PassageSpan(text_index=index, start=place, end=place + 1)
            for index, text in enumerate(request.texts)
            for place in range(int(text[0]))
        ]
        rows = [struct.pack("<2f", span.text_index, span.start) for span in spans]
        vectors = b"".join(rows[1:] if self.drop_row else rows)
        found = pb.EmbedTextsResponse(model=MODEL, vectors=vectors, count=len(rows), dimension=2, spans=spans)
        if self.missing_codes is not None:
            codes = b"".join(bytes([span.text_index, span.start]) * span.start for span in spans)
            found.token_codes.codes = codes[2 * self.missing_codes :]
            found.token_codes.counts[:] = [span.start for span in spans]
            found.token_codes.bytes_per_token = 2
        return found

    def EmbedStream(self, request_iterator: object, context: object) -> NoReturn:  # noqa: N802
        raise NotImplementedError

    def ListModels(self, request: object, context: object) -> NoReturn:  # noqa: N802
        raise NotImplementedError


def embedder(servicer: Embedder) -> RemoteEmbedder:
    server = InProcessServer(interceptors=default_chain())
    rpc.add_EmbedderServiceServicer_to_server(servicer, server)
    return RemoteEmbedder(InProcessChannel(server))


@requirement("embed:passages")
async def test_rows_are_cut_into_the_passages_of_each_text() -> None:
    servicer = Embedder()

    found = await embedder(servicer).embed(["1 a", "3 b", "2 c"], timeout_s=5)

    assert [one.count for one in found] == [1, 3, 2]
    assert found[1].vectors == b"".join(struct.pack("<2f", 1, place) for place in range(3))
    assert found[2].spans == struct.pack("<4i", 0, 1, 1, 2)
    assert found[0].model.sha256 == "a" * 64
    assert servicer.requests[0].split_passages
    assert servicer.requests[0].role == pb.TEXT_ROLE_PASSAGE


@requirement("embed:passages")
async def test_more_texts_than_a_request_holds_go_in_several() -> None:
    servicer = Embedder()

    found = await embedder(servicer).embed(["1"] * 600, timeout_s=5)

    assert len(found) == 600
    assert [len(request.texts) for request in servicer.requests] == [256, 256, 88]


@requirement("embed:time")
async def test_several_requests_share_the_time_of_one_call() -> None:
    servicer = Embedder()
    server = InProcessServer(interceptors=default_chain())
    rpc.add_EmbedderServiceServicer_to_server(servicer, server)
    moments = iter([0.0, 0.0, 200.0, 290.0])  # the start, then before each request

    client = RemoteEmbedder(InProcessChannel(server), clock=lambda: next(moments))
    await client.embed(["1"] * 600, timeout_s=300)

    assert servicer.timeouts == pytest.approx([300, 100, 10], abs=5)


@requirement("embed:pending")
@pytest.mark.parametrize(
    "failure", [Overloaded(queue="embedder", limit=1), DeadlineExceeded(), ShuttingDown()]
)
async def test_an_embedder_that_cannot_now_is_unavailable(failure: ServiceError) -> None:
    with pytest.raises(EmbedderUnavailable):
        await embedder(Embedder(failure)).embed(["1"], timeout_s=5)


@requirement("embed:refused-text")
async def test_a_text_that_is_not_accepted_is_refused() -> None:
    failure = InvalidRequest.of("texts[0]", "ERROR_REASON_FIELD_TOO_LONG", "Too long.")

    with pytest.raises(EmbedderRefused):
        await embedder(Embedder(failure)).embed(["1"], timeout_s=5)


@requirement("embed:passages")
async def test_an_answer_that_does_not_hold_what_it_says_is_not_used() -> None:
    with pytest.raises(EmbedderUnavailable):
        await embedder(Embedder(drop_row=True)).embed(["2"], timeout_s=5)


@requirement("codes:stored")
async def test_codes_are_cut_into_those_of_each_text() -> None:
    """Passage n of the scripted embedder has n codes."""
    servicer = Embedder(missing_codes=0)

    found = await embedder(servicer).embed(["1 a", "3 b", "2 c"], timeout_s=5)

    assert servicer.requests[0].with_token_codes
    assert [struct.unpack(f"<{one.count}i", one.code_counts) for one in found] == [(0,), (0, 1, 2), (0, 1)]
    assert [one.codes for one in found] == [b"", bytes([1, 1, 1, 2, 1, 2]), bytes([2, 1])]


@requirement("codes:optional")
async def test_an_embedder_without_codes_gives_passages_without() -> None:
    found = await embedder(Embedder()).embed(["1 a", "3 b"], timeout_s=5)

    assert [(one.count, one.code_counts, one.codes) for one in found] == [(1, b"", b""), (3, b"", b"")]


@requirement("embed:passages")
async def test_an_answer_that_has_fewer_codes_than_it_says_is_not_used() -> None:
    with pytest.raises(EmbedderUnavailable):
        await embedder(Embedder(missing_codes=1)).embed(["3"], timeout_s=5)
