"""Where a service of its own may show its metrics."""

import socket
from pathlib import Path

import pytest
from integration.cli.programs import satchel

ADDRESS = "SATCHEL_METRICS_PROMETHEUS_ADDR"


def serve(folder: Path, address: str) -> tuple[int, str]:
    done = satchel(
        *("-d", str(folder), "serve", "store", "--listen", "127.0.0.1:0"),
        SATCHEL_METRICS_PROMETHEUS_ADDR=address,
    )
    return done.code, done.err


def test_metrics_are_not_shown_to_other_machines_without_a_key(tmp_path: Path) -> None:
    code, said = serve(tmp_path, "0.0.0.0:0")

    assert code == 2
    assert ADDRESS in said
    assert "can be reached from other machines" in said


def test_an_address_that_is_taken_keeps_the_service_from_starting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, said = serve(tmp_path, f"127.0.0.1:{taken.getsockname()[1]}")

    assert code != 0
    assert ADDRESS in said


@pytest.mark.parametrize("address", ["9090", ":9090"])
def test_an_address_without_host_and_port_is_refused(tmp_path: Path, address: str) -> None:
    code, said = serve(tmp_path, address)

    assert code == 2
    assert ADDRESS in said
