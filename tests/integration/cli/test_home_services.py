"""What becomes of a data folder and its processes when the owner's services fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from satchel.cli.actions.up import wait_until_stopped
from satchel.cli.exits import Exit
from satchel.cli.failures import report
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.home import Home
from satchel.gateway.home_services import ServicesEnded
from satchel.runtime.channels import open_channel

pytestmark = pytest.mark.timeout(20)


@dataclass
class Services:
    """Services that fail when they are told to; counts how often they were started."""

    fail: asyncio.Event
    starts: int = 0

    @asynccontextmanager
    async def start(self, folder: DataFolder) -> AsyncIterator["Opened"]:
        assert folder.is_owned()
        self.starts += 1
        async with open_channel("127.0.0.1:1") as channel, asyncio.TaskGroup() as group:
            work = group.create_task(self._work())
            yield Opened(channel)
            work.cancel()

    async def _work(self) -> None:
        await self.fail.wait()
        self.fail.clear()
        raise OSError("the disk is full")


@dataclass
class Opened:
    channel: grpc.aio.Channel
    grpc_address: str = "127.0.0.1:1"
    local_address: str = ""
    http_address: str = ""


@pytest.fixture
def services() -> Services:
    return Services(asyncio.Event())


@asynccontextmanager
async def home_of(folder: Path, services: Services, role: str = "mcp") -> AsyncIterator[Home]:
    async with Home(folder, start=services.start, connect=open_channel, role=role, wait_s=5) as home:
        yield home


async def test_a_server_whose_services_fail_ends_with_the_cause(
    tmp_path: Path, services: Services, capsys: pytest.CaptureFixture[str]
) -> None:
    async with home_of(tmp_path, services, "up") as home:
        await home.own()
        services.fail.set()
        with pytest.raises(ServicesEnded) as caught:
            await wait_until_stopped(home, asyncio.Event())

    assert report(caught.value, as_json=False) == Exit.FAILED
    assert "OSError: the disk is full" in capsys.readouterr().err
    assert not DataFolder(tmp_path).is_owned()


async def test_failed_services_of_an_agent_are_started_again_by_its_next_call(
    tmp_path: Path, services: Services
) -> None:
    async with home_of(tmp_path, services) as home:
        first = await home.settle()
        services.fail.set()
        assert isinstance(await home.ended(), ServicesEnded)
        assert DataFolder(tmp_path).owner() is None

        second = await home.settle()

        assert (first.own, second.own, services.starts) == (True, True, 2)
        assert second is not first
        assert DataFolder(tmp_path).owner() == second.owner
    assert not DataFolder(tmp_path).is_owned()


async def test_a_folder_whose_owner_failed_goes_to_whoever_comes(tmp_path: Path, services: Services) -> None:
    async with home_of(tmp_path, services) as failed:
        await failed.settle()
        services.fail.set()
        await failed.ended()

        async with home_of(tmp_path, services) as other:
            taken = await other.settle()
            joined = await failed.settle()

            assert (taken.own, joined.own) == (True, False)
            assert taken.owner == joined.owner


async def test_services_that_are_stopped_did_not_fail(tmp_path: Path, services: Services) -> None:
    home = Home(tmp_path, start=services.start, connect=open_channel, role="mcp")
    async with home:
        await home.settle()
        waiting = asyncio.create_task(home.ended())
        await asyncio.sleep(0)

    assert await waiting is None


@pytest.mark.parametrize("turns", range(4))
async def test_a_call_that_is_cancelled_while_services_start_leaves_the_folder_free(
    tmp_path: Path, services: Services, turns: int
) -> None:
    async with home_of(tmp_path, services) as home:
        cancelled = asyncio.create_task(home.settle())
        for _ in range(turns):
            await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.wait((cancelled,))

        assert (await home.settle()).own
    assert not DataFolder(tmp_path).is_owned()
