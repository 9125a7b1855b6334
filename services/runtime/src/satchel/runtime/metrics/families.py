"""Declares metrics: the object that counts, and what the documentation tells of it.

Names and units follow https://prometheus.io/docs/practices/naming/. The values of every label come from a
list that does not grow with what is stored or asked: routes, RPCs, codes, reasons, parts; never wings, ids,
texts or paths.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

# Upper bounds of buckets: from a call in this process to a request that is given up.
SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SHORT_SECONDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
SHARES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)

# A series for each series, which says since when it counts; nothing here reads it.
disable_created_metrics()  # type: ignore[no-untyped-call]  # as the library has it

UNKNOWN: Final = float("nan")
"""The value of a gauge that cannot be read now: no comparison with it holds."""


@dataclass(frozen=True, slots=True)
class Family:
    """What is told of one metric; ``name`` is the one that queries use, of a histogram without suffixes."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    meaning: str


class Families:
    """The metrics that one part of Satchel declares, in their order; declare a name once in a process.

    ``title`` names the part in the documentation.
    """

    def __init__(self, title: str, registry: CollectorRegistry = REGISTRY) -> None:
        self.title = title
        self._registry = registry
        self._declared: list[Family] = []

    @property
    def declared(self) -> Sequence[Family]:
        """All that was declared so far."""
        return tuple(self._declared)

    def counter(self, name: str, meaning: str, labels: Sequence[str] = ()) -> Counter:
        """Declare what only grows; ``name`` ends with ``_total``.

        Raises:
            ValueError: it does not, or the name is taken.
        """
        if not name.endswith("_total"):
            raise ValueError(f"The name of the counter {name} must end with _total.")
        self._note(Family(name, "counter", tuple(labels), meaning))
        return Counter(name, meaning, labels, registry=self._registry)

    def gauge(self, name: str, meaning: str, labels: Sequence[str] = ()) -> Gauge:
        """Declare what goes up and down; without labels it is `UNKNOWN` until it is set.

        Raises:
            ValueError: the name is taken.
        """
        self._note(Family(name, "gauge", tuple(labels), meaning))
        made = Gauge(name, meaning, labels, registry=self._registry)
        if not labels:
            made.set(UNKNOWN)
        return made

    def histogram(
        self, name: str, meaning: str, labels: Sequence[str] = (), *, buckets: Sequence[float] = SECONDS
    ) -> Histogram:
        """Declare a distribution; ``buckets`` are inclusive upper bounds, ascending.

        Raises:
            ValueError: the name is taken.
        """
        self._note(Family(name, "histogram", tuple(labels), meaning))
        return Histogram(name, meaning, labels, registry=self._registry, buckets=buckets)

    def _note(self, family: Family) -> None:
        self._declared.append(family)
