"""What a served process promises: health, reflection, draining, limits."""

import asyncio
import os
import signal
from pathlib import Path

import grpc
import pytest
from contract.runtime.echo import SERVICE, Echo, EchoStub
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from satchel.runtime.channels import open_channel
from satchel.runtime.errors import ShuttingDown
from satchel.runtime.server import GrpcServer, serve_forever
from satchel.runtime.settings import Secret
from satchel.runtime.status import from_rpc_error

SERVING = health_pb2.HealthCheckResponse.SERVING


def served(*addresses: str, grace_s: float = 0.2) -> tuple[GrpcServer, Echo]:
    server, echo = GrpcServer(addresses, grace_s=grace_s), Echo()
    server.register(echo)
    return server, echo


async def test_health_is_serving_for_each_service_and_overall() -> None:
    server, _ = served("127.0.0.1:0")

    async with server, open_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        found = [await stub.Check(health_pb2.HealthCheckRequest(service=name)) for name in ("", SERVICE)]

    assert [one.status for one in found] == [SERVING, SERVING]


async def test_reflection_lists_the_services() -> None:
    server, _ = served("127.0.0.1:0")

    async with server, open_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
        answers = [one async for one in call]

    names = {one.name for one in answers[0].list_services_response.service}
    assert {SERVICE, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"} == names


async def test_unix_socket_serves_beside_a_port(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/s"
    server, _ = served(address, "127.0.0.1:0")

    async with server, open_channel(address) as channel:
        assert (await EchoStub(channel).Unary(StringValue(value="hi"))).value == "hi"


async def test_address_in_use_is_an_error_at_the_start() -> None:
    first, _ = served("127.0.0.1:0")
    async with first:
        second, _ = served(f"127.0.0.1:{first.ports[0]}")

        with pytest.raises(RuntimeError):
            await second.start()


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


async def test_sigterm_drains_and_returns(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/s"
    async with asyncio.timeout(10), open_channel(address) as channel:
        serving = asyncio.create_task(serve_forever(Echo(), address, grace_s=0.2))
        stub = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest(), wait_for_ready=True)

        os.kill(os.getpid(), signal.SIGTERM)
        await serving

    assert answer.status == SERVING


async def test_unreachable_peer_is_unavailable_with_a_reason() -> None:
    async with open_channel("127.0.0.1:1", timeout_s=5) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await EchoStub(channel).Unary(StringValue(value="hi"))

    assert from_rpc_error(caught.value).reason == "ERROR_REASON_PEER_UNAVAILABLE"


async def test_unavailable_server_is_tried_three_times() -> None:
    seen: list[str] = []

    class Flaky(Echo):
        async def Unary(  # noqa: N802
            self, request: StringValue, context: grpc.aio.ServicerContext[StringValue, StringValue]
        ) -> StringValue:
            seen.append(request.value)
            if len(seen) < 3:
                await context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")
            return request

    server = GrpcServer(["127.0.0.1:0"], grace_s=0.2)
    server.register(Flaky())
    async with server, open_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        response = await EchoStub(channel).Unary(StringValue(value="hi"))

    assert (response.value, len(seen)) == ("hi", 3)


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
