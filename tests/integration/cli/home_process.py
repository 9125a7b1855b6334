"""A process for the tests of `Home`: it stores lines through whoever owns the folder.

Arguments: the folder and a prefix. Each line on stdin is an order, each line on stdout its JSON answer:
``settle``, ``own``, ``store N`` (stores N memories, one call each), ``quit``.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2_grpc as pb_grpc
from satchel.gateway.data_folder import DataFolder, FolderBusy
from satchel.gateway.home import Home
from satchel.runtime.channels import open_channel


class LineStore(pb_grpc.MemoryServiceServicer):
    """Keeps memories as lines of a file, the same request id once, each on disk before its answer."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = set(path.read_text().split()) if path.exists() else set()

    async def StoreMemory(self, request: pb.StoreMemoryRequest, _context: object) -> pb.StoreMemoryResponse:  # noqa: N802
        duplicate = request.content in self._seen
        if not duplicate:
            self._seen.add(request.content)
            with self._path.open("a") as file:
                file.write(request.content + "\n")
                file.flush()
                os.fsync(file.fileno())
        return pb.StoreMemoryResponse(id=request.request_id, duplicate=duplicate)


@dataclass
class RunningLines:
    channel: grpc.aio.Channel
    grpc_address: str
    local_address: str = ""
    http_address: str = ""


@asynccontextmanager
async def start(folder: DataFolder) -> AsyncIterator[RunningLines]:
    assert folder.is_owned()
    server = grpc.aio.server()
    pb_grpc.add_MemoryServiceServicer_to_server(LineStore(folder.path / "lines.txt"), server)  # type: ignore[abstract]
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{port}") as channel:
        yield RunningLines(channel, f"127.0.0.1:{port}")
    await server.stop(1)


async def obey(home: Home, prefix: str, order: list[str]) -> object:
    if order[0] == "settle":
        link = await home.settle()
        return {"own": link.own, "owner": link.owner.pid}
    if order[0] == "own":
        try:
            return {"own": (await home.own()).own}
        except FolderBusy as error:
            return {"busy": error.message}
    stub = pb_grpc.MemoryServiceStub(home.channel)
    for number in range(int(order[1])):
        await stub.StoreMemory(pb.StoreMemoryRequest(content=f"{prefix}-{number}"))
    link = await home.settle()
    return {"own": link.own, "owner": link.owner.pid}


async def main(folder: str, prefix: str, role: str = "mcp") -> None:
    async with Home(Path(folder), start=start, connect=open_channel, role=role, wait_s=20) as home:
        while line := await asyncio.to_thread(sys.stdin.readline):
            if line.strip() == "quit":
                break
            answer = await obey(home, prefix, line.split())
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
