"""Metrics and webhooks under MIRA's names."""

import hashlib
import hmac
import json
import queue
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import httpx2

from e2e.door import Door
from requirements import requirement

LIMIT_S = 30.0
NAMES = (
    "mira_store_total",
    "mira_recall_total",
    "mira_search_total",
    "mira_errors_total",
    "mira_store_duration_seconds",
    "mira_recall_duration_seconds",
    "mira_search_duration_seconds",
    "mira_embed_duration_seconds",
    "mira_memory_count",
    "mira_vector_count",
    "mira_store_facts_total",
    "mira_recall_selected_total",
)


class Got(NamedTuple):
    """A request to the endpoint; names of headers are in small letters."""

    headers: Mapping[str, str]
    body: bytes


@contextmanager
def endpoint(*codes: int) -> Iterator[tuple[str, queue.Queue[Got]]]:
    """Run an HTTP server that gives these answers in turn, the last one ever after."""
    got: queue.Queue[Got] = queue.Queue()
    left = list(codes)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(left.pop(0) if len(left) > 1 else left[0])
            self.send_header("Content-Length", "0")
            self.end_headers()
            got.put(Got({name.lower(): value for name, value in self.headers.items()}, body))

        def log_message(self, *_: object) -> None:
            """Be quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/in", got
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def registered(door: Door, url: str) -> Iterator[tuple[str, str]]:
    """Register an endpoint for stored memories of a project of its own; yield its id and secret."""
    body = {"url": url, "events": ["store.completed"], "project": "hooked"}
    made = door.ask("POST", "/webhooks", body)
    try:
        yield made["webhook"]["id"], made["secret"]
    finally:
        door.ask("DELETE", f"/webhooks/{made['webhook']['id']}")


def metric(door: Door, name: str) -> float:
    found = re.search(
        rf"^{name}(?:_created)? ([\d.e+]+)$", httpx2.get(f"{door.http}/metrics").text, re.MULTILINE
    )
    assert found, name
    return float(found[1])


@requirement("metrics:miras-names", "doors:miras-clients")
def test_every_metric_of_mira_is_served_and_counts_each_call_once(door: Door) -> None:
    counted = ("mira_store_total", "mira_recall_total", "mira_search_total", "mira_memory_count")
    before = [metric(door, name) for name in counted]
    door.store("metered", "The meter reads seven.")
    door.recall("What does the meter read?", wing="metered")
    door.found("meter", wing="metered")
    text = httpx2.get(f"{door.http}/metrics").text

    assert [metric(door, name) for name in counted] == [count + 1 for count in before]
    assert [name for name in NAMES if f"# TYPE {name}" not in text] == []


@requirement("webhook:sent", "webhook:signed", "doors:miras-clients")
def test_a_stored_memory_is_told_once_with_a_signature_over_the_body(door: Door) -> None:
    with endpoint(204) as (url, got), registered(door, url) as (name, secret):
        kept = door.store("hooks", "The hook holds.", project="hooked")
        first = got.get(timeout=LIMIT_S)
        other = door.store("hooks", "The other hook holds too.", project="hooked")
        second = got.get(timeout=LIMIT_S)

    told = json.loads(first.body)
    mac = hmac.new(secret.encode(), first.body, hashlib.sha256).hexdigest()
    assert (told["type"], told["memory_id"], told["payload"]) == ("store.completed", kept, told["data"])
    assert datetime.fromisoformat(told["timestamp"]).tzinfo
    assert first.headers["x-mira-signature"] == f"sha256={mac}"
    assert first.headers["x-mira-event-id"] == told["id"]
    assert first.headers["x-mira-event-type"] == first.headers["x-webhook-event"] == "store.completed"
    assert first.headers["x-webhook-id"] == first.headers["x-mira-webhook-id"] == name
    # Nothing came between: the first was told once.
    assert json.loads(second.body)["memory_id"] == other


@requirement("webhook:retried", "webhook:dead-letters", "doors:miras-clients")
def test_an_endpoint_that_fails_is_tried_again_and_what_it_never_took_is_a_dead_letter(door: Door) -> None:
    with endpoint(500, 500, 500, 204) as (url, got), registered(door, url) as (name, _):
        kept = door.store("hooks", "Nobody took this.", project="hooked")
        tries = [got.get(timeout=LIMIT_S) for _ in range(3)]
        later = door.store("hooks", "This is taken.", project="hooked")
        taken = got.get(timeout=LIMIT_S)
        dead = door.ask("GET", "/deliveries", webhook_id=name, state="dead")["deliveries"]
        door.ask("POST", "/deliveries/redrive", {"ids": [dead[0]["id"]]})
        redriven = got.get(timeout=LIMIT_S)

    assert {one.headers["x-satchel-delivery"] for one in tries} == {dead[0]["id"]}
    assert [(one["memory_id"], one["tries"]) for one in dead] == [(kept, 3)]
    assert json.loads(taken.body)["memory_id"] == later
    assert redriven.headers["x-satchel-delivery"] == dead[0]["id"]
