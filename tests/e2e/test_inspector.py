"""The MCP Inspector, a client that is not ours, gets the same bytes over HTTP and stdio."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import httpx2
import pytest

from e2e.running import COMMAND, Running
from requirements import requirement

HERE = Path(__file__).resolve().parent / "inspector"
QUESTION = "Which serial number does the oven have?"


@pytest.fixture(scope="session")
def inspector() -> str:
    """The pinned Inspector, installed on first use; skipped where there is no Node.js, but never in CI."""
    npm = shutil.which("npm")
    if npm is None and not os.environ.get("CI"):
        pytest.skip("Node.js is not installed")
    program = HERE / "node_modules" / ".bin" / "mcp-inspector"
    if not program.exists():
        subprocess.run(
            [str(npm), "install", "--no-save", "--no-progress"],
            cwd=HERE,
            check=True,
            capture_output=True,
            timeout=300,
        )
    return str(program)


def call(inspector: str, target: list[str], tool: str, **arguments: str) -> dict[str, object]:
    """Call a tool through the Inspector's command line."""
    given = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
    done = subprocess.run(  # a pinned program
        [inspector, "--cli", *target, "--method", "tools/call", "--tool-name", tool, *given],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    result: dict[str, object] = json.loads(done.stdout)
    return result


def text_of(result: dict[str, object]) -> str:
    content = result["content"]
    assert isinstance(content, list)
    return str(content[0]["text"])


def expected(satchel: Running) -> str:
    body = {"query": QUESTION, "wing": "kitchen", "budget": 200}
    return str(httpx2.post(f"{satchel.http}/api/v1/memories/recall", json=body).json()["context"])


@requirement("mcp:protocol", "doors:same-bytes")
def test_the_inspector_recalls_the_same_bytes_over_http(satchel: Running, inspector: str) -> None:
    target = [f"{satchel.http}/mcp", "--transport", "http"]

    result = call(inspector, target, "mira_recall", query=QUESTION, wing="kitchen", budget="200")

    assert "WD64-88213-B" in text_of(result)
    assert expected(satchel) == text_of(result)


@requirement("mcp:protocol", "doors:same-bytes")
def test_the_inspector_recalls_the_same_bytes_over_stdio(satchel: Running, inspector: str) -> None:
    place = ["--url", satchel.url] if satchel.url else ["--data-dir", str(satchel.data_dir)]

    result = call(
        inspector, [*COMMAND, *place, "mcp"], "mira_recall", query=QUESTION, wing="kitchen", budget="200"
    )

    assert expected(satchel) == text_of(result)
