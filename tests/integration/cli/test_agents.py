"""Agents that start their own Satchel on one data folder: over MCP, at the same moment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from integration.cli.programs import command, environment, satchel
from mcp import ClientSession, StdioServerParameters, stdio_client

from satchel.gateway.data_folder import DataFolder


@asynccontextmanager
async def agent(folder: Path, log: Path) -> AsyncIterator[ClientSession]:
    program, *arguments = command("-d", str(folder), "mcp")
    parameters = StdioServerParameters(command=program, args=arguments, env=environment())
    async with AsyncExitStack() as stack:
        errors = stack.enter_context(log.open("w"))
        streams = await stack.enter_async_context(stdio_client(parameters, errlog=errors))
        session = await stack.enter_async_context(ClientSession(*streams))
        await session.initialize()
        yield session


async def store(session: ClientSession, name: str, count: int) -> None:
    for number in range(count):
        memory = {"content": f"{name} saw {number} birds.", "wing": "birds"}
        answer = await session.call_tool("mira_store", memory)
        assert not answer.is_error, answer


def export(folder: Path) -> str:
    """Read everything as a guest of the agent that owns the folder, which takes no start of its own."""
    assert DataFolder(folder).is_owned()
    return satchel("-d", str(folder), "export").text


async def test_two_agents_at_the_same_moment_share_one_store_and_lose_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with agent(folder, tmp_path / "a.log") as first, agent(folder, tmp_path / "b.log") as second:
        async with asyncio.TaskGroup() as group:
            group.create_task(store(first, "Ann", 10))
            group.create_task(store(second, "Ben", 10))
        exported = await asyncio.to_thread(export, folder)

    assert all(f"{name} saw {number} birds." in exported for name in ("Ann", "Ben") for number in range(10))


async def test_an_agent_goes_on_when_the_one_that_owned_the_folder_ends(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with agent(folder, tmp_path / "guest.log") as guest:
        async with agent(folder, tmp_path / "owner.log") as owner:
            await store(owner, "Ann", 1)  # the first call of a tool makes the owner
            await store(guest, "Ben", 1)
        await store(guest, "Cleo", 1)
        exported = await asyncio.to_thread(export, folder)

    assert all(f"{name} saw 0 birds." in exported for name in ("Ann", "Ben", "Cleo"))
