"""Clients that are not ours run whole sessions over every transport."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from e2e.mcp_sessions import TRANSPORTS, Result, check, run_inspector, run_python, run_typescript, steps_of
from e2e.running import Running, embedded, free_ports, process, wait_until_ready
from requirements import requirement


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Satchel in one process, whose archive and wings nobody else touches."""
    with embedded(tmp_path_factory.mktemp("sessions") / "data") as running:
        yield running


@requirement("mcp:sessions")
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_python_sdk_runs_a_session(alone: Running, transport: str) -> None:
    check(await run_python(alone, transport, steps_of(f"python-{transport}")))


@requirement("mcp:sessions", "mcp:confirmed")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_typescript_sdk_runs_a_session_and_its_user_is_asked_once(alone: Running, transport: str) -> None:
    questions, results = run_typescript(alone, transport, steps_of(f"typescript-{transport}"))

    check(results)
    assert questions == 1


@requirement("mcp:sessions")
def test_the_inspector_runs_a_session_over_every_transport(alone: Running) -> None:
    """It starts a process for each call, so the transports run at the same time."""

    def run(transport: str) -> list[Result]:
        return run_inspector(alone, transport, steps_of(f"inspector-{transport}"))

    with ThreadPoolExecutor() as threads:
        for results in threads.map(run, TRANSPORTS):
            check(results)


@requirement("mcp:sessions")
@pytest.mark.parametrize("transport", ["sse", "http"])
async def test_the_command_serves_clients_that_connect(tmp_path: Path, transport: str) -> None:
    port, grpc_port = free_ports(2)
    place, folder = f"127.0.0.1:{port}", tmp_path / "data"
    elsewhere = {"SATCHEL_GRPC": f"127.0.0.1:{grpc_port}"}
    with process(["mcp", "--transport", transport, "--mcp-addr", place], folder, elsewhere) as started:
        await asyncio.to_thread(wait_until_ready, f"http://{place}", started)
        served = Running(f"http://{place}", "", "", "", "", folder, "")
        check(await run_python(served, transport, steps_of(transport)))


@requirement("mcp:sessions")
@pytest.mark.parametrize(
    "options",
    [("mcp", "--mcp-addr", "127.0.0.1:1"), ("--url", "127.0.0.1:1", "mcp", "--transport", "http")],
)
def test_options_that_contradict_each_other_are_refused_by_name(alone: Running, options: list[str]) -> None:
    done = alone.cli(*options)

    assert (done.returncode, done.stdout) == (2, "")
    assert "--transport" in done.stderr
