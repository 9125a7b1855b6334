"""What a client sees must not depend on the transport: each test runs in process and over a socket."""

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
import pytest
from contract.runtime.echo import SERVICE, text_beyond_the_limit
from contract.runtime.transports import Opener, Reach
from google.protobuf.wrappers_pb2 import StringValue
from google.rpc import error_details_pb2, status_pb2

from requirements import requirement
from satchel.runtime.errors import Code, InternalError, RemoteError, Unauthenticated
from satchel.runtime.interceptors import Principal, current_principal
from satchel.runtime.interceptors.middleware import Middleware
from satchel.runtime.propagation import Metadatum, forward_from
from satchel.runtime.status import MAX_MESSAGE_BYTES, from_rpc_error

LIMIT_S = 5


def text(value: str) -> StringValue:
    return StringValue(value=value)


async def several(*values: str) -> AsyncIterator[StringValue]:
    for value in values:
        yield text(value)


async def failure_of(call: grpc.aio.UnaryUnaryCall[StringValue, StringValue]) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value


@requirement("rpc:transports")
async def test_unary_call_returns_the_response(reach: Reach) -> None:
    assert text("hello") == await reach.stub.Unary(text("hello"))


@requirement("rpc:transports")
async def test_request_and_response_are_never_the_same_object(reach: Reach) -> None:
    request = text("hello")

    assert request is not await reach.stub.Unary(request)


@requirement("rpc:transports")
async def test_server_stream_arrives_in_order(reach: Reach) -> None:
    words = " ".join(str(number) for number in range(100))

    assert words.split() == [one.value async for one in reach.stub.Split(text(words))]


@requirement("rpc:transports")
async def test_client_stream_arrives_in_order(reach: Reach) -> None:
    words = [str(number) for number in range(100)]

    assert " ".join(words) == (await reach.stub.Join(several(*words))).value


@requirement("rpc:transports")
async def test_client_stream_takes_a_plain_iterator(reach: Reach) -> None:
    assert (await reach.stub.Join(iter([text("a"), text("b")]))).value == "a b"


@requirement("rpc:transports")
async def test_both_streams_interleave(reach: Reach) -> None:
    call = reach.stub.Chat()

    await call.write(text("a"))
    first = await call.read()
    await call.write(text("b"))
    second = await call.read()
    await call.done_writing()

    assert [first.value, second.value] == ["A", "B"]
    assert await call.read() is grpc.aio.EOF
    assert await call.code() is grpc.StatusCode.OK


@requirement("rpc:transports")
async def test_both_streams_take_an_iterator(reach: Reach) -> None:
    assert [one.value async for one in reach.stub.Chat(several("a", "b"))] == ["A", "B"]


@requirement("rpc:errors")
async def test_service_error_arrives_with_code_reason_metadata_and_retry_delay(reach: Reach) -> None:
    error = await failure_of(reach.stub.Unary(text("teapot")))

    known = from_rpc_error(error)
    assert isinstance(known, RemoteError)
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert (known.code, known.reason) == (Code.FAILED_PRECONDITION, "ERROR_REASON_TEAPOT")
    assert known.metadata == {"colour": "brown"}
    assert known.retry_after_s == 1.5
    assert error.details() == "I am a teapot. Ask for tea."


@requirement("rpc:errors")
async def test_error_details_are_one_error_info_of_our_domain(reach: Reach) -> None:
    error = await failure_of(reach.stub.Unary(text("teapot")))

    details = dict(error.trailing_metadata())["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(details)
    infos = [detail for detail in status.details if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR)]
    info = error_details_pb2.ErrorInfo.FromString(infos[0].value)
    assert (len(infos), info.domain) == (1, "satchel")
    assert (9, error.details()) == (status.code, status.message)


@requirement("rpc:errors")
async def test_unknown_exception_becomes_internal_without_its_text(
    reach: Reach, caplog: pytest.LogCaptureFixture
) -> None:
    error = await failure_of(reach.stub.Unary(text("bug")))

    assert error.code() is grpc.StatusCode.INTERNAL
    assert "secret" not in str(error)
    assert from_rpc_error(error).reason == InternalError.reason
    assert "secret detail" in caplog.text


@requirement("rpc:transports")
async def test_abort_keeps_its_trailing_metadata(reach: Reach) -> None:
    error = await failure_of(reach.stub.Unary(text("abort")))

    assert error.code() is grpc.StatusCode.DATA_LOSS
    assert error.details() == "gone"
    assert dict(error.trailing_metadata())["why"] == "because"


@requirement("rpc:errors")
async def test_status_that_a_handler_sets_ends_the_call(reach: Reach) -> None:
    error = await failure_of(reach.stub.Unary(text("code")))

    assert (error.code(), error.details()) == (grpc.StatusCode.NOT_FOUND, "not here")


