"""A server answers shortly before its client stops to wait, whatever the kind of call and the transport."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any

import grpc
import pytest
from contract.runtime.transports import Opener, Reach
from google.protobuf.wrappers_pb2 import StringValue

from requirements import requirement
from satchel.runtime.errors import RemoteError
from satchel.runtime.propagation import SPANS
from satchel.runtime.status import DETAILS_KEY, from_rpc_error
from satchel.runtime.telemetry import collect_trace
from satchel.runtime.trace_records import decode_spans

# Long enough for the server's margin of 100 ms to be ample on a busy machine.
DEADLINE_S = 2.0
LIMIT_S = 10
METHOD = "satchel.test.EchoService/Unary"


def text(value: str) -> StringValue:
    return StringValue(value=value)


async def ending_of(call: Awaitable[Any]) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value


@requirement("rpc:deadlines")
async def test_every_kind_of_call_ends_with_a_reason_before_its_deadline(reach: Reach) -> None:
    stub = reach.stub
    responses, both = stub.Split(text("a wait"), timeout=DEADLINE_S), stub.Chat(timeout=DEADLINE_S)
    requests = stub.Join(timeout=DEADLINE_S)
    await requests.write(text("a"))
    await both.write(text("b"))
    seen = [await responses.read(), await both.read()]
    waiting = [stub.Unary(text("wait"), timeout=DEADLINE_S), responses.read(), requests, both.read()]

    async with asyncio.timeout(LIMIT_S):
        errors = await asyncio.gather(*map(ending_of, waiting))

    known = [from_rpc_error(error) for error in errors]
    assert [type(error) for error in known] == [RemoteError] * 4  # it came with its reason
    assert {error.reason for error in known} == {"ERROR_REASON_DEADLINE_EXCEEDED"}
    assert {error.code() for error in errors} == {grpc.StatusCode.DEADLINE_EXCEEDED}
    assert [text("a"), text("B")] == seen
    assert reach.echo.cancelled.is_set()


@requirement("rpc:deadlines", "trace:failures")
async def test_access_log_and_spans_show_the_deadline_once(
    reach: Reach, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    with collect_trace() as trace:
        error = await ending_of(reach.stub.Unary(text("wait"), timeout=DEADLINE_S))

    lines = [vars(record)["code"] for record in caplog.records if record.name == "satchel.access"]
    assert lines == ["DEADLINE_EXCEEDED"]
    assert sorted((one.kind, one.failure) for one in trace.spans) == [
        ("client", "DEADLINE_EXCEEDED"),
        ("server", "DEADLINE_EXCEEDED"),
    ]
    returned = decode_spans(dict(error.trailing_metadata())[SPANS])
    assert [(one.name, one.failure) for one in returned] == [(METHOD, "DEADLINE_EXCEEDED")]


@requirement("rpc:deadlines")
async def test_deadline_that_is_too_short_for_an_answer_is_the_transports(reach: Reach) -> None:
    error = await ending_of(reach.stub.Unary(text("wait"), timeout=0.001))

    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert DETAILS_KEY not in dict(error.trailing_metadata() or ())


@requirement("rpc:deadlines", "rpc:cancellation")
async def test_client_that_does_not_read_does_not_keep_the_work_alive(
    opener: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    # More than the buffers of either transport hold.
    large = text(" ".join(["x" * 1_000_000] * 20))

    async with opener() as reach, asyncio.timeout(LIMIT_S):
        call = reach.stub.Split(large, timeout=0.5)
        assert await call.code() is grpc.StatusCode.DEADLINE_EXCEEDED

    codes = [vars(record)["code"] for record in caplog.records if record.name == "satchel.access"]
    assert codes == ["DEADLINE_EXCEEDED"]
