"""Answers who reads the metrics: gauges are read from what they tell of, and everything becomes text."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from prometheus_client import REGISTRY, Gauge
from prometheus_client.exposition import choose_encoder

from satchel.runtime.metrics.families import UNKNOWN, Families
from satchel.runtime.metrics.queues import read_queues

_log = logging.getLogger("satchel.metrics")

# A scrape is given up after ten seconds by default, and the rest of the metrics should come through.
_TIMEOUT_S: Final = 2.0

FAMILIES = Families("Every process")
BUILD = FAMILIES.gauge("satchel_build_info", "1, with the version of Satchel as its label.", ["version"])
FAILED_READINGS = FAMILIES.counter(
    "satchel_metrics_failed_readings_total",
    "Gauges that could not be read in time; they are left out.",
    ["part"],
)


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    part: str
    gauges: Sequence[Gauge]
    read: Callable[[], Awaitable[None]]


_readings: list[_Reading] = []


@contextmanager
def read_at_scrape(part: str, gauges: Sequence[Gauge], read: Callable[[], Awaitable[None]]) -> Iterator[None]:
    """Call ``read``, which sets the gauges, whenever the metrics are asked for during the ``with`` block.

    Where it fails or takes too long, and after the block, the gauges are unknown: NaN, or gone where they
    have labels. ``part`` names the reading in the log and in a metric.
    """
    reading = _Reading(part, gauges, read)
    FAILED_READINGS.labels(part)
    _readings.append(reading)
    try:
        yield
    finally:
        _readings.remove(reading)
        _forget(gauges)


async def exposition(accept: str = "", *, timeout_s: float = _TIMEOUT_S) -> tuple[bytes, str]:
    """Return all metrics of this process, and their media type: OpenMetrics if ``accept`` asks for it.

    Only OpenMetrics carries exemplars. No gauge is waited for longer than ``timeout_s``.
    """
    BUILD.labels(version("satchel")).set(1)
    read_queues()
    await asyncio.gather(*(_read(reading, timeout_s) for reading in tuple(_readings)))
    encode, media_type = choose_encoder(accept)
    # Thousands of lines take milliseconds, which requests need not wait for.
    return await asyncio.to_thread(encode, REGISTRY), media_type


async def _read(reading: _Reading, timeout_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            await reading.read()
    except Exception as error:  # noqa: BLE001  # one part that fails must not hide the others
        _log.warning("metrics.reading_failed", extra={"part": reading.part, "error": type(error).__name__})
        FAILED_READINGS.labels(reading.part).inc()
        _forget(reading.gauges)


def _forget(gauges: Sequence[Gauge]) -> None:
    for gauge in gauges:
        if gauge._labelnames:  # noqa: SLF001  # the library tells it nowhere else
            gauge.clear()
        else:
            gauge.set(UNKNOWN)
