"""Identities of agents in real processes: switched on, there after a restart, and in five processes."""

import asyncio
import json
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from e2e.running import apart
from requirements import requirement

SOUL = {"SATCHEL_SOUL_ENABLED": "true"}
TALK = "User: Which index?\nAssistant: I wonder. Let's break it down. Tell me more!"


@asynccontextmanager
async def agent(data_dir: Path, **environment: str) -> AsyncIterator[Client]:
    """Run the server that a client starts for itself, on stdin and stdout."""
    command = ["-m", "satchel.cli.main", "--data-dir", str(data_dir), "mcp"]
    started = StdioServerParameters(command=sys.executable, args=command, env=environment)
    async with Client(stdio_client(started)) as client:
        yield client


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools if tool.name.startswith("soul_")}


@requirement("soul:opt-in", "soul:versions")
async def test_an_identity_outlives_its_process_and_is_there_where_it_is_switched_on(tmp_path: Path) -> None:
    async with agent(tmp_path / "data", **SOUL) as client:
        listed = await names(client)
        captured = await client.call_tool("soul_capture", {"agent_id": "clara", "conversation": TALK})
    async with agent(tmp_path / "data", **SOUL) as client:
        recalled = await client.call_tool("soul_recall", {"agent_id": "clara"})
    async with agent(tmp_path / "data") as client:
        without = await names(client)

    assert len(listed) == 8
    assert not captured.is_error
    assert "curious" in recalled.structured_content["prompt"]
    assert without == set()


def capture(http: str) -> dict[str, object]:
    """Capture the talk over REST."""
    url = f"{http}/api/v1/identities/clara/capture"
    body = json.dumps({"conversation": TALK}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310  # loopback
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  # loopback
        captured: dict[str, object] = json.load(answer)
    return captured


@requirement("soul:tools", "soul:opt-in")
async def test_identities_work_in_services_of_their_own(tmp_path: Path) -> None:
    with apart(tmp_path / "data", SOUL) as running:
        captured = await asyncio.to_thread(capture, running.http)
        async with Client(streamable_http_client(f"{running.http}/mcp")) as client:
            listed = await names(client)
            status = await client.call_tool("soul_status", {"agent_id": "clara"})

    assert captured["observed_traits"] == ["curious", "analytical"]
    assert len(listed) == 8
    assert status.structured_content["version"] == 1