@requirement("rpc:transports")
async def test_metadata_travels_before_and_after_the_response(reach: Reach) -> None:
    call = reach.stub.Unary(text("metadata"))
    await call

    assert (await call.initial_metadata())["early"] == "1"
    trailing = await call.trailing_metadata()
    assert (trailing["late"], trailing["raw-bin"]) == ("2", b"\x00\xff")


@requirement("rpc:transports")
async def test_metadata_of_the_client_reaches_the_handler(reach: Reach) -> None:
    response = await reach.stub.Unary(text("headers"), metadata=(("x-colour", "brown"),))

    assert "x-colour=brown" in response.value


@requirement("rpc:transports")
async def test_invalid_metadata_is_refused_before_the_call(reach: Reach) -> None:
    with pytest.raises(ValueError, match="metadata 'X-Upper'"):
        await reach.stub.Unary(text("headers"), metadata=(("X-Upper", "1"),))


@requirement("rpc:errors")
async def test_unknown_method_is_unimplemented(reach: Reach) -> None:
    error = await failure_of(reach.stub.Missing(text("hello")))

    known = from_rpc_error(error)
    assert isinstance(known, RemoteError)
    assert (known.code, known.reason) == (Code.UNIMPLEMENTED, "ERROR_REASON_UNIMPLEMENTED")
    assert known.metadata == {"method": f"{SERVICE}/Missing"}


@requirement("rpc:limits")
async def test_names_of_methods_that_do_not_exist_are_not_kept(opener: Opener) -> None:
    async with opener() as reach:
        for number in range(3):
            member: Any = reach.channel.unary_unary(f"/made.up.Service/M{number}")
            await failure_of(member(b""))

    # What an interceptor keeps for each method would grow with every name that somebody invents.
    kept = [path for one in gc.get_objects() if isinstance(one, Middleware) for path in one._wrapped]
    assert not [path for path in kept if path.startswith("/made.up")]


@requirement("rpc:limits")
async def test_request_beyond_the_limit_is_refused(reach: Reach) -> None:
    known = from_rpc_error(await failure_of(reach.stub.Unary(text_beyond_the_limit())))

    assert (known.code, known.reason) == (Code.RESOURCE_EXHAUSTED, "ERROR_REASON_MESSAGE_TOO_LARGE")
    assert known.metadata["limit"] == str(MAX_MESSAGE_BYTES)
    assert reach.echo.contexts == []


@requirement("rpc:limits")
async def test_streamed_request_beyond_the_limit_ends_the_call(reach: Reach) -> None:
    async def requests() -> AsyncIterator[StringValue]:
        yield text("a")
        yield text_beyond_the_limit()

    known = from_rpc_error(await failure_of(reach.stub.Join(requests())))

    assert (known.code, known.reason) == (Code.RESOURCE_EXHAUSTED, "ERROR_REASON_MESSAGE_TOO_LARGE")


@requirement("rpc:limits")
async def test_response_beyond_the_limit_is_refused(reach: Reach) -> None:
    known = from_rpc_error(await failure_of(reach.stub.Unary(text("huge"))))

    assert (known.code, known.reason) == (Code.RESOURCE_EXHAUSTED, "ERROR_REASON_MESSAGE_TOO_LARGE")


@requirement("rpc:limits")
async def test_streamed_response_beyond_the_limit_comes_after_the_messages_before_it(reach: Reach) -> None:
    call = reach.stub.Split(text("a huge"))

    first = await call.read()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call.read()

    known = from_rpc_error(caught.value)
    assert first == text("a")
    assert (known.code, known.reason) == (Code.RESOURCE_EXHAUSTED, "ERROR_REASON_MESSAGE_TOO_LARGE")


@requirement("rpc:limits")
async def test_calls_beyond_the_limit_are_refused_and_those_after_them_are_not(opener: Opener) -> None:
    async with opener(max_calls=2) as reach, asyncio.timeout(LIMIT_S):
        stream = reach.stub.Split(text("wait"))
        await reach.echo.waiting.wait()
        reach.echo.waiting.clear()
        unary = reach.stub.Unary(text("wait"))
        await reach.echo.waiting.wait()

        known = from_rpc_error(await failure_of(reach.stub.Unary(text("a"))))
        reach.echo.release.set()
        ended = (await unary, [one async for one in stream])
        answer = await reach.stub.Unary(text("a"))

    assert isinstance(known, RemoteError)
    assert (known.code, known.reason) == (Code.RESOURCE_EXHAUSTED, "ERROR_REASON_OVERLOADED")
    assert known.metadata == {"queue": "calls", "limit": "2"}
    assert known.retry_after_s
    assert (ended, answer) == ((text("wait"), [text("wait")]), text("a"))


@requirement("rpc:errors")
async def test_error_in_a_stream_comes_after_the_messages_before_it(reach: Reach) -> None:
    call = reach.stub.Split(text("a b teapot c"))

    seen = [await call.read(), await call.read()]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call.read()

    assert [text("a"), text("b")] == seen
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION


