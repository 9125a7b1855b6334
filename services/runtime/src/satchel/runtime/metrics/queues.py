"""Watches bounded queues: how full they are when somebody looks, and how often they refused."""

import threading
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from prometheus_client import Gauge

from satchel.runtime.metrics.families import Families

Owner = TypeVar("Owner")

FAMILIES = Families("Queues of every process")

DEPTH = FAMILIES.gauge(
    "satchel_queue_depth", "What waits or runs in a bounded queue, in the queue's own unit.", ["queue"]
)
LIMIT = FAMILIES.gauge("satchel_queue_limit", "Depth at which a bounded queue refuses.", ["queue"])
REJECTIONS = FAMILIES.counter(
    "satchel_queue_rejections_total", "Requests that a bounded queue refused because it was full.", ["queue"]
)


@dataclass(frozen=True, slots=True)
class _Queue:
    """``depth`` takes the owner, so that nothing here keeps it alive."""

    name: str
    limit: int
    depth: Callable[[Any], int]


_watched: "weakref.WeakKeyDictionary[object, tuple[_Queue, ...]]" = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def watch_queue(owner: Owner, name: str, *, limit: int, depth: Callable[[Owner], int]) -> None:
    """Show a queue for as long as its owner lives; queues of one name are added up.

    ``depth`` is called when metrics are read, on the event loop, and must not keep the owner alive.
    """
    REJECTIONS.labels(name)
    with _lock:
        _watched[owner] = (*_watched.get(owner, ()), _Queue(name, limit, depth))


def count_rejection(name: str) -> None:
    """Count a request that the queue refuses."""
    REJECTIONS.labels(name).inc()


def read_queues() -> None:
    """Set the gauges to what the queues hold now."""
    with _lock:
        found = [(owner, queue) for owner, queues in _watched.items() for queue in queues]
    _show(DEPTH, ((queue.name, queue.depth(owner)) for owner, queue in found))
    _show(LIMIT, ((queue.name, queue.limit) for _, queue in found))


def _show(gauge: Gauge, values: Iterable[tuple[str, int]]) -> None:
    sums: dict[str, int] = {}
    for name, value in values:
        sums[name] = sums.get(name, 0) + value
    gauge.clear()
    for name, value in sums.items():
        gauge.labels(name).set(value)
