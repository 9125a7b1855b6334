"""What a served process promises: health, reflection, draining, limits."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from contract.runtime.echo import SERVICE, Echo, EchoStub
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.store.v1 import memory_service_pb2_grpc as memory_rpc
from satchel.runtime.channels import open_channel
from satchel.runtime.errors import Code, RemoteError, ShuttingDown
from satchel.runtime.interceptors import default_chain
from satchel.runtime.server import GrpcServer, serve_forever
from satchel.runtime.settings import Secret
from satchel.runtime.status import from_rpc_error

SERVING = health_pb2.HealthCheckResponse.SERVING


def served(*addresses: str, grace_s: float = 0.2) -> tuple[GrpcServer, Echo]:
    server, echo = GrpcServer(addresses, grace_s=grace_s), Echo()
    server.register(echo)
    return server, echo


@requirement("server:health")
async def test_health_is_serving_for_each_service_and_overall() -> None:
    server, _ = served("127.0.0.1:0")

    async with server, open_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        found = [await stub.Check(health_pb2.HealthCheckRequest(service=name)) for name in ("", SERVICE)]

    assert [one.status for one in found] == [SERVING, SERVING]


@requirement("server:reflection")
async def test_reflection_lists_the_services() -> None:
    server, _ = served("127.0.0.1:0")

    async with server, open_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
        answers = [one async for one in call]

    names = {one.name for one in answers[0].list_services_response.service}
    assert {SERVICE, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"} == names


@requirement("server:addresses")
async def test_unix_socket_serves_beside_a_port(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/s"
    server, _ = served(address, "127.0.0.1:0")

    async with server, open_channel(address) as channel:
        assert (await EchoStub(channel).Unary(StringValue(value="hi"))).value == "hi"


@requirement("server:addresses")
async def test_address_in_use_is_an_error_at_the_start() -> None:
    first, _ = served("127.0.0.1:0")
    async with first:
        second, _ = served(f"127.0.0.1:{first.ports[0]}")

        with pytest.raises(RuntimeError):
            await second.start()


@requirement("server:drains")
async def test_call_under_way_may_end_while_the_server_drains() -> None:
    server, echo = served("127.0.0.1:0", grace_s=5)
    await server.start()
    async with open_channel(f"127.0.0.1:{server.ports[0]}") as channel, asyncio.timeout(10):
        call = EchoStub(channel).Unary(StringValue(value="wait"))
        await echo.waiting.wait()
        stopping = asyncio.create_task(server.stop())
        echo.release.set()

        assert (await call).value == "wait"
        await stopping


@requirement("server:drains")
async def test_endless_stream_ends_as_shutting_down_when_the_server_drains() -> None:
    server, echo = served("127.0.0.1:0", grace_s=60)
    await server.start()
    async with open_channel(f"127.0.0.1:{server.ports[0]}") as channel, asyncio.timeout(10):
        call = EchoStub(channel).Split(StringValue(value="a wait"))
        await call.read()
        await echo.waiting.wait()

        await server.stop()

        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
    assert from_rpc_error(caught.value).reason == ShuttingDown.reason


@pytest.fixture
def own_signals() -> Iterator[None]:
    """Give the handlers of signals back, which a process that leaves keeps to its end."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@requirement("server:drains")
@pytest.mark.usefixtures("own_signals")
async def test_sigterm_drains_and_returns(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/s"
    async with asyncio.timeout(10), open_channel(address) as channel:
        serving = asyncio.create_task(serve_forever(Echo(), address, grace_s=0.2))
        stub = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest(), wait_for_ready=True)

        os.kill(os.getpid(), signal.SIGTERM)
        await serving

    assert answer.status == SERVING


@requirement("server:drains")
@pytest.mark.usefixtures("own_signals")
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
async def test_a_second_signal_does_not_cut_off_what_is_being_finished(
    tmp_path: Path, second: signal.Signals
) -> None:
    address, echo = f"unix:{tmp_path}/s", Echo()
    async with asyncio.timeout(10), open_channel(address) as channel:
        serving = asyncio.create_task(serve_forever(echo, address, grace_s=5))
        stub = health_pb2_grpc.HealthStub(channel)
        states = stub.Watch(health_pb2.HealthCheckRequest(), wait_for_ready=True)
        begun = await states.read()
        call = EchoStub(channel).Unary(StringValue(value="wait"))
        await echo.waiting.wait()

        os.kill(os.getpid(), signal.SIGTERM)
        left = await states.read()
        os.kill(os.getpid(), second)
        echo.release.set()
        answer = await call
        await serving

    assert [begun.status, left.status] == [SERVING, health_pb2.HealthCheckResponse.NOT_SERVING]
    assert answer.value == "wait"


