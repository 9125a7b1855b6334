"""Shows the metrics of a process that has no HTTP door: at an address of their own, and in the log."""

import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from satchel.runtime.background import running
from satchel.runtime.keys import KeyRing
from satchel.runtime.metrics.reporting import report_totals
from satchel.runtime.metrics.settings import PREFIX, MetricsSettings
from satchel.runtime.settings import SettingsError

_log = logging.getLogger("satchel.metrics")


@asynccontextmanager
async def showing_metrics(
    settings: MetricsSettings, ring: KeyRing | None = None
) -> AsyncIterator[int | None]:
    """Report the totals in the log and, if the settings name an address, serve the metrics; yield the port.

    With keys in the ``ring`` whoever reads them needs one.

    Raises:
        SettingsError: nothing can listen on the address.
    """
    async with running(report_totals(settings.report_interval_seconds)):
        if settings.place is None:
            yield None
            return
        async with _serving(*settings.place, ring or KeyRing()) as port:
            yield port


@asynccontextmanager
async def _serving(host: str, port: int, ring: KeyRing) -> AsyncIterator[int]:
    # Only who serves metrics here needs an HTTP server.
    from satchel.runtime.metrics.listener import Listener  # noqa: PLC0415

    bound = _bound(host, port)
    listener = Listener(ring)
    async with running(listener.serve(sockets=[bound]), stop=listener.end):
        taken: int = bound.getsockname()[1]
        _log.info("metrics.started", extra={"host": host, "port": taken})
        yield taken


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, socket.SOCK_STREAM)
    except OSError as exc:
        raise _unusable(host, port) from exc
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen()
    except OSError as exc:
        bound.close()
        raise _unusable(host, port) from exc
    return bound


def _unusable(host: str, port: int) -> SettingsError:
    return SettingsError(
        f"Nothing can listen on {host}:{port}, which {PREFIX}_PROMETHEUS_ADDR names for metrics: it is "
        "taken, or not of this machine. Give every process an address of its own; port 0 takes a free one."
    )
