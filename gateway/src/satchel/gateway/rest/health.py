"""Health for people, load balancers and orchestrators."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from satchel.gateway.clients import Clients
from satchel.gateway.health import check_health
from satchel.gateway.http.responses import json_response
from satchel.gateway.http.routes import get_route
from satchel.gateway.metrics import GatewayMetrics

# Source: https://prometheus.io/docs/instrumenting/exposition_formats/
_EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def health_routes(clients: Clients, metrics: GatewayMetrics) -> list[BaseRoute]:
    """Return the routes of health and metrics."""

    async def show_health(_: Request) -> Response:
        health = await check_health(clients)
        return json_response(health.as_json(), _status(is_ready=health.is_ready))

    async def show_live(_: Request) -> Response:
        return json_response({"status": "alive"})

    async def show_metrics(_: Request) -> Response:
        health = await check_health(clients)
        if health.database == "pass":
            metrics.set_counts(memories=health.memory_count, vectors=health.vector_count)
        return Response(metrics.exposition(), media_type=_EXPOSITION_TYPE)

    return [
        get_route("/health", show_health),
        get_route("/health/live", show_live),
        get_route("/health/ready", show_health),
        get_route("/metrics", show_metrics),
    ]


def _status(*, is_ready: bool) -> int:
    return HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
