"""What the in-process transport leans on: the protocol between generated code and grpcio."""

import asyncio
import gc
import inspect
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import grpc
import pytest
from contract.runtime.echo import SERVICE, Echo, EchoStub
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio

from requirements import requirement
from satchel.api.store.v1 import change_service_pb2_grpc
from satchel.runtime.errors import ShuttingDown
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.inprocess.channel import InProcessTransport
from satchel.runtime.inprocess.context import InProcessContext
from satchel.runtime.status import from_rpc_error


class RecordingChannel:
    """Notes how generated code asks for a method."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, set[str]]] = []

    def unary_stream(self, method: str, **kwargs: object) -> None:
        self.asked.append(("unary_stream", method, set(kwargs)))


class RecordingServer:
    """Notes what generated code adds to a server."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.ServiceRpcHandler]) -> None:
        self.calls.append(f"generic {handlers[0].service_name()}")

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, object]) -> None:
        self.calls.append(f"registered {service} {sorted(handlers)}")


@requirement("rpc:transports")
def test_grpcio_is_the_version_that_the_seam_was_checked_with() -> None:
    assert version("grpcio").startswith("1.85.")


@requirement("rpc:transports")
def test_generated_stub_asks_its_channel_only_for_a_callable_by_path() -> None:
    channel: Any = RecordingChannel()

    change_service_pb2_grpc.ChangeServiceStub(channel)

    expected = {"request_serializer", "response_deserializer", "_registered_method"}
    assert [("unary_stream", "/satchel.api.store.v1.ChangeService/WatchChanges", expected)] == channel.asked


@requirement("rpc:transports")
def test_generated_registration_only_adds_handlers() -> None:
    server: Any = RecordingServer()

    health_pb2_grpc.add_HealthServicer_to_server(health_aio.HealthServicer(), server)

    names = "['Check', 'List', 'Watch']"
    assert ["generic grpc.health.v1.Health", f"registered grpc.health.v1.Health {names}"] == server.calls


@requirement("rpc:transports")
async def test_published_servicer_and_stub_work_over_the_inprocess_channel() -> None:
    server = InProcessServer()
    health_pb2_grpc.add_HealthServicer_to_server(health_aio.HealthServicer(), server)
    stub = health_pb2_grpc.HealthStub(InProcessChannel(server))

    response = await stub.Check(health_pb2.HealthCheckRequest())
    watch = stub.Watch(health_pb2.HealthCheckRequest())
    first = await watch.read()
    watch.cancel()

    assert health_pb2.HealthCheckResponse.SERVING == response.status == first.status


@requirement("rpc:transports", "rpc:errors")
async def test_method_that_a_servicer_does_not_implement_is_unimplemented() -> None:
    server = InProcessServer()
    health_pb2_grpc.add_HealthServicer_to_server(health_pb2_grpc.HealthServicer(), server)
    channel = InProcessChannel(server)

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())

    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@requirement("rpc:transports")
def test_context_offers_every_method_of_the_networked_one() -> None:
    wanted = {name for name in vars(grpc.aio.ServicerContext) if not name.startswith("_")}

    missing = {name for name in wanted if name not in vars(InProcessContext)}

    assert set() == missing


@requirement("rpc:transports")
def test_transport_offers_every_method_of_a_channel() -> None:
    assert not inspect.isabstract(InProcessTransport)
    assert not inspect.isabstract(InProcessChannel)


@requirement("server:drains")
async def test_stopped_server_is_unavailable_and_ends_what_runs() -> None:
    server, echo = InProcessServer(), Echo()
    echo.register(server)
    member: Any = InProcessChannel(server).unary_unary(f"/{SERVICE}/Unary")
    running = member(b"\x0a\x04wait")
    await echo.waiting.wait()

    await server.stop()

    for call in (running, member(b"")):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    await echo.cancelled.wait()


@requirement("rpc:cancellation")
async def test_stream_that_is_dropped_cancels_its_handler() -> None:
    # Only here: with grpcio 1.85 a networked call that is dropped stays alive until its channel closes.
    server, echo = InProcessServer(), Echo()
    echo.register(server)
    call = EchoStub(InProcessChannel(server)).Split(StringValue(value="a wait b"))
    first = await call.read()
    await echo.waiting.wait()

    del call
    gc.collect()

    async with asyncio.timeout(5):
        await echo.cancelled.wait()
    assert first.value == "a"


@requirement("rpc:limits")
async def test_writer_waits_while_the_reader_is_behind() -> None:
    server, echo = InProcessServer(), Echo()
    echo.register(server)
    call = EchoStub(InProcessChannel(server)).Split(StringValue(value="x " * 100 + "wait"))

    assert (await call.read()).value == "x"
    assert not echo.waiting.is_set()
    for _ in range(99):
        await call.read()

    async with asyncio.timeout(5):
        await echo.waiting.wait()
    call.cancel()


@requirement("server:drains")
async def test_endless_stream_ends_as_shutting_down_while_other_calls_may_end() -> None:
    server, echo = InProcessServer(), Echo()
    echo.register(server)
    stub = EchoStub(InProcessChannel(server))
    endless = stub.Split(StringValue(value="wait"))
    await echo.waiting.wait()
    echo.waiting.clear()
    unary = stub.Unary(StringValue(value="wait"))
    await echo.waiting.wait()

    async with asyncio.timeout(5):
        stopping = asyncio.create_task(server.stop(60))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await endless.read()
        echo.release.set()
        answer = await unary
        await stopping

    assert from_rpc_error(caught.value).reason == ShuttingDown.reason
    assert answer.value == "wait"