@requirement("rpc:deadlines", "rpc:cancellation")
async def test_deadline_ends_the_call_and_cancels_the_handler(reach: Reach) -> None:
    error = await failure_of(reach.stub.Unary(text("wait"), timeout=0.1))

    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    async with asyncio.timeout(LIMIT_S):
        await reach.echo.cancelled.wait()


@requirement("rpc:deadlines")
async def test_handler_knows_the_time_that_is_left(reach: Reach) -> None:
    await reach.stub.Unary(text("hello"), timeout=7)

    left = reach.echo.contexts[0].time_remaining()
    assert 0 < left < 8


@requirement("rpc:cancellation")
async def test_cancelling_the_call_cancels_the_handler(reach: Reach) -> None:
    call = reach.stub.Unary(text("wait"))
    async with asyncio.timeout(LIMIT_S):
        await reach.echo.waiting.wait()
        assert call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await reach.echo.cancelled.wait()

    assert call.cancelled()
    assert await call.code() is grpc.StatusCode.CANCELLED
    assert not call.cancel()


@requirement("rpc:cancellation")
async def test_cancelling_the_task_that_awaits_cancels_the_handler(reach: Reach) -> None:
    async def caller() -> None:
        await reach.stub.Unary(text("wait"))

    async with asyncio.timeout(LIMIT_S):
        task = asyncio.create_task(caller())
        await reach.echo.waiting.wait()
        task.cancel()
        await reach.echo.cancelled.wait()
        with pytest.raises(asyncio.CancelledError):
            await task


@requirement("rpc:cancellation")
async def test_request_iterator_that_fails_cancels_the_call(reach: Reach) -> None:
    async def failing() -> AsyncIterator[StringValue]:
        yield text("a")
        raise LookupError

    with pytest.raises(asyncio.CancelledError):
        await reach.stub.Join(failing())


@requirement("rpc:transports")
async def test_done_callback_runs_with_the_status_known(reach: Reach) -> None:
    done: list[bool] = []
    call = reach.stub.Unary(text("hello"))
    call.add_done_callback(lambda ended: done.append(ended.done()))

    await call

    assert done == [True]
    assert await call.code() is grpc.StatusCode.OK
    assert await call.details() == ""


@requirement("rpc:validated")
async def test_bytes_that_are_no_message_are_the_callers_mistake(reach: Reach) -> None:
    error = await failure_of(reach.stub.Raw(b"\x0a\xff\xff"))

    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    known = from_rpc_error(error)
    assert known.reason == "ERROR_REASON_MALFORMED_MESSAGE"
    assert "google.protobuf.StringValue" in known.message
    assert set(known.metadata) == {"remedy"}


@requirement("rpc:validated")
async def test_invalid_field_is_refused_with_its_name(reach: Reach) -> None:
    error = await failure_of(reach.stub.Unary(text("a\0b")))

    known = from_rpc_error(error)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert known.reason == "ERROR_REASON_FIELD_INVALID_CHARACTER"
    assert [violation.field for violation in known.violations] == ["value"]


@requirement("rpc:validated")
async def test_invalid_message_in_a_stream_is_refused(reach: Reach) -> None:
    error = await failure_of(reach.stub.Join(several("a", "b\0")))

    assert from_rpc_error(error).reason == "ERROR_REASON_FIELD_INVALID_CHARACTER"


@requirement("rpc:callers")
async def test_caller_without_credentials_is_refused_before_its_request_is_checked(opener: Opener) -> None:
    async def refuse(metadata: Sequence[Metadatum]) -> Principal:
        del metadata
        raise Unauthenticated

    async with opener(refuse) as reach:
        error = await failure_of(reach.stub.Unary(text("a\0b")))

    assert error.code() is grpc.StatusCode.UNAUTHENTICATED


@requirement("rpc:callers")
async def test_principal_of_a_call_does_not_leak_to_its_client(opener: Opener) -> None:
    seen: list[Sequence[Metadatum]] = []

    async def known(metadata: Sequence[Metadatum]) -> Principal:
        seen.append(metadata)
        return Principal("ada")

    async with opener(known) as reach:
        await reach.stub.Unary(text("hello"), metadata=(("authorization", "Bearer k"),))

    assert ("authorization", "Bearer k") in [tuple(pair) for pair in seen[0]]
    assert current_principal() is None


@requirement("rpc:callers")
async def test_outgoing_calls_carry_the_credentials_of_the_incoming_one(reach: Reach) -> None:
    forward_from((("authorization", "Bearer k"), ("satchel-client", "cli"), ("other", "no")))

    sent = (await reach.stub.Unary(text("headers"))).value.split(",")

    assert {"authorization=Bearer k", "satchel-client=cli"} <= set(sent)
    assert "other=no" not in sent
