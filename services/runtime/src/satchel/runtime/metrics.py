"""Provides Prometheus metrics of gRPC servers, with the names of go-grpc-middleware.

Source of the names: https://github.com/grpc-ecosystem/go-grpc-middleware (providers/prometheus), which
common dashboards expect.
"""

from functools import lru_cache

from prometheus_client import Counter, Gauge, Histogram

from satchel.runtime.methods import Method

_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_handled = Counter(
    "grpc_server_handled_total",
    "RPCs that ended, by their status code.",
    ("grpc_service", "grpc_method", "grpc_code"),
)
_seconds = Histogram(
    "grpc_server_handling_seconds",
    "Seconds from the start of an RPC to its end, streams included.",
    ("grpc_service", "grpc_method"),
    buckets=_BUCKETS_S,
)
_active = Gauge("grpc_server_active", "RPCs that run now.", ("grpc_service", "grpc_method"))


def begin_call(method: Method) -> None:
    """Count a call that begins."""
    _active_of(method).inc()


def end_call(method: Method, code: str, seconds: float) -> None:
    """Count a call that ended with ``code`` (a gRPC code name) after ``seconds``."""
    _active_of(method).dec()
    _handled_of(method, code).inc()
    _seconds_of(method).observe(seconds)


# Children are kept, since finding one by its labels costs more than counting.
@lru_cache(maxsize=1024)
def _active_of(method: Method) -> Gauge:
    return _active.labels(method.service, method.name)


@lru_cache(maxsize=1024)
def _seconds_of(method: Method) -> Histogram:
    return _seconds.labels(method.service, method.name)


@lru_cache(maxsize=4096)
def _handled_of(method: Method, code: str) -> Counter:
    return _handled.labels(method.service, method.name, code)
