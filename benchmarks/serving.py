"""Starts a Satchel of its own for a run, in a process and a folder that go with it."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.records import NOTHING
from satchel.client import Satchel, SatchelError, Serving

START_LIMIT_S = 60.0
STOP_LIMIT_S = 30.0
_PROBE_TIMEOUT_S = 1.0
_PROBE_INTERVAL_S = 0.1


@contextmanager
def embedded(folder: Path | None = None, variables: Mapping[str, str] = NOTHING) -> Iterator[str]:
    """Yield the gRPC address of a Satchel; settings come from the environment, as for ``satchel up``.

    It is fresh, unless there is a ``folder`` that an earlier one has left its data in; these stay there.
    ``variables`` go before those of the environment.

    Raises:
        RuntimeError: it ended, or did not serve within a minute.
    """
    with tempfile.TemporaryDirectory(prefix="satchel-benchmark-") as passing, ExitStack() as stack:
        place = folder or Path(passing)
        grpc_address, http_address = _free_addresses(2)
        log = stack.enter_context((place / "log").open("w+b"))
        command = [
            *(sys.executable, "-m", "satchel.cli.main", "--data-dir", str(place / "data")),
            *("up", "--grpc", grpc_address, "--http", http_address),
        ]
        environment = {**os.environ, "SATCHEL_LOG_LEVEL": "WARNING", **variables}
        process = subprocess.Popen(  # noqa: S603  # our own command
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )
        stack.callback(_stop, process)
        _wait(grpc_address, process, place / "log")
        yield grpc_address


def _free_addresses(count: int) -> list[str]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    limit = time.monotonic() + START_LIMIT_S
    with Satchel(address, timeout=_PROBE_TIMEOUT_S) as satchel:
        while not _serves(satchel):
            if process.poll() is not None or time.monotonic() > limit:
                said = log.read_text(encoding="utf-8", errors="replace")[-2000:]
                raise RuntimeError(f"Satchel ended, or did not serve within a minute. It said:\n{said}")
            time.sleep(_PROBE_INTERVAL_S)


def _serves(satchel: Satchel) -> bool:
    try:
        return satchel.health() is Serving.SERVING
    except SatchelError:
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
