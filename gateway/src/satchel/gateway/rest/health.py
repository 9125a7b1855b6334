"""Health for people, load balancers and orchestrators."""

from dataclasses import replace
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from satchel.gateway.clients import Clients
from satchel.gateway.health import Health, check_health
from satchel.gateway.http.responses import json_response
from satchel.gateway.http.routes import get_route
from satchel.gateway.transcoder.json_text import Json
from satchel.runtime.errors import Unauthenticated
from satchel.runtime.interceptors.auth import identified
from satchel.runtime.keys import KeyRing
from satchel.runtime.metrics.scraping import exposition


def health_routes(
    clients: Clients, ring: KeyRing | None = None, *, with_metrics: bool = True
) -> list[BaseRoute]:
    """Return the routes of health and, unless they are switched off, of metrics.

    Where the ``ring`` holds keys, only who sends one is told more than the state, and what memories there
    are only who reaches all of them.
    """
    keys = ring or KeyRing()

    async def show_health(request: Request) -> Response:
        health = await check_health(clients)
        return json_response(_told(health, keys, request), _status(is_ready=health.is_ready))

    async def show_live(_: Request) -> Response:
        return json_response({"status": "alive"})

    async def show_metrics(request: Request) -> Response:
        text, media_type = await exposition(request.headers.get("accept", ""))
        return Response(text, headers={"content-type": media_type})

    routes: list[BaseRoute] = [
        get_route("/health", show_health),
        get_route("/health/live", show_live),
        get_route("/health/ready", show_health),
    ]
    return [*routes, get_route("/metrics", show_metrics)] if with_metrics else routes


def _told(health: Health, keys: KeyRing, request: Request) -> dict[str, Json]:
    if not keys:
        return health.as_json()
    try:
        principal = identified(keys, request.headers.getlist("authorization"))
    except Unauthenticated:
        return health.state()
    return replace(health, memory_count=None).as_json() if principal.projects else health.as_json()


def _status(*, is_ready: bool) -> int:
    return HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
