"""What the chain does beyond what a client sees (see tests/contract/runtime for that)."""

import asyncio
import base64
import logging
from collections.abc import Callable, Iterable

import grpc
import pytest
from contract.runtime.echo import SERVICE, Echo, EchoStub
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio
from prometheus_client import REGISTRY

from satchel.api.options.v1 import options_pb2
from satchel.runtime.deadlines import remaining_s
from satchel.runtime.errors import InvalidRequest, Violation
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import Principal, current_principal, default_chain
from satchel.runtime.propagation import SPANS, TRACE_DEMAND
from satchel.runtime.status import DETAILS_KEY, from_rpc_error
from satchel.runtime.telemetry import collect_trace, span
from satchel.runtime.trace_records import decode_spans

Context = grpc.aio.ServicerContext[StringValue, StringValue]


class Seeing(Echo):
    """Notes what the chain provides."""

    def __init__(self) -> None:
        super().__init__()
        self.left: list[float] = []
        self.principals: list[Principal | None] = []

    async def Unary(self, request: StringValue, context: Context) -> StringValue:  # noqa: N802
        self.left.append(remaining_s(-1))
        self.principals.append(current_principal())
        return await super().Unary(request, context)


def started(echo: Echo, unary_timeout_s: float = 60) -> EchoStub:
    server = InProcessServer(default_chain(unary_timeout_s=unary_timeout_s))
    echo.register(server)
    return EchoStub(InProcessChannel(server))


def counted(code: str) -> float:
    labels = {"grpc_service": SERVICE, "grpc_method": "Unary", "grpc_code": code}
    return REGISTRY.get_sample_value("grpc_server_handled_total", labels) or 0


