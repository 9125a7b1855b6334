"""Reports in the log what was counted, for who has no Prometheus."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry

EVENT: Final = "metrics.report"

_log = logging.getLogger("satchel.metrics")

# What the process itself does is no news.
_OURS: Final = ("grpc_", "mira_", "satchel_")


async def report_totals(interval_s: float, registry: CollectorRegistry = REGISTRY) -> None:
    """Log by how much each counter grew, every ``interval_s`` seconds in which one did, until cancelled."""
    before = totals(registry)
    while True:
        await asyncio.sleep(interval_s)
        now = totals(registry)
        grown = {name: now[name] - before.get(name, 0.0) for name in now if now[name] > before.get(name, 0.0)}
        if grown:
            _log.info(EVENT, extra={"seconds": interval_s, **grown})
        before = now


def totals(registry: CollectorRegistry) -> Mapping[str, float]:
    """Return the total of every counter over all of its labels, by name."""
    found: dict[str, float] = {}
    for family in registry.collect():
        if family.type == "counter" and family.name.startswith(_OURS):
            counted = (sample.value for sample in family.samples if sample.name.endswith("_total"))
            found[f"{family.name}_total"] = sum(counted)
    return found
