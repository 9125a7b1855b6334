"""A quiet connection stays open for a client that pings it, and is closed when nobody is there any more."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress

import grpc
import pytest
from contract.runtime.echo import Echo, EchoStub
from google.protobuf.wrappers_pb2 import StringValue

from requirements import requirement
from satchel.runtime.server import GrpcServer, Pings, server_options

LIMIT_S = 20
# gRPC pings every second at most, and a third ping too many ends a connection.
PINGING = (("grpc.keepalive_time_ms", 1_000), ("grpc.http2.max_pings_without_data", 0))
WAIT = StringValue(value="wait")


@asynccontextmanager
async def served(pings: Pings) -> AsyncIterator[tuple[Echo, int]]:
    server, echo = GrpcServer(["127.0.0.1:0"], grace_s=0.2, pings=pings), Echo()
    server.register(echo)
    async with server:
        yield echo, server.ports[0]


@requirement("server:pings")
async def test_a_client_that_pings_no_faster_than_it_may_keeps_its_quiet_call() -> None:
    async with (
        asyncio.timeout(LIMIT_S),
        served(Pings(least_ms=500)) as (echo, port),
        served(Pings()) as (_, strict_port),
        grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=PINGING) as channel,
        grpc.aio.insecure_channel(f"127.0.0.1:{strict_port}", options=PINGING) as hasty,
    ):
        quiet = EchoStub(channel).Unary(WAIT)
        # As many pings are too many for a server that wants them ten times as far apart.
        with pytest.raises(grpc.aio.AioRpcError, match="Too many pings"):
            await EchoStub(hasty).Unary(WAIT)
        assert not quiet.done()
        echo.release.set()

        assert await quiet == WAIT


@requirement("server:pings")
def test_pings_every_ten_seconds_are_welcome_with_calls_and_without() -> None:
    options = dict(server_options(Pings()))

    assert options["grpc.http2.min_ping_interval_without_data_ms"] <= 10_000
    assert options["grpc.keepalive_permit_without_calls"] == 1


class Line:
    """Forwards bytes between a client and a server; once it is cut nothing passes, and nothing closes."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.cut = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        with closing(far_writer), closing(writer):
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass(reader, far_writer))
                group.create_task(self._pass(far_reader, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                if not self.cut.is_set():
                    writer.write(data)
                    await writer.drain()


@requirement("server:pings")
async def test_the_work_for_a_client_that_vanished_without_a_word_ends() -> None:
    async with asyncio.timeout(LIMIT_S), served(Pings(every_ms=1_000, answer_ms=200)) as (echo, port):
        line = Line(port)
        relay = await asyncio.start_server(line, "127.0.0.1", 0)
        target = f"127.0.0.1:{relay.sockets[0].getsockname()[1]}"
        async with relay, grpc.aio.insecure_channel(target) as channel:
            call = EchoStub(channel).Unary(WAIT)
            await echo.waiting.wait()
            before = echo.cancelled.is_set()
            line.cut.set()

            await echo.cancelled.wait()
            is_client_told = call.done()
            call.cancel()

    assert (before, is_client_told) == (False, False)