@requirement("client:peer-unavailable")
async def test_unreachable_peer_is_unavailable_with_a_reason() -> None:
    async with open_channel("127.0.0.1:1", timeout_s=5) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await EchoStub(channel).Unary(StringValue(value="hi"))

    known = from_rpc_error(caught.value)
    assert known.reason == "ERROR_REASON_PEER_UNAVAILABLE"
    assert known.metadata == {"peer": SERVICE}


class Flaky(memory_rpc.MemoryServiceServicer):
    """Is unavailable twice."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def register(self, server: grpc.aio.Server) -> None:
        memory_rpc.add_MemoryServiceServicer_to_server(self, server)

    async def GetStoreStatus(self, request: Any, context: Any) -> Any:  # noqa: ANN401, ARG002, N802
        await self.fail("read", context)
        return memory_pb.GetStoreStatusResponse()

    async def DeleteMemory(self, request: Any, context: Any) -> Any:  # noqa: ANN401, ARG002, N802
        await self.fail("delete", context)
        return memory_pb.DeleteMemoryResponse()

    async def fail(self, name: str, context: Any) -> None:  # noqa: ANN401
        self.seen.append(name)
        if len(self.seen) < 3:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")


@requirement("rpc:retries")
async def test_idempotent_call_of_an_unavailable_server_is_tried_three_times() -> None:
    server, flaky = GrpcServer(["127.0.0.1:0"], grace_s=0.2), Flaky()  # type: ignore[abstract]  # only what is called here
    server.register(flaky)

    async with server, open_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        await memory_rpc.MemoryServiceStub(channel).GetStoreStatus(memory_pb.GetStoreStatusRequest())

    assert flaky.seen == ["read"] * 3


@requirement("rpc:retries")
async def test_call_whose_repeat_would_do_more_is_made_once() -> None:
    server, flaky = GrpcServer(["127.0.0.1:0"], grace_s=0.2), Flaky()  # type: ignore[abstract]  # only what is called here
    server.register(flaky)
    request = memory_pb.DeleteMemoryRequest(id="0190a6b2-8f1e-7c3d-9a4b-5e6f70818293")

    async with server, open_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await memory_rpc.MemoryServiceStub(channel).DeleteMemory(request)

    assert from_rpc_error(caught.value).metadata == {"peer": "store"}
    assert flaky.seen == ["delete"]


class Behind(Flaky):
    """Has waited for a revision, in vain."""

    async def fail(self, name: str, context: Any) -> None:  # noqa: ANN401
        del context
        self.seen.append(name)
        raise RemoteError(
            "Not yet.", code=Code.UNAVAILABLE, reason="ERROR_REASON_REVISION_NOT_REACHED", retry_after_s=0.5
        )


@requirement("rpc:retries", "recall:revision")
async def test_a_revision_that_was_waited_for_is_told_at_once_and_not_waited_for_again() -> None:
    server, behind = GrpcServer(["127.0.0.1:0"], grace_s=0.2), Behind()  # type: ignore[abstract]  # only what is called here
    server.register(behind)

    async with server, open_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await memory_rpc.MemoryServiceStub(channel).GetStoreStatus(memory_pb.GetStoreStatusRequest())

    error = from_rpc_error(caught.value)
    assert (error.code, error.reason) == (Code.UNAVAILABLE, "ERROR_REASON_REVISION_NOT_REACHED")
    assert error.retry_after_s == 0.5
    assert behind.seen == ["read"]


@requirement("rpc:limits")
async def test_flood_that_grpc_itself_refuses_still_has_a_reason() -> None:
    chain = default_chain()  # it lets far more calls run than gRPC takes in here
    server = GrpcServer(["127.0.0.1:0"], interceptors=chain, grace_s=0.2, max_concurrent_calls=1)
    echo = Echo()
    server.register(echo)
    async with server, open_channel(f"127.0.0.1:{server.ports[0]}") as channel, asyncio.timeout(10):
        stub = EchoStub(channel)
        running = []
        for _ in range(2):
            running.append(stub.Unary(StringValue(value="wait")))
            await echo.waiting.wait()
            echo.waiting.clear()

        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Unary(StringValue(value="hi"))
        echo.release.set()
        answers = [await call for call in running]

    known = from_rpc_error(caught.value)
    assert (known.reason, known.retry_after_s) == ("ERROR_REASON_OVERLOADED", 1.0)
    assert len(answers) == len(echo.contexts) == 2


@requirement("rpc:callers")
async def test_channel_sends_its_key_unless_the_caller_has_one() -> None:
    server, _ = served("127.0.0.1:0")
    target = Secret("sk_test")

    async with (
        server,
        open_channel(f"127.0.0.1:{server.ports[0]}", api_key=target) as channel,
    ):
        stub = EchoStub(channel)
        own = await stub.Unary(StringValue(value="headers"))
        other = await stub.Unary(StringValue(value="headers"), metadata=(("authorization", "Bearer x"),))

    assert "authorization=Bearer sk_test" in own.value
    assert "authorization=Bearer x" in other.value
    assert "sk_test" not in other.value
