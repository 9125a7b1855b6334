"""What the doors measure; the whole list is in docs/metrics.md.

MIRA's names are those of the parts that do the work, so that they count what comes through any door.
"""

from typing import Final

from satchel.gateway.transcoder.descriptors import Rpc
from satchel.runtime.metrics.calls import FAILED_CALLS
from satchel.runtime.metrics.families import Families
from satchel.runtime.metrics.measuring import exemplar

FAMILIES = Families("Gateway")

_REQUESTS = FAMILIES.counter(
    "satchel_http_requests_total",
    "Requests for REST, by the template of their route (unknown for none) and status.",
    ["method", "route", "status"],
)
_REQUEST_SECONDS = FAMILIES.histogram(
    "satchel_http_request_duration_seconds",
    "Seconds from a request for REST to its answer.",
    ["method", "route"],
)
_REFUSALS = FAMILIES.counter(
    "satchel_http_refusals_total",
    "Requests that a guard refused before any route saw them, by reason: host, key, rate, number, verb.",
    ["reason"],
)
_TOOL_CALLS = FAMILIES.counter(
    "satchel_mcp_tool_calls_total", "Calls of MCP tools, by outcome (ok, error).", ["tool", "outcome"]
)
_CALLS = FAMILIES.counter(
    "satchel_gateway_calls_total", "RPCs that the doors made, by status code.", ["rpc", "code"]
)
_CALL_SECONDS = FAMILIES.histogram(
    "satchel_gateway_call_duration_seconds", "Seconds that RPCs of the doors took.", ["rpc"]
)

_DELIVERIES = FAMILIES.counter(
    "satchel_webhook_tries_total", "Tries to send an event, by outcome (delivered, failed).", ["outcome"]
)
_DELIVERED, _FAILED = _DELIVERIES.labels("delivered"), _DELIVERIES.labels("failed")
_DELIVERY_SECONDS = FAMILIES.histogram(
    "satchel_webhook_duration_seconds", "Seconds from the connection to an endpoint to its answer."
)

# A client may send any word as a verb, and each would be a series of its own.
_VERBS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER: Final = "OTHER"


class GatewayMetrics:
    """Counts for all gateways of this process."""

    tool_calls = _TOOL_CALLS

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request for REST; ``route`` is a template of the contract, or one word for all others."""
        verb = method if method in _VERBS else _OTHER
        _REQUESTS.labels(verb, route, str(status)).inc()
        _REQUEST_SECONDS.labels(verb, route).observe(seconds, exemplar())

    def count_call(self, rpc: Rpc, code: str, seconds: float) -> None:
        """Count an RPC that ended with ``code`` (a gRPC code name) after ``seconds``."""
        _CALLS.labels(rpc.full_name, code).inc()
        _CALL_SECONDS.labels(rpc.full_name).observe(seconds, exemplar())

    @staticmethod
    def count_unanswered() -> None:
        """Count a call that failed before a service took it, which therefore no service has counted."""
        FAILED_CALLS.inc()


def count_delivery(*, is_delivered: bool, seconds: float) -> None:
    """Count a try to send an event."""
    (_DELIVERED if is_delivered else _FAILED).inc()
    _DELIVERY_SECONDS.observe(seconds, exemplar())


def count_refusal(reason: str) -> None:
    """Count a request that was refused outside of every route; ``reason`` is one of the published ones."""
    _REFUSALS.labels(reason.removeprefix("ERROR_REASON_")).inc()
