"""Starts real Satchels for end-to-end tests: all in one process, or five processes on loopback sockets."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

START_LIMIT_S = 60.0
STOP_LIMIT_S = 30.0
PROBE_INTERVAL_S = 0.05
COMMAND = [sys.executable, "-m", "satchel.cli.main"]


@dataclass(frozen=True, slots=True)
class Running:
    """Addresses of one running Satchel; ``metrics`` are where each of its processes tells them."""

    http: str
    allocator: str
    store: str
    index: str
    embedder: str
    data_dir: Path
    url: str
    metrics: tuple[str, ...] = ()

    def cli(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run the command line against this Satchel."""
        given = ["--url", self.url] if self.url else ["--data-dir", str(self.data_dir)]
        return subprocess.run(  # our own command
            [*COMMAND, *given, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            encoding="utf-8",
        )


def free_ports(count: int) -> list[int]:
    """Return ports that nothing listens on now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def process(
    arguments: list[str], data_dir: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the command until the block ends, then stop it with SIGTERM; its log is `<data_dir>.log`."""
    environ = {**os.environ, "SATCHEL_LOG_FORMAT": "text", **(environment or {})}
    log = data_dir.with_suffix(".log").open("ab")
    started = subprocess.Popen(  # our own command
        [*COMMAND, "--data-dir", str(data_dir), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=environ,
    )
    try:
        yield started
    finally:
        started.send_signal(signal.SIGTERM)
        try:
            started.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()
            raise
        finally:
            log.close()


def wait_until_ready(http: str, watched: subprocess.Popen[bytes]) -> None:
    """Return when the gateway answers that it is ready."""
    limit = time.monotonic() + START_LIMIT_S
    while time.monotonic() < limit:
        if watched.poll() is not None:
            raise RuntimeError(f"the process ended with {watched.returncode}")
        try:
            with urllib.request.urlopen(f"{http}/health/ready", timeout=2) as answer:  # noqa: S310  # loopback
                if json.load(answer)["status"] == "healthy":
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
        time.sleep(PROBE_INTERVAL_S)
    raise TimeoutError(f"{http} was not ready within {START_LIMIT_S} s")


@contextmanager
def embedded(data_dir: Path, environment: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Run everything in one process."""
    grpc_port, http_port = free_ports(2)
    address, http = f"127.0.0.1:{grpc_port}", f"http://127.0.0.1:{http_port}"
    arguments = ["up", "--grpc", address, "--http", f"127.0.0.1:{http_port}"]
    with process(arguments, data_dir, environment) as started:
        wait_until_ready(http, started)
        yield Running(http, address, address, address, address, data_dir, "", (f"{http}/metrics",))


@contextmanager
def apart(data_dir: Path, environment: Mapping[str, str] | None = None) -> Iterator[Running]:
    """Run five processes that call each other over loopback sockets."""
    names = ["embedder", "store", "index", "allocator", "gateway"]
    places = [f"127.0.0.1:{port}" for port in free_ports(2 * len(names))]
    at, metrics = (dict(zip(names, places[first::2], strict=True)) for first in (0, 1))
    peers = [word for name in names[:-1] for word in (f"--{name}", at[name])]
    with ExitStack() as stack:
        for name in names:
            arguments = ["serve", name, "--listen", at[name], *peers]
            own = {**(environment or {}), "SATCHEL_METRICS_PROMETHEUS_ADDR": metrics[name]}
            last = stack.enter_context(process(arguments, data_dir, own))
        wait_until_ready(f"http://{at['gateway']}", last)
        url = ",".join(f"{name}={at[name]}" for name in names[:-1])
        yield Running(
            f"http://{at['gateway']}",
            at["allocator"],
            at["store"],
            at["index"],
            at["embedder"],
            data_dir,
            url,
            tuple(f"http://{place}/metrics" for place in metrics.values()),
        )