async def test_one_access_line_per_call_with_method_code_and_time(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    stub = started(Echo())

    await stub.Unary(StringValue(value="private"))
    with pytest.raises(grpc.aio.AioRpcError):
        await stub.Unary(StringValue(value="teapot"))

    lines = [vars(record) for record in caplog.records if record.name == "satchel.access"]
    assert [line["code"] for line in lines] == ["OK", "FAILED_PRECONDITION"]
    assert {f"{SERVICE}/Unary"} == {line["rpc"] for line in lines}
    assert all(line["ms"] >= 0 for line in lines)
    assert "private" not in caplog.text


async def test_health_checks_are_neither_logged_nor_traced(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    server = InProcessServer()
    health_pb2_grpc.add_HealthServicer_to_server(health_aio.HealthServicer(), server)

    with collect_trace() as trace:
        await health_pb2_grpc.HealthStub(InProcessChannel(server)).Check(health_pb2.HealthCheckRequest())

    assert [record for record in caplog.records if record.name == "satchel.access"] == []
    assert trace.spans == ()


async def test_calls_are_counted_by_code() -> None:
    before = counted("OK"), counted("INVALID_ARGUMENT")
    stub = started(Echo())

    await stub.Unary(StringValue(value="hi"))
    with pytest.raises(grpc.aio.AioRpcError):
        await stub.Unary(StringValue(value="\0"))

    assert (before[0] + 1, before[1] + 1) == (counted("OK"), counted("INVALID_ARGUMENT"))
    labels = {"grpc_service": SERVICE, "grpc_method": "Unary"}
    assert REGISTRY.get_sample_value("grpc_server_active", labels) == 0


async def test_caller_without_a_key_is_the_local_owner() -> None:
    echo = Seeing()

    await started(echo).Unary(StringValue(value="hi"))

    assert [Principal("local", options_pb2.ACCESS_ADMIN)] == echo.principals


async def test_handler_may_use_what_is_left_of_the_clients_time() -> None:
    echo = Seeing()

    await started(echo).Unary(StringValue(value="hi"), timeout=10)

    assert 9 < echo.left[0] < 10


async def test_call_without_a_deadline_gets_the_servers() -> None:
    server = InProcessServer(default_chain(unary_timeout_s=0.05))
    echo = Echo()
    echo.register(server)
    stub = EchoStub(InProcessChannel(server)._inner)  # the bare transport: the client sets no deadline

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.Unary(StringValue(value="wait"))

    assert from_rpc_error(caught.value).reason == "ERROR_REASON_DEADLINE_EXCEEDED"
    assert echo.cancelled.is_set()


class Stubborn(Echo):
    """Does something else than to stop when it is cancelled."""

    def __init__(self, answer: Callable[[], StringValue]) -> None:
        super().__init__()
        self._answer = answer

    async def Unary(self, request: StringValue, context: Context) -> StringValue:  # noqa: N802
        try:
            return await super().Unary(request, context)
        except asyncio.CancelledError:
            return self._answer()


async def test_error_of_work_that_was_cancelled_for_time_is_the_deadline() -> None:
    def fail() -> StringValue:
        raise LookupError("the pool is closed")

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await started(Stubborn(fail)).Unary(StringValue(value="wait"), timeout=0.5)

    assert DETAILS_KEY in dict(caught.value.trailing_metadata())
    assert from_rpc_error(caught.value).reason == "ERROR_REASON_DEADLINE_EXCEEDED"


async def test_answer_that_is_there_in_spite_of_the_deadline_counts() -> None:
    stub = started(Stubborn(lambda: StringValue(value="just in time")))

    assert (await stub.Unary(StringValue(value="wait"), timeout=0.5)).value == "just in time"


async def test_client_that_gives_up_at_its_deadline_has_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    calls: list[grpc.aio.UnaryUnaryCall[StringValue, StringValue]] = []

    def give_up() -> StringValue:
        calls[0].cancel()
        raise asyncio.CancelledError

    calls.append(started(Stubborn(give_up)).Unary(StringValue(value="wait"), timeout=0.5))
    with pytest.raises(asyncio.CancelledError):
        await calls[0]

    lines = [vars(record) for record in caplog.records if record.name == "satchel.access"]
    assert [line["code"] for line in lines] == ["CANCELLED"]


async def test_timeout_inside_a_handler_is_told_as_such() -> None:
    class Late(Echo):
        async def Unary(self, request: StringValue, context: Context) -> StringValue:  # noqa: ARG002, N802
            raise TimeoutError

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await started(Late()).Unary(StringValue(value="hi"))

    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_error_of_a_peer_passes_through_the_service_that_called_it() -> None:
    inner = started(Echo())

    class Front(Echo):
        async def Unary(self, request: StringValue, context: Context) -> StringValue:  # noqa: ARG002, N802
            answer: StringValue = await inner.Unary(request)
            return answer

    with collect_trace() as trace, pytest.raises(grpc.aio.AioRpcError) as caught:
        await started(Front()).Unary(StringValue(value="teapot"))

    known = from_rpc_error(caught.value)
    assert (known.reason, known.metadata) == ("ERROR_REASON_TEAPOT", {"colour": "brown"})
    assert [one.failure for one in trace.spans] == ["FAILED_PRECONDITION"] * 4
    assert len({one.span_id for one in trace.spans}) == 4


class Verbose(Echo):
    """Does many things, and fails at length if asked to."""

    async def Unary(self, request: StringValue, context: Context) -> StringValue:  # noqa: N802
        for number in range(200):
            with span(f"satchel.test.step_{number}"):
                pass
        if request.value == "fail":
            raise InvalidRequest([Violation(f"field_{n}", "ERROR_REASON_X", "no " * 20) for n in range(60)])
        return await super().Unary(request, context)


def size_on_wire(metadata: Iterable[tuple[str, str | bytes]]) -> int:
    """Count as HTTP/2 does, with bytes in base64."""
    return sum(
        32 + len(key) + len(base64.b64encode(value) if isinstance(value, bytes) else value)
        for key, value in metadata
    )


@pytest.mark.parametrize(("text", "least"), [("hi", 30), ("fail", 5)])
async def test_returned_spans_leave_metadata_that_every_client_accepts(text: str, least: int) -> None:
    call = started(Verbose()).Unary(StringValue(value=text), metadata=((TRACE_DEMAND, "1"),))

    trailing = await call.trailing_metadata()

    spans = decode_spans(next(value for key, value in trailing if key == SPANS))
    assert size_on_wire([*trailing, ("grpc-message", await call.details()), ("grpc-status", "3")]) < 8192
    assert len(spans) >= least
    assert len(spans) + spans.dropped == 201
