"""The embedder through its contract, over the in-process channel with the full interceptor chain."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import numpy as np
import pytest
from unit.embedder.fakes import ScriptedSession, WordTokenizer, codes_of_words, identity, vector_of_text

from satchel.api.embedder.v1 import embedder_service_pb2 as pb
from satchel.api.embedder.v1 import embedder_service_pb2_grpc as rpc
from satchel.embedder.main import Model, build
from satchel.embedder.settings import EmbedderSettings
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.status import from_rpc_error, from_rpc_status

TIMEOUT_S = 20.0


@asynccontextmanager
async def open_stub(
    settings: EmbedderSettings | None = None, session: ScriptedSession | None = None
) -> AsyncIterator["rpc.EmbedderServiceAsyncStub"]:
    """Serve the packaged model, or with a session the fake one of five tokens."""
    model = None if session is None else Model(identity(5), WordTokenizer(), session)
    async with build(settings or EmbedderSettings(), model=model) as built:
        server = InProcessServer()
        built.register(server)
        yield rpc.EmbedderServiceStub(InProcessChannel(server))


async def test_reply_carries_packed_unit_rows_spans_and_the_model() -> None:
    async with open_stub() as stub:
        reply = await stub.EmbedTexts(
            pb.EmbedTextsRequest(texts=["one", "two words"], role=pb.TEXT_ROLE_PASSAGE), timeout=TIMEOUT_S
        )

    rows = np.frombuffer(reply.vectors, dtype="<f4").reshape(reply.count, reply.dimension)
    assert rows.shape == (2, 384)
    assert pytest.approx([1, 1], abs=1e-5) == np.linalg.norm(rows, axis=1)
    assert [(s.text_index, s.start, s.end, s.token_count) for s in reply.spans] == [
        (0, 0, 3, 3),
        (1, 0, 9, 4),
    ]
    assert reply.model.name == "all-MiniLM-L6-v2"
    assert reply.inference_ms > 0


async def test_repeated_query_is_counted_as_cached() -> None:
    async with open_stub(session=ScriptedSession()) as stub:
        request = pb.EmbedTextsRequest(texts=["who?"], role=pb.TEXT_ROLE_QUERY)
        first = await stub.EmbedTexts(request, timeout=TIMEOUT_S)
        again = await stub.EmbedTexts(request, timeout=TIMEOUT_S)

    assert (first.cached_count, again.cached_count) == (0, 1)
    assert first.vectors == again.vectors


async def test_codes_come_packed_and_counted_where_they_are_asked_for() -> None:
    texts = ["We chose PostgreSQL.", "the"]
    async with open_stub() as stub:
        plain = await stub.EmbedTexts(pb.EmbedTextsRequest(texts=texts), timeout=TIMEOUT_S)
        reply = await stub.EmbedTexts(
            pb.EmbedTextsRequest(texts=texts, with_token_codes=True), timeout=TIMEOUT_S
        )

    found = reply.token_codes
    assert not plain.HasField("token_codes")
    assert plain.vectors == reply.vectors
    assert (found.bytes_per_token, len(found.counts), found.counts[1]) == (48, 2, 1)
    assert len(found.codes) == 48 * sum(found.counts)


async def test_batches_of_a_stream_have_codes_too() -> None:
    batch = pb.EmbedTextsRequest(texts=["whales sing"], with_token_codes=True)
    async with open_stub(session=ScriptedSession()) as stub:
        requests = _each([pb.EmbedStreamRequest(sequence=1, batch=batch)])
        replies = [reply async for reply in stub.EmbedStream(requests, timeout=TIMEOUT_S)]

    found = replies[0].vectors.token_codes
    assert found.codes == codes_of_words("whales", "sing").tobytes()
    assert (list(found.counts), found.bytes_per_token) == ([2], 1)


async def test_split_long_text_has_a_row_for_each_passage() -> None:
    async with open_stub(EmbedderSettings(overlap_tokens=0), ScriptedSession()) as stub:
        reply = await stub.EmbedTexts(
            pb.EmbedTextsRequest(texts=["a b c d e", "f"], split_passages=True), timeout=TIMEOUT_S
        )

    assert reply.count == 3
    assert [(s.text_index, s.start, s.end) for s in reply.spans] == [(0, 0, 6), (0, 6, 9), (1, 0, 1)]


async def test_stream_answers_each_batch_with_its_sequence() -> None:
    requests = [
        pb.EmbedStreamRequest(sequence=number, batch=pb.EmbedTextsRequest(texts=[f"text {'x' * number}"]))
        for number in (5, 3, 9)
    ]
    async with open_stub(session=ScriptedSession()) as stub:
        replies = [reply async for reply in stub.EmbedStream(_each(requests), timeout=TIMEOUT_S)]

    assert [reply.sequence for reply in replies] == [5, 3, 9]
    found = np.frombuffer(replies[1].vectors.vectors, dtype="<f4")
    assert pytest.approx(vector_of_text("text xxx")) == found


async def test_batch_that_fails_is_answered_and_does_not_end_the_stream() -> None:
    session = ScriptedSession()

    async with open_stub(session=session) as stub:
        call = stub.EmbedStream(timeout=TIMEOUT_S)
        session.failure = RuntimeError("the driver's own words")
        await call.write(pb.EmbedStreamRequest(sequence=1, batch=pb.EmbedTextsRequest(texts=["a"])))
        failed = await call.read()
        session.failure = None
        await call.write(pb.EmbedStreamRequest(sequence=2, batch=pb.EmbedTextsRequest(texts=["a"])))
        answered = await call.read()
        await call.done_writing()

    assert isinstance(failed, pb.EmbedStreamResponse)
    assert isinstance(answered, pb.EmbedStreamResponse)
    failure = from_rpc_status(failed.error)
    assert failure is not None
    assert failure.reason == "ERROR_REASON_INTERNAL"
    assert "driver" not in failure.message
    assert (answered.sequence, answered.vectors.count) == (2, 1)


async def test_overload_is_resource_exhausted_with_a_time_to_come_back() -> None:
    session = ScriptedSession()
    session.hold()
    async with open_stub(EmbedderSettings(queue_texts=1), session) as stub:
        waiting = stub.EmbedTexts(pb.EmbedTextsRequest(texts=["a"]), timeout=TIMEOUT_S)
        await session.started.wait()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.EmbedTexts(pb.EmbedTextsRequest(texts=["b"]), timeout=TIMEOUT_S)
        session.release()
        await waiting

    error = from_rpc_error(caught.value)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error.reason == "ERROR_REASON_OVERLOADED"
    assert error.retry_after_s is not None


async def test_call_past_its_deadline_takes_its_texts_out_of_the_queue() -> None:
    session = ScriptedSession()
    session.hold()
    async with open_stub(EmbedderSettings(threads=1), session) as stub:
        running = stub.EmbedTexts(pb.EmbedTextsRequest(texts=["a"]), timeout=TIMEOUT_S)
        await session.started.wait()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.EmbedTexts(pb.EmbedTextsRequest(texts=["b b b"]), timeout=0.05)
        session.release()
        await running

    assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert [batch.ids.shape[1] for batch in session.batches] == [3]


async def test_empty_list_of_texts_is_refused_by_the_name_of_the_field() -> None:
    async with open_stub(session=ScriptedSession()) as stub:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.EmbedTexts(pb.EmbedTextsRequest(), timeout=TIMEOUT_S)

    assert from_rpc_error(caught.value).metadata["field"] == "texts"


async def test_loaded_model_is_listed() -> None:
    async with open_stub(session=ScriptedSession()) as stub:
        reply = await stub.ListModels(pb.ListModelsRequest(), timeout=TIMEOUT_S)

    assert [(one.name, one.dimension, one.max_tokens) for one in reply.models] == [("fake", 4, 5)]


async def _each(requests: list[pb.EmbedStreamRequest]) -> AsyncIterator[pb.EmbedStreamRequest]:
    for request in requests:
        yield request
