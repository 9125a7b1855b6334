"""The HTTP server behind `satchel.runtime.metrics.serving`."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.runtime.keys import KeyRing
from satchel.runtime.metrics.scraping import exposition

_GRACE_S = 1
_CONNECTIONS = 64


class Listener(uvicorn.Server):
    """Answers ``GET /metrics`` and nothing else; leaves signals to whoever owns the process."""

    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring
        super().__init__(
            uvicorn.Config(
                Starlette(routes=[Route("/metrics", self._show)]),
                log_config=None,
                access_log=False,
                server_header=False,
                lifespan="off",
                limit_concurrency=_CONNECTIONS,
                timeout_graceful_shutdown=_GRACE_S,
            )
        )

    def end(self) -> None:
        """Let `serve` finish the requests under way and return."""
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    async def _show(self, request: Request) -> Response:
        if self._ring and self._ring.identify(request.headers.get("authorization", "")) is None:
            return Response(status_code=HTTPStatus.UNAUTHORIZED, headers={"www-authenticate": "Bearer"})
        text, media_type = await exposition(request.headers.get("accept", ""))
        return Response(text, headers={"content-type": media_type})
