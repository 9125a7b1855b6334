"""Provides Prometheus metrics of gRPC servers, with the names of go-grpc-middleware.

Source of the names: https://github.com/grpc-ecosystem/go-grpc-middleware (providers/prometheus), which
common dashboards expect.
"""

from prometheus_client import Counter

from satchel.api.errors.v1 import error_reason_pb2
from satchel.runtime.methods import Method, has_route
from satchel.runtime.metrics.families import Families
from satchel.runtime.metrics.measuring import exemplar

FAMILIES = Families("Every process that answers gRPC")

_handled = FAMILIES.counter(
    "grpc_server_handled_total",
    "RPCs that ended, by their status code.",
    ["grpc_service", "grpc_method", "grpc_code"],
)
_seconds = FAMILIES.histogram(
    "grpc_server_handling_seconds",
    "Seconds from the start of an RPC to its end, streams included.",
    ["grpc_service", "grpc_method"],
)
_active = FAMILIES.gauge("grpc_server_active", "RPCs that run now.", ["grpc_service", "grpc_method"])
_errors = FAMILIES.counter(
    "satchel_errors_total",
    "Errors that RPCs answered with, by reason (docs/errors.md, without ERROR_REASON_). One that a service "
    "passes on is counted there too.",
    ["grpc_service", "reason"],
)
FAILED_CALLS = FAMILIES.counter(
    "mira_errors_total",
    "Calls that failed, of RPCs that have a REST route, through whichever door, and records that an import "
    "refused. Calls that their client gave up are not counted.",
)

_CALM = frozenset({"OK", "CANCELLED"})
_PREFIX = "ERROR_REASON_"


class CallMeter:
    """Measures the calls of one method.

    Keeps the counters of its labels: finding one costs more than counting.
    """

    __slots__ = ("_active", "_by_code", "_has_route", "_method", "_seconds")

    def __init__(self, method: Method) -> None:
        labels = (method.service, method.name)
        self._method = method
        self._active = _active.labels(*labels)
        self._seconds = _seconds.labels(*labels)
        self._by_code: dict[str, Counter] = {}
        self._has_route = has_route(method)

    def begin(self) -> None:
        """Count a call that begins."""
        self._active.inc()

    def end(self, code: str, seconds: float) -> None:
        """Count a call that ended with ``code`` (a gRPC code name) after ``seconds``."""
        self._active.dec()
        self._seconds.observe(seconds, exemplar())
        handled = self._by_code.get(code)
        if handled is None:
            handled = self._by_code[code] = _handled.labels(self._method.service, self._method.name, code)
        handled.inc()
        if self._has_route and code not in _CALM:
            FAILED_CALLS.inc()


_meters: dict[str, CallMeter] = {}


def meter_of(method: Method) -> CallMeter:
    """Return the meter of a method, one for all servers of this process."""
    meter = _meters.get(method.path)
    if meter is None:
        meter = _meters[method.path] = CallMeter(method)
    return meter


def count_error(method: Method, reason: str) -> None:
    """Count an error by its reason; one that a stranger sent counts as ``OTHER``."""
    known = reason in error_reason_pb2.ErrorReason.keys()  # noqa: SIM118  # no mapping
    _errors.labels(method.service, reason.removeprefix(_PREFIX) if known else "OTHER").inc()


def expect_errors(service: str, *reasons: str) -> None:
    """Show errors of a service before the first one comes: of a series that begins at 1 no rise is seen."""
    for reason in reasons:
        _errors.labels(service, reason.removeprefix(_PREFIX))
