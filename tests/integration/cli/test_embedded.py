"""All services in one process, with a gRPC server in front."""

from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from satchel.api.allocator.v1.allocator_service_pb2 import RecallRequest
from satchel.api.store.v1.memory_service_pb2 import StoreMemoryRequest
from satchel.cli.actions.checks import Verdict
from satchel.cli.actions.checks_database import check_database
from satchel.gateway.clients import Clients
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.embedded import AddressTaken, EmbeddedSettings, open_embedded
from satchel.runtime.channels import open_channel


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    found = DataFolder(tmp_path / "data")
    found.prepare()
    return found


async def test_clients_inside_and_outside_the_process_get_the_same_bytes(
    folder: DataFolder,
) -> None:
    async with (
        open_embedded(EmbeddedSettings.load(folder, environ={})) as embedded,
        open_channel(embedded.grpc_address) as channel,
    ):
        stored = await embedded.clients().memory.StoreMemory(
            StoreMemoryRequest(content="The key is under the mat.", wing="home")
        )
        question = RecallRequest(query="Where is the key?", min_revision=stored.revision)
        question.reference_time.CopyFrom(stored.created_at)

        inside = await embedded.clients().allocator.Recall(question)
        outside = await Clients.over(channel).allocator.Recall(question)

    assert "under the mat" in inside.context
    assert inside == outside


async def test_the_server_says_that_it_is_healthy(folder: DataFolder) -> None:
    async with (
        open_embedded(EmbeddedSettings.load(folder, environ={})) as embedded,
        grpc.aio.insecure_channel(embedded.grpc_address) as channel,
    ):
        answer = await health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(service="satchel.api.store.v1.MemoryService")
        )

    assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_an_address_that_is_taken_is_named(folder: DataFolder, tmp_path: Path) -> None:
    other = DataFolder(tmp_path / "other")
    other.prepare()
    async with open_embedded(EmbeddedSettings.load(folder, environ={})) as embedded:
        settings = EmbeddedSettings.load(other, grpc_address=embedded.grpc_address, environ={})
        with pytest.raises(AddressTaken, match=embedded.grpc_address):
            async with open_embedded(settings):
                pass


async def test_a_sound_database_passes_and_a_damaged_one_does_not(folder: DataFolder) -> None:
    async with open_embedded(EmbeddedSettings.load(folder, environ={})) as embedded:
        for number in range(50):
            memory = StoreMemoryRequest(content=f"Line {number}. " * 50, wing="w")
            await embedded.clients().memory.StoreMemory(memory)
    sound = await check_database(folder)

    damaged = bytearray(folder.database.read_bytes())
    damaged[8192 : len(damaged) // 2] = bytes(len(damaged) // 2 - 8192)
    folder.database.write_bytes(damaged)

    assert sound.verdict is Verdict.OK
    assert (await check_database(folder)).verdict is Verdict.FAIL
