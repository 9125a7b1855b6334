"""On stdout of the stdio server there is nothing but frames, whatever goes wrong and is logged."""

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from e2e.running import COMMAND
from requirements import requirement

LIMIT_S = 60
LOUD = {
    "SATCHEL_LOG_LEVEL": "debug",
    "SATCHEL_LOG_FORMAT": "text",
    "PYTHONWARNINGS": "always",
    "PYTHONDEVMODE": "1",
    "GRPC_VERBOSITY": "debug",
    # Nobody listens there, so that the exporter of traces fails, and says so.
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
    "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
    "OTEL_BSP_SCHEDULE_DELAY": "50",
}
NO_MODEL = {"SATCHEL_EMBEDDER_MODEL_FOLDER": "/nowhere/at/all"}
NO_SERVICE = ("--url", "127.0.0.1:9")


def request(number: int, method: str, **params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number: int, tool: str, **arguments: object) -> dict[str, Any]:
    return request(number, "tools/call", name=tool, arguments=arguments)


BEGIN = request(
    1,
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "test", "version": "1"},
)
CALLS = (
    call(2, "mira_store", content="We chose PostgreSQL.", wing="w1"),
    call(3, "mira_recall", query="What was chosen?"),
    call(4, "mira_store", content="x", wing="not a wing"),
    call(5, "mira_nothing"),
    call(6, "mira_clear_memory", mode="global"),
    request(7, "resources/read", uri="satchel://nowhere"),
    request(8, "no/such/method"),
)


async def talk(arguments: Sequence[str], environment: dict[str, str], log: Path) -> list[str]:
    """Hold a conversation with everything that can fail; return the lines of stdout, to its end."""
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            *arguments,
            "mcp",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env={**os.environ, **LOUD, **environment},
            limit=1 << 20,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    lines: list[str] = []
    async with asyncio.timeout(LIMIT_S):
        for frames in ((BEGIN,), CALLS):
            for frame in frames:
                process.stdin.write(json.dumps(frame).encode() + b"\n")
            process.stdin.write(b"this is no frame\n")
            wanted = len(lines) + len(frames) + 1
            while len(lines) < wanted:
                lines.append((await process.stdout.readline()).decode())
                assert lines[-1], "it ended too early"
        process.stdin.close()
        lines += (await process.stdout.read()).decode().splitlines()
        await process.wait()
    return lines


@requirement("mcp:stdout", "mcp:errors")
@pytest.mark.parametrize(
    ("arguments", "environment", "is_stored"),
    [((), {}, True), ((), NO_MODEL, False), (NO_SERVICE, {}, False)],
    ids=["all is well", "the model is missing", "no service answers"],
)
async def test_stdout_carries_frames_only_whatever_is_logged(
    tmp_path: Path,
    arguments: Sequence[str],
    environment: dict[str, str],
    is_stored: bool,  # noqa: FBT001
) -> None:
    log = tmp_path / "stderr.log"
    place = arguments or ("--data-dir", str(tmp_path / "data"))

    lines = await talk(place, environment, log)

    frames = [json.loads(line) for line in lines]
    answers = {frame["id"]: frame for frame in frames if frame["id"] is not None}
    assert {frame["jsonrpc"] for frame in frames} == {"2.0"}
    assert sorted(answers) == list(range(1, 9))
    assert [frame["error"]["code"] for frame in frames if frame["id"] is None] == [-32700, -32700]
    assert answers[2]["result"].get("isError", False) is not is_stored
    assert answers[4]["result"]["isError"]
    assert [answers[number]["error"]["code"] for number in (5, 7, 8)] == [-32602, -32002, -32601]
    assert {"WARNING", "ERROR"} & set(log.read_text(errors="replace").split())
