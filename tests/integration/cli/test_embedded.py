"""All services in one process, with a gRPC server in front."""

import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote

import grpc
import pytest
import pytest_asyncio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from satchel.api.allocator.v1.allocator_service_pb2 import RecallRequest
from satchel.api.store.v1.memory_service_pb2 import StoreMemoryRequest
from satchel.cli.actions.checks import Verdict
from satchel.cli.actions.checks_database import check_database
from satchel.cli.connect import start_embedded
from satchel.gateway.clients import Clients
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.embedded import AddressTaken, EmbeddedSettings, open_embedded
from satchel.gateway.home_services import Running
from satchel.runtime.channels import open_channel
from satchel.store.factory import open_store
from satchel.store.settings import StoreSettings

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    found = DataFolder(tmp_path_factory.mktemp("embedded") / "data #1")
    found.prepare()
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(folder: DataFolder) -> AsyncIterator[Running]:
    """What an agent or a command runs when it becomes the owner."""
    async with start_embedded(folder) as found:
        yield found


async def test_clients_inside_and_outside_the_process_get_the_same_bytes(running: Running) -> None:
    inside = Clients.over(running.channel)
    async with open_channel(running.grpc_address) as channel:
        stored = await inside.memory.StoreMemory(
            StoreMemoryRequest(content="The key is under the mat.", wing="home")
        )
        question = RecallRequest(query="Where is the key?", min_revision=stored.revision)
        question.reference_time.CopyFrom(stored.created_at)

        here = await inside.allocator.Recall(question)
        there = await Clients.over(channel).allocator.Recall(question)

    assert "under the mat" in here.context
    assert here == there


async def test_an_owner_that_is_no_server_listens_where_only_its_user_can_call(
    running: Running, folder: DataFolder
) -> None:
    socket = Path(unquote(running.grpc_address.removeprefix("unix:")))

    assert stat.S_ISSOCK(os.lstat(socket).st_mode)
    assert socket.parent == folder.path
    assert stat.S_IMODE(os.lstat(folder.path).st_mode) == 0o700


async def test_the_server_says_that_it_is_healthy(running: Running) -> None:
    async with grpc.aio.insecure_channel(running.grpc_address) as channel:
        answer = await health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(service="satchel.api.store.v1.MemoryService")
        )

    assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_a_folder_with_a_long_path_is_served_on_a_loopback_port_that_is_then_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = DataFolder(tmp_path / ("long" * 25))
    folder.prepare()

    async with start_embedded(folder) as running:
        address = running.grpc_address
        await _refuse_a_second_server(tmp_path / "other", address)

    assert address.startswith("127.0.0.1:")
    assert "owner.listens_on_loopback" in caplog.messages


async def _refuse_a_second_server(place: Path, address: str) -> None:
    other = DataFolder(place)
    other.prepare()
    settings = EmbeddedSettings.load(other, grpc_address=address, environ={})
    with pytest.raises(AddressTaken, match=address):
        async with open_embedded(settings):
            pass


async def test_a_sound_database_passes_and_a_damaged_one_does_not(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    async with open_store(StoreSettings(url=f"sqlite:{folder.database}"), now=1):
        pass
    sound = await check_database(folder)

    damaged = bytearray(folder.database.read_bytes())
    damaged[8192 : len(damaged) // 2] = bytes(len(damaged) // 2 - 8192)
    folder.database.write_bytes(damaged)

    assert sound.verdict is Verdict.OK
    assert (await check_database(folder)).verdict is Verdict.FAIL
