"""What the clients do when a server is slow, silent or gone: against servers made for that."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, cast

import grpc
import pytest

from e2e.running import free_ports
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2_grpc as rpc
from satchel.client import AsyncSatchel, DeadlineExceeded, Satchel, SatchelError, Unavailable
from satchel.client.importing import WINDOW

Context = grpc.ServicerContext
WAIT_S = 30.0


class Partly:
    """Leaves out what a class of these does not have."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(rpc.MemoryServiceServicer, name).__get__(self)


@contextmanager
def serving(servicer: Partly) -> Iterator[str]:
    """Serve until the block ends; yield the address."""
    server = grpc.server(ThreadPoolExecutor(8))
    rpc.add_MemoryServiceServicer_to_server(cast("rpc.MemoryServiceServicer", servicer), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait(WAIT_S)


class Failing(Partly):
    """Fails every call with one code, until so many have failed; remembers the requests."""

    def __init__(self, code: grpc.StatusCode, times: int) -> None:
        self.requests: list[Any] = []
        self.metadata: list[dict[str, Any]] = []
        self._code = code
        self._times = times

    def StoreMemory(self, request: pb.StoreMemoryRequest, context: Context) -> pb.StoreMemoryResponse:  # noqa: N802
        """Fail, or answer."""
        self._fail(request, context)
        return pb.StoreMemoryResponse(id="stored")

    def GetMemory(self, request: pb.GetMemoryRequest, context: Context) -> pb.GetMemoryResponse:  # noqa: N802
        """Fail, or answer."""
        self._fail(request, context)
        return pb.GetMemoryResponse()

    def ImportMemories(  # noqa: N802
        self, request_iterator: Iterator[pb.ImportMemoriesRequest], context: Context
    ) -> Iterator[pb.ImportMemoriesResponse]:
        """Fail after the first record."""
        first = next(request_iterator)
        yield pb.ImportMemoriesResponse(sequence=first.sequence, stored=pb.StoreMemoryResponse(id="x"))
        self._fail(first, context)

    def _fail(self, request: object, context: Context) -> None:
        self.requests.append(request)
        self.metadata.append(dict(context.invocation_metadata()))
        if len(self.requests) <= self._times:
            context.abort(self._code, "Not now.")


def test_a_write_is_repeated_with_its_request_id_while_the_server_is_unavailable() -> None:
    servicer = Failing(grpc.StatusCode.UNAVAILABLE, 2)

    with serving(servicer) as address, Satchel(address) as satchel:
        assert satchel.remember("x").id == "stored"

    assert len(servicer.requests) == 3
    assert len({request.request_id for request in servicer.requests}) == 1
    assert servicer.requests[0].request_id


async def test_a_read_is_repeated_by_the_asynchronous_client_too() -> None:
    servicer = Failing(grpc.StatusCode.UNAVAILABLE, 2)

    with serving(servicer) as address:
        async with AsyncSatchel(address) as satchel:
            await satchel.get("i")

    assert len(servicer.requests) == 3


@pytest.mark.parametrize("code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.RESOURCE_EXHAUSTED])
def test_no_other_failure_is_repeated(code: grpc.StatusCode) -> None:
    servicer = Failing(code, 1)

    with serving(servicer) as address, Satchel(address) as satchel:
        with pytest.raises(SatchelError) as caught:
            satchel.remember("x")
        assert caught.value.code is code

    assert len(servicer.requests) == 1


def test_the_key_reaches_the_server() -> None:
    servicer = Failing(grpc.StatusCode.UNAVAILABLE, 0)

    with serving(servicer) as address, Satchel(address, api_key="k") as satchel:
        satchel.remember("x")

    assert servicer.metadata[0]["authorization"] == "Bearer k"


def test_where_nothing_listens_the_address_is_named() -> None:
    address = f"127.0.0.1:{free_ports(1)[0]}"

    with Satchel(address) as satchel, pytest.raises(Unavailable, match=address):
        satchel.remember("x")


class Silent(Partly):
    """Takes calls and answers none until it is released."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def GetMemory(self, request: pb.GetMemoryRequest, context: Context) -> pb.GetMemoryResponse:  # noqa: ARG002, N802
        """Wait."""
        self.released.wait(WAIT_S)
        return pb.GetMemoryResponse()


def test_a_call_ends_with_the_clients_timeout() -> None:
    servicer = Silent()

    with serving(servicer) as address, Satchel(address, timeout=0.3) as satchel:
        with pytest.raises(DeadlineExceeded, match="longer timeout"):
            satchel.get("i")
        servicer.released.set()


class Counted:
    """An endless-looking source that counts what was taken of it."""

    def __init__(self, size: int) -> None:
        self.taken = 0
        self._size = size

    def __iter__(self) -> Iterator[str]:
        while self.taken < self._size:
            self.taken += 1
            yield "x" * 1000


class Late(Partly):
    """Reads the records of an import, and answers none before it is released."""

    def __init__(self) -> None:
        self.full = threading.Event()
        self.released = threading.Event()

    def ImportMemories(  # noqa: N802
        self,
        request_iterator: Iterator[pb.ImportMemoriesRequest],
        context: Context,  # noqa: ARG002
    ) -> Iterator[pb.ImportMemoriesResponse]:
        """Collect a window of records, wait, and answer everything."""
        waiting = [next(request_iterator) for _ in range(WINDOW)]
        self.full.set()
        self.released.wait(WAIT_S)
        for request in waiting:
            yield _stored(request)
        for request in request_iterator:
            yield _stored(request)


def _stored(request: pb.ImportMemoriesRequest) -> pb.ImportMemoriesResponse:
    return pb.ImportMemoriesResponse(sequence=request.sequence, stored=pb.StoreMemoryResponse(id="x"))


def test_records_do_not_pile_up_before_a_slow_server() -> None:
    servicer, source = Late(), Counted(3 * WINDOW)

    with serving(servicer) as address, Satchel(address) as satchel, ThreadPoolExecutor(1) as pool:
        importing = pool.submit(satchel.import_, source)
        assert servicer.full.wait(WAIT_S)
        assert source.taken == WINDOW
        servicer.released.set()
        assert importing.result(WAIT_S).stored == 3 * WINDOW


async def test_records_do_not_pile_up_in_the_asynchronous_client() -> None:
    servicer, source = Late(), Counted(3 * WINDOW)

    with serving(servicer) as address:
        async with AsyncSatchel(address) as satchel, asyncio.TaskGroup() as group:
            importing = group.create_task(satchel.import_(source))
            assert await asyncio.to_thread(servicer.full.wait, WAIT_S)
            assert source.taken == WINDOW
            servicer.released.set()
        assert importing.result().stored == 3 * WINDOW


def test_an_import_that_loses_the_server_says_so() -> None:
    servicer, source = Failing(grpc.StatusCode.UNAVAILABLE, 1), Counted(10**9)

    with serving(servicer) as address, Satchel(address) as satchel, pytest.raises(Unavailable):
        satchel.import_(source)

    assert len(servicer.requests) == 1


async def test_an_asynchronous_import_that_loses_the_server_says_so() -> None:
    servicer, source = Failing(grpc.StatusCode.UNAVAILABLE, 1), Counted(10**9)

    with serving(servicer) as address:
        async with AsyncSatchel(address) as satchel:
            with pytest.raises(Unavailable):
                await satchel.import_(source)

    assert len(servicer.requests) == 1
