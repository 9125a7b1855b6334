"""The conformance suite of the protocol, against Satchel and against its door with the suite's own tools."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.node_programs import installed
from e2e.running import Running
from requirements import requirement

FOLDER = Path(__file__).resolve().parent / "conformance"
SUMMARY = re.compile(r"^([✓✗]) ([\w-]+): \d+ passed, (\d+) failed", re.MULTILINE)
RUN_LIMIT_S = 120
# What any server is asked, whatever its tools are called.
ANY_SERVER = {
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "completion-complete",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
}
# What needs tools, prompts and resources that the suite calls by name.
WITH_FIXTURES = {
    "logging-set-level",
    *(f"tools-call-{kind}" for kind in ("simple-text", "image", "audio", "embedded-resource")),
    *(f"tools-call-{kind}" for kind in ("mixed-content", "error", "sampling", "elicitation")),
    *(f"tools-call-with-{kind}" for kind in ("logging", "progress")),
    "json-schema-2020-12",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "server-sse-polling",
    *(f"resources-{kind}" for kind in ("read-text", "read-binary", "templates-read")),
    *(f"resources-{kind}" for kind in ("subscribe", "unsubscribe")),
    *(f"prompts-get-{kind}" for kind in ("simple", "with-args", "embedded-resource", "with-image")),
}


def outcomes(url: str) -> dict[str, bool]:
    """Run all scenarios of the suite against a server; say of each whether nothing of it failed."""
    suite = installed(FOLDER) / "conformance"
    arguments = ["server", "--url", url, "--suite", "all"]
    done = subprocess.run(  # a pinned program
        ["node", "--import", str(FOLDER / "builtins.mjs"), str(suite), *arguments],  # noqa: S607  # as installed
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_LIMIT_S,
    )
    found = {name: (mark, failed) == ("✓", "0") for mark, name, failed in SUMMARY.findall(done.stdout)}
    assert found, done.stdout + done.stderr
    return found


@pytest.fixture(scope="module")
def fixture_server() -> Iterator[str]:
    """The address of the door with the suite's own tools behind it."""
    with subprocess.Popen(  # our own program
        [sys.executable, str(FOLDER / "fixture_server.py"), "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        process.terminate()


@requirement("mcp:conformance")
def test_satchel_passes_what_any_server_is_asked(satchel: Running) -> None:
    found = outcomes(f"{satchel.http}/mcp")

    assert {name for name in ANY_SERVER if not found.get(name)} == set()


@requirement("mcp:conformance")
def test_the_door_passes_every_scenario_with_the_tools_of_the_suite(fixture_server: str) -> None:
    found = outcomes(fixture_server)

    assert {name for name, passed in found.items() if not passed} == set()
    assert set(found) == ANY_SERVER | WITH_FIXTURES
