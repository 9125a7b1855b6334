import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import pytest
from contract.gateway.mcp_world import McpWorld, open_mcp_world
from mcp import Client

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.gateway.app import build_app
from satchel.gateway.caller import Caller
from satchel.gateway.main import HttpServer
from satchel.gateway.mcp.server import build_server
from satchel.gateway.metrics import GatewayMetrics
from satchel.gateway.settings import GatewaySettings
from satchel.gateway.transcoder.descriptors import Contract

LIMIT_S = 10
Told = tuple[float, float | None, str | None]


@pytest.fixture
async def world() -> AsyncIterator[McpWorld]:
    async with open_mcp_world() as opened:
        for number in range(4):
            opened.store.keep(store_pb.StoreMemoryRequest(content=f"Memory {number}.", wing="w1"))
        opened.lifecycle.go_on.clear()
        yield opened


@asynccontextmanager
async def connect(world: McpWorld, contract: Contract, mode: str = "legacy") -> AsyncIterator[Client]:
    caller = Caller(contract, world.clients, GatewayMetrics(), timeout_s=LIMIT_S)
    server = build_server(caller, world.clients, interval_s=0.01)
    async with Client(server, mode=cast("Any", mode)) as client:
        yield client


class Progress:
    """What a client was told, and a wait for the next of it."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        self._news = asyncio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.told.append((progress, total, message))
        self._news.set()

    def counts(self) -> list[tuple[float, float | None]]:
        return [(done, total) for done, total, _ in self.told]

    async def reaches(self, least: float) -> None:
        while not self.told or self.told[-1][0] < least:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), LIMIT_S)


@requirement("mcp:progress")
async def test_a_call_that_is_counted_tells_how_many_memories_are_done(
    world: McpWorld, contract: Contract
) -> None:
    progress = Progress()
    async with connect(world, contract) as client:
        call = asyncio.create_task(client.call_tool("mira_archive", {}, progress_callback=progress))
        await asyncio.wait_for(world.lifecycle.began.wait(), LIMIT_S)
        world.lifecycle.left = 1
        await progress.reaches(3)
        world.lifecycle.go_on.set()
        result = await call
        await progress.reaches(4)

    assert result.structured_content["archived_count"] == 4
    assert progress.counts() == [(0, 4), (3, 4), (4, 4)]
    assert progress.told[1][2] == "3 of 4 memories"


@requirement("mcp:progress")
async def test_a_call_that_nothing_counts_tells_the_seconds_and_more_each_time(
    world: McpWorld, contract: Contract
) -> None:
    progress = Progress()
    async with connect(world, contract) as client:
        asked = {"ids": list(world.store.memories)}
        call = asyncio.create_task(client.call_tool("mira_unarchive", asked, progress_callback=progress))
        await progress.reaches(0.02)
        world.lifecycle.go_on.set()
        await call

    seconds = [done for done, _, _ in progress.told]
    assert len(seconds) >= 3
    assert seconds == sorted(set(seconds))
    assert {total for _, total, _ in progress.told} == {None}


@requirement("mcp:progress")
async def test_a_client_that_does_not_ask_costs_no_counting(world: McpWorld, contract: Contract) -> None:
    world.lifecycle.go_on.set()
    async with connect(world, contract) as client:
        await client.call_tool("mira_archive", {})

    assert [request.dry_run for request in world.lifecycle.requests] == [False]


@requirement("mcp:progress")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_progress_arrives_over_http_without_a_session(world: McpWorld, mode: str) -> None:
    settings = GatewaySettings(http_address="127.0.0.1:0")
    progress = Progress()
    world.lifecycle.go_on.set()
    async with (
        HttpServer(build_app(world.clients, settings), settings) as server,
        Client(f"http://127.0.0.1:{server.port}/mcp", mode=cast("Any", mode)) as client,
    ):
        await client.call_tool("mira_archive", {}, progress_callback=progress)
        await progress.reaches(4)

    assert progress.counts() == [(0, 4), (4, 4)]


@requirement("mcp:cancelled")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_cancelled_call_is_cancelled_in_the_service(
    world: McpWorld, contract: Contract, mode: str
) -> None:
    async with connect(world, contract, mode) as client, anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "mira_archive", {})
        await asyncio.wait_for(world.lifecycle.began.wait(), LIMIT_S)
        before = world.lifecycle.cancelled.is_set()
        group.cancel_scope.cancel()
    await asyncio.wait_for(world.lifecycle.cancelled.wait(), LIMIT_S)

    assert (before, [request.dry_run for request in world.lifecycle.requests]) == (False, [False])


@requirement("mcp:cancelled")
async def test_a_call_whose_client_hangs_up_is_cancelled_in_the_service(world: McpWorld) -> None:
    settings = GatewaySettings(http_address="127.0.0.1:0")
    async with HttpServer(build_app(world.clients, settings), settings) as server:
        async with (
            Client(f"http://127.0.0.1:{server.port}/mcp") as client,
            anyio.create_task_group() as group,
        ):
            group.start_soon(client.call_tool, "mira_archive", {})
            await asyncio.wait_for(world.lifecycle.began.wait(), LIMIT_S)
            before = world.lifecycle.cancelled.is_set()
            group.cancel_scope.cancel()
        await asyncio.wait_for(world.lifecycle.cancelled.wait(), LIMIT_S)

    assert (before, [request.dry_run for request in world.lifecycle.requests]) == (False, [False])
