"""Events reach a real endpoint: over REST and the command line, in one process and in five, after a crash."""

import hashlib
import hmac
import json
import queue
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest

from e2e.running import PROBE_INTERVAL_S, Running, apart, embedded, free_ports, process, wait_until_ready
from requirements import requirement

ON = {"SATCHEL_WEBHOOKS_ENABLED": "true", "SATCHEL_WEBHOOKS_ALLOW_PRIVATE": "true"}
LIMIT_S = 30.0


class Got(NamedTuple):
    """A request; names of headers are in small letters."""

    headers: Mapping[str, str]
    body: bytes


class Endpoint:
    """An HTTP server that takes everything; ``next`` is the next request, within 30 seconds."""

    def __init__(self, port: int = 0) -> None:
        got: queue.Queue[Got] = queue.Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(204)
                self.end_headers()
                got.put(Got({name.lower(): value for name, value in self.headers.items()}, body))

            def log_message(self, *_: object) -> None:
                """Be quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/in"
        self._got = got

    def next(self) -> Got:
        return self._got.get(timeout=LIMIT_S)


@contextmanager
def endpoint(port: int = 0) -> Iterator[Endpoint]:
    found = Endpoint(port)
    thread = threading.Thread(target=found.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.server.shutdown()
        found.server.server_close()


def verify(got: Got, secret: str) -> None:
    stamped = got.headers["x-satchel-timestamp"].encode() + b"." + got.body
    mac = hmac.new(secret.encode(), stamped, hashlib.sha256).hexdigest()
    assert got.headers["x-satchel-signature"] == f"v1={mac}"


def until_registered(http: str) -> list[dict[str, object]]:
    """Return the endpoints of the configuration, which the gateway registers just after it is ready."""
    limit = time.monotonic() + LIMIT_S
    while time.monotonic() < limit:
        found: list[dict[str, object]] = httpx2.get(f"{http}/api/v1/webhooks").json()["webhooks"]
        if found:
            return found
        time.sleep(PROBE_INTERVAL_S)
    raise TimeoutError(f"No endpoint was registered within {LIMIT_S} s")


def store(satchel: Running, text: str) -> str:
    answer = httpx2.post(f"{satchel.http}/api/v1/memories", json={"wing": "w", "content": text})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@requirement("webhook:sent", "webhook:signed", "webhook:registered", "webhook:tested")
@pytest.mark.parametrize("run", [embedded, apart])
def test_a_memory_that_is_stored_is_told_to_an_endpoint(run: object, tmp_path: Path) -> None:
    assert callable(run)
    with endpoint() as there, run(tmp_path / "data", ON) as satchel:
        created = httpx2.post(
            f"{satchel.http}/api/v1/webhooks", json={"url": there.url, "events": ["store.completed"]}
        )
        memory_id = store(satchel, "Elephants never forget.")
        got = there.next()
        name = created.json()["webhook"]["id"]
        tested = satchel.cli("webhooks", "test", name)
        test = there.next()
        listed = satchel.cli("webhooks", "list", "--json")
        removed = satchel.cli("webhooks", "delete", name)

    assert created.status_code == 201
    verify(got, created.json()["secret"])
    verify(test, created.json()["secret"])
    told = json.loads(got.body)
    assert (told["type"], told["memory_id"]) == ("store.completed", memory_id)
    assert b"lephants" not in got.body
    assert (tested.returncode, tested.stdout[:21]) == (0, "Delivered: status 204"), tested.stderr
    assert json.loads(test.body)["type"] == "webhook.test"
    assert [one["id"] for one in json.loads(listed.stdout)["webhooks"]] == [name]
    assert removed.returncode == 0, removed.stderr


@requirement("webhook:atomic", "webhook:leases")
def test_an_event_survives_that_satchel_is_killed_before_it_is_delivered(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    named = {
        **ON,
        "SATCHEL_WEBHOOKS_ENDPOINTS": json.dumps([f"http://127.0.0.1:{port}/in"]),
        # What was tried in vain before the kill is tried again soon.
        "SATCHEL_WEBHOOKS_RETRY_LONGEST_S": "1",
    }
    data = tmp_path / "data"
    grpc_port, http_port = free_ports(2)
    http = f"http://127.0.0.1:{http_port}"
    arguments = ["up", "--grpc", f"127.0.0.1:{grpc_port}", "--http", f"127.0.0.1:{http_port}"]
    with process(arguments, data, named) as started:
        wait_until_ready(http, started)
        satchel = Running(http, "", "", "", "", data, "")
        registered = until_registered(http)
        memory_id = store(satchel, "Elephants never forget.")
        started.send_signal(signal.SIGKILL)
        started.wait(LIMIT_S)
    with endpoint(port) as there, embedded(data, named):
        # Events of the index may come between.
        got = next(
            one for one in iter(there.next, None) if one.headers["x-webhook-event"] == "store.completed"
        )

    assert [one["configured"] for one in registered] == [True]
    assert json.loads(got.body)["memory_id"] == memory_id
    assert got.headers["x-webhook-id"] == registered[0]["id"]


@requirement("webhook:private")
def test_private_addresses_are_refused_at_every_door(tmp_path: Path) -> None:
    with embedded(tmp_path / "data", {"SATCHEL_WEBHOOKS_ENABLED": "true"}) as satchel:
        refused = httpx2.post(f"{satchel.http}/api/v1/webhooks", json={"url": "http://[::ffff:7f00:1]/"})
        added = satchel.cli("webhooks", "add", "http://localhost:9/")

    assert (refused.status_code, refused.json()["reason"]) == (422, "ERROR_REASON_WEBHOOK_URL_REFUSED")
    assert added.returncode != 0
    assert "SATCHEL_WEBHOOKS_ALLOW_PRIVATE=true" in added.stderr
