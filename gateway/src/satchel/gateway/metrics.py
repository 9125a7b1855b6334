"""Prometheus metrics of the doors, under names of our own and under the names that MIRA documents."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from google.protobuf.message import Message
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector

from satchel.gateway.transcoder.descriptors import Rpc

_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

# Which RPCs MIRA's names count.
_MIRA_KINDS: Final = {
    "satchel.api.store.v1.MemoryService/StoreMemory": "store",
    "satchel.api.store.v1.MemoryService/BatchStoreMemories": "store",
    "satchel.api.allocator.v1.AllocatorService/Recall": "recall",
    "satchel.api.allocator.v1.AllocatorService/SearchMemories": "search",
}
_EMBEDDER: Final = {"grpc_service": "satchel.api.embedder.v1.EmbedderService", "grpc_method": "EmbedTexts"}


class GatewayMetrics:
    """The metrics of one gateway, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "satchel_http_requests",
            "HTTP requests, by status.",
            ("method", "route", "status"),
            registry=registry,
        )
        self.request_seconds = Histogram(
            "satchel_http_request_duration_seconds",
            "Seconds from the request to its answer.",
            ("method", "route"),
            registry=registry,
            buckets=_BUCKETS_S,
        )
        self.tool_calls = Counter(
            "satchel_mcp_tool_calls",
            "Calls of MCP tools, by outcome.",
            ("tool", "outcome"),
            registry=registry,
        )
        self._calls = Counter(
            "satchel_gateway_calls",
            "RPCs that the doors made, by status code.",
            ("rpc", "code"),
            registry=registry,
        )
        self._mira = _MiraMetrics(registry)
        registry.register(_EmbedSeconds())

    def count_call(self, rpc: Rpc, code: str, seconds: float) -> None:
        """Count an RPC that ended with ``code`` (a gRPC code name) after ``seconds``."""
        self._calls.labels(rpc.full_name, code).inc()
        kind = _MIRA_KINDS.get(rpc.full_name)
        if code != "OK":
            self._mira.errors.inc()
        if kind is not None:
            self._mira.totals[kind].inc()
            self._mira.seconds[kind].observe(seconds)

    def count_answer(self, rpc: Rpc, response: Message) -> None:
        """Count what a successful answer tells: facts that were stored, memories that were chosen."""
        kind = _MIRA_KINDS.get(rpc.full_name)
        if kind == "store":
            self._mira.facts.inc(sum(item.fact_count for item in _stored(response)))
        elif kind == "recall":
            self._mira.selected.inc(len(_field(response, "memories")))

    def set_counts(self, *, memories: int, vectors: int) -> None:
        """Set how many memories and vectors the store holds."""
        self._mira.memory_count.set(memories)
        self._mira.vector_count.set(vectors)

    def exposition(self) -> bytes:
        """Return all metrics of this process in the text format."""
        return generate_latest(self.registry) + generate_latest(REGISTRY)


class _MiraMetrics:
    """The metrics that dashboards of MIRA read."""

    def __init__(self, registry: CollectorRegistry) -> None:
        kinds = ("store", "recall", "search")
        self.totals = {
            kind: Counter(f"mira_{kind}", f"Calls of {kind}, failed ones included.", registry=registry)
            for kind in kinds
        }
        self.seconds = {
            kind: Histogram(
                f"mira_{kind}_duration_seconds",
                f"Seconds that {kind} took.",
                registry=registry,
                buckets=_BUCKETS_S,
            )
            for kind in kinds
        }
        self.errors = Counter("mira_errors", "Calls that failed.", registry=registry)
        self.facts = Counter("mira_store_facts", "Facts found in stored texts.", registry=registry)
        self.selected = Counter("mira_recall_selected", "Memories chosen by recalls.", registry=registry)
        self.memory_count = Gauge("mira_memory_count", "Memories in the store.", registry=registry)
        self.vector_count = Gauge("mira_vector_count", "Vectors in the store.", registry=registry)


class _EmbedSeconds(Collector):
    """MIRA's name for the embedder's own figures, when the embedder runs in this process."""

    def collect(self) -> Iterable[HistogramMetricFamily]:
        """Read them from the metrics of the gRPC server."""
        buckets: list[tuple[str, float | None]] = []
        total = 0.0
        for name, labels, value in _server_samples():
            if name.endswith("_bucket"):
                buckets.append((labels["le"], value))
            elif name.endswith("_sum"):
                total = value
        yield HistogramMetricFamily(
            "mira_embed_duration_seconds",
            "Seconds that embedding took, of an embedder in this process.",
            buckets=[(bound, count or 0.0) for bound, count in buckets] or [("+Inf", 0.0)],
            sum_value=total,
        )


def _server_samples() -> Iterator[tuple[str, dict[str, str], float]]:
    for family in REGISTRY.collect():
        if family.name == "grpc_server_handling_seconds":
            for sample in family.samples:
                if _EMBEDDER.items() <= sample.labels.items():
                    yield sample.name, sample.labels, sample.value


def _stored(response: Message) -> Iterable[Any]:
    return _field(response, "memories") if "memories" in response.DESCRIPTOR.fields_by_name else (response,)


def _field(message: Message, name: str) -> Any:  # noqa: ANN401
    return getattr(message, name)
