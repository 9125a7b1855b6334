"""An export from a store that no longer answers."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from integration.cli.programs import satchel

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2_grpc as pb_grpc
from satchel.api.types.v1.memory_pb2 import Memory


class SilentStore(pb_grpc.MemoryServiceServicer):
    """Sends one memory of an export and nothing more until the test is over."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def ExportMemories(  # noqa: N802
        self, _request: pb.ExportMemoriesRequest, _context: grpc.ServicerContext
    ) -> Iterator[pb.ExportMemoriesResponse]:
        yield pb.ExportMemoriesResponse(total_count=2, memories=[Memory(id="1", content="one")])
        self.over.wait(30)


@pytest.fixture
def address() -> Iterator[str]:
    store = SilentStore()  # type: ignore[abstract]
    server = grpc.server(ThreadPoolExecutor(2))
    pb_grpc.add_MemoryServiceServicer_to_server(store, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    store.over.set()
    server.stop(None).wait()


def test_it_ends_with_a_sentence_and_leaves_no_half_of_a_file(address: str, tmp_path: Path) -> None:
    output = tmp_path / "a.jsonl"

    done = satchel("--url", address, "export", "-o", str(output), "--stall-timeout", "0.3")

    assert done.code == 4
    assert "sent no memory" in done.err
    assert list(tmp_path.iterdir()) == []
