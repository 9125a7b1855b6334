"""Metrics of real Satchels: they move through every door, and the dashboard and the alerts find them."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import httpx2
import promql
import pytest
import yaml
from exposition import Figures
from mcp import Client

from e2e.running import Running
from requirements import requirement
from satchel.allocator import metrics as allocator
from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.allocator.v1 import allocator_service_pb2_grpc as allocator_rpc
from satchel.api.errors.v1 import error_reason_pb2
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.api.store.v1 import memory_service_pb2_grpc as store_rpc
from satchel.embedder import metrics as embedder
from satchel.gateway import metrics as gateway
from satchel.index import metrics as index
from satchel.runtime.metrics import calls, queues, scraping
from satchel.store import metrics as store

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
PARTS = (scraping, queues, calls, gateway, allocator, embedder, index, store)
NOBODY = "0190a6b2-8f1e-7c3d-9a4b-5e6f70818293"
WING = "metrics"
QUESTION = "Which database was chosen?"
# What Prometheus itself adds to a metric, and to a histogram.
TARGET_LABELS = {"job", "instance"}
SYNTHETIC = {"up": TARGET_LABELS}


def text_for(door: str) -> str:
    return f"We chose PostgreSQL for the ledger of {door} because it needs ACID. Approved by Ada."


def use_rest(satchel: Running) -> None:
    url = f"{satchel.http}/api/v1/memories"
    httpx2.post(url, json={"content": text_for("REST"), "wing": WING}).raise_for_status()
    httpx2.post(f"{url}/recall", json={"query": QUESTION, "wing": WING}).raise_for_status()
    httpx2.post(f"{url}/search", json={"query": QUESTION, "wing": WING}).raise_for_status()
    assert httpx2.get(f"{url}/{NOBODY}").status_code == 404


def use_grpc(satchel: Running) -> None:
    with (
        grpc.insecure_channel(satchel.store) as to_store,
        grpc.insecure_channel(satchel.allocator) as to_allocator,
    ):
        memories = store_rpc.MemoryServiceStub(to_store)
        questions = allocator_rpc.AllocatorServiceStub(to_allocator)
        memories.StoreMemory(store_pb.StoreMemoryRequest(content=text_for("gRPC"), wing=WING), timeout=30)
        questions.Recall(allocator_pb.RecallRequest(query=QUESTION, wing=WING), timeout=30)
        questions.SearchMemories(allocator_pb.SearchMemoriesRequest(query=QUESTION, wing=WING), timeout=30)
        with pytest.raises(grpc.RpcError):
            memories.GetMemory(store_pb.GetMemoryRequest(id=NOBODY), timeout=30)


def use_mcp(satchel: Running) -> None:
    async def session() -> None:
        async with Client(f"{satchel.http}/mcp") as client:
            await client.call_tool("mira_store", {"content": text_for("MCP"), "wing": WING})
            await client.call_tool("mira_recall", {"query": QUESTION, "wing": WING})
            await client.call_tool("mira_search", {"query": QUESTION, "wing": WING})
            assert (await client.call_tool("mira_load", {"id": NOBODY})).is_error

    asyncio.run(session())


def use_command_line(satchel: Running) -> None:
    for words in (("store", text_for("commands")), ("recall", QUESTION), ("search", QUESTION)):
        done = satchel.cli(*words, "--wing", WING)
        assert done.returncode == 0, done.stderr
    assert satchel.cli("get", NOBODY).returncode != 0


DOORS: dict[str, Callable[[Running], None]] = {
    "REST": use_rest,
    "gRPC": use_grpc,
    "MCP": use_mcp,
    "commands": use_command_line,
}


def figures_of(satchel: Running) -> Figures:
    return Figures.read(*(httpx2.get(url, timeout=30).raise_for_status().text for url in satchel.metrics))


@dataclass(frozen=True)
class Traffic:
    """What was told before and after each door was used once for each thing."""

    before: Figures
    after: Figures

    def grown(self, name: str, **labels: str) -> float:
        return self.after.value(name, **labels) - self.before.value(name, **labels)


@pytest.fixture(scope="module")
def traffic(satchel: Running) -> Traffic:
    before = figures_of(satchel)
    for use in DOORS.values():
        use(satchel)
    httpx2.get(f"{satchel.http}/health", headers={"host": "elsewhere.example"})
    return Traffic(before, figures_of(satchel))


@requirement("metrics:miras-names", "doors:miras-clients")
def test_miras_metrics_count_what_comes_through_every_door(traffic: Traffic) -> None:
    each = float(len(DOORS))

    for name in ("mira_store_total", "mira_recall_total", "mira_search_total", "mira_errors_total"):
        assert (name, traffic.grown(name)) == (name, each)
    for name in ("mira_store", "mira_recall", "mira_search"):
        assert (name, traffic.grown(f"{name}_duration_seconds_count")) == (name, each)
        assert traffic.grown(f"{name}_duration_seconds_sum") > 0
    assert traffic.grown("mira_memory_count") == each
    assert traffic.grown("mira_vector_count") == each
    assert traffic.grown("mira_store_facts_total") >= each
    assert traffic.grown("mira_recall_selected_total") >= each
    assert traffic.grown("mira_embed_duration_seconds_count") >= 2 * each


@requirement("metrics:parts")
def test_every_part_tells_what_it_did(traffic: Traffic) -> None:
    each = len(DOORS)
    memories = "satchel.api.store.v1.MemoryService"

    assert traffic.grown("grpc_server_handled_total", grpc_service=memories, grpc_code="NOT_FOUND") == each
    assert traffic.grown("satchel_errors_total", grpc_service=memories, reason="MEMORY_NOT_FOUND") == each
    assert traffic.grown("satchel_allocator_stage_seconds_count", stage="rank") == 2 * each
    assert traffic.grown("satchel_allocator_budget_used_ratio_count") == each
    assert traffic.grown("satchel_store_memories_stored_total", result="new") == each
    assert traffic.grown("satchel_store_commit_writes_sum") >= each
    assert traffic.grown("satchel_store_revision") == each
    assert traffic.grown("satchel_index_answers_total") >= 2 * each
    assert traffic.grown("satchel_embedder_batch_rows_sum") >= each
    assert traffic.grown("satchel_mcp_tool_calls_total", tool="mira_load", outcome="error") == 1
    assert traffic.grown("satchel_http_requests_total", status="404") == 1
    assert traffic.after.value("satchel_store_file_bytes", file="database") > 0
    assert traffic.after.value("satchel_index_state") == 1


@requirement("metrics:served")
def test_every_process_serves_its_metrics(satchel: Running) -> None:
    versions = [Figures.read(httpx2.get(url).text).value("satchel_build_info") for url in satchel.metrics]

    assert versions == [1.0] * (5 if satchel.url else 1)


@requirement("metrics:documented")
def test_every_metric_that_is_documented_is_served(satchel: Running) -> None:
    texts = "".join(httpx2.get(url).text for url in satchel.metrics)
    declared = [family.name for part in PARTS for family in part.FAMILIES.declared]

    assert [name for name in declared if f"# TYPE {name} " not in texts] == []


@requirement("metrics:bounded")
def test_neither_memories_nor_projects_nor_wings_add_series(satchel: Running, traffic: Traffic) -> None:
    before = figures_of(satchel).count()

    for number in range(10):
        memory = {"content": f"Number {number}.", "wing": f"wing{number}", "project": f"project{number}"}
        httpx2.post(f"{satchel.http}/api/v1/memories", json=memory).raise_for_status()
        question = {"query": f"Question {number}?", "wing": f"wing{number}", "session_id": f"session{number}"}
        httpx2.post(f"{satchel.http}/api/v1/memories/recall", json=question).raise_for_status()

    assert traffic.after.count() <= before
    assert figures_of(satchel).count() == before


def queries() -> Iterator[str]:
    """Yield every expression of the dashboard and of the alerts."""
    dashboard = json.loads((DEPLOY / "grafana/satchel.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))
    for variable in dashboard["templating"]["list"]:
        if wanted := re.match(r"label_values\((.*), (\w+)\)", variable.get("definition", "")):
            yield f"sum by ({wanted[2]}) ({wanted[1]})"
    for group in yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text(encoding="utf-8"))["groups"]:
        yield from (rule["expr"] for rule in group["rules"])


@requirement("metrics:watched")
def test_the_dashboard_and_the_alerts_ask_for_metrics_and_labels_that_exist(traffic: Traffic) -> None:
    asked = [(query, promql.read(query)) for query in queries()]
    labels = {
        name: set(traffic.after.labels(name)) | TARGET_LABELS for name in traffic.after.samples
    } | SYNTHETIC

    unknown = sorted({name for _, one in asked for name, _ in one.metrics if name not in labels})
    assert unknown == []
    strange = [
        query
        for query, one in asked
        if not {label for _, matchers in one.metrics for label, _, _ in matchers} | one.grouped_by
        <= set().union(*(labels[name] for name, _ in one.metrics))
        or any(label not in labels[name] for name, matchers in one.metrics for label, _, _ in matchers)
    ]
    assert strange == []
    assert len(asked) > 100


@requirement("metrics:watched")
def test_the_values_of_labels_that_are_asked_for_can_come(traffic: Traffic) -> None:
    can_come = {
        "grpc_code": {code.name for code in grpc.StatusCode},
        "reason": {name.removeprefix("ERROR_REASON_") for name in error_reason_pb2.ErrorReason.keys()},  # noqa: SIM118
        "job": {"satchel"},
    }
    for has, _ in (sample for samples in traffic.after.samples.values() for sample in samples):
        for label, value in has.items():
            can_come.setdefault(label, set()).add(value)

    wanted = [
        (label, value)
        for query in queries()
        for _, matchers in promql.read(query).metrics
        for label, _, values in matchers
        for value in values.split("|")
        if not value.startswith("$")
    ]
    assert [pair for pair in wanted if pair[1] not in can_come.get(pair[0], ())] == []
