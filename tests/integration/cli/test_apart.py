"""The five services as processes of their own, started by the command line."""

import json
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from integration.cli.programs import Server, satchel

SERVICES = ("embedder", "store", "index", "allocator", "gateway")


def free_addresses(count: int) -> list[str]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for bound in sockets:
            bound.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{bound.getsockname()[1]}" for bound in sockets]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("apart")


@pytest.fixture(scope="module")
def apart(folder: Path) -> Iterator[dict[str, str]]:
    addresses = dict(zip(SERVICES, free_addresses(len(SERVICES)), strict=True))
    peers = [part for name in SERVICES[:-1] for part in (f"--{name}", addresses[name])]
    servers = [
        Server(
            folder / f"{name}.log",
            *("-d", str(folder / "data"), "serve", name, "--listen", addresses[name], *peers),
            ready="started",
            log_level="INFO",
        )
        for name in SERVICES
    ]
    for server in servers:
        server.wait()
    yield addresses
    for server in servers:
        server.ask_to_stop()
    assert [server.ended() for server in reversed(servers)] == [0] * len(SERVICES)


def test_what_one_process_stores_the_others_recall_and_the_gateway_shows(apart: dict[str, str]) -> None:
    url = f"store={apart['store']},allocator={apart['allocator']},index={apart['index']}"
    stored = json.loads(satchel("--url", url, "store", "The lighthouse is red.", "-w", "sea", "--json").text)
    revision = str(stored["revision"])

    recalled = satchel("--url", url, "recall", "What colour is the lighthouse?", "--min-revision", revision)

    assert b"The lighthouse is red." in recalled.out
    shown = f"http://{apart['gateway']}/api/v1/memories/{stored['id']}"
    with urllib.request.urlopen(shown, timeout=30) as answer:
        assert json.load(answer)["content"] == "The lighthouse is red."


def test_the_folder_of_services_apart_is_not_opened_twice(apart: dict[str, str], folder: Path) -> None:
    refused = satchel("-d", str(folder / "data"), "status")

    assert refused.code == 4
    assert "--url" in refused.err
    assert apart["store"] in refused.err
