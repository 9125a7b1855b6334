"""Measures a piece of work: counted when it begins, its seconds observed when it ends, well or not."""

import time
from types import TracebackType

from opentelemetry import trace
from prometheus_client import Counter, Histogram

from satchel.runtime import telemetry


class measured:  # noqa: N801  # used as a function
    """Surrounds the work as a ``with`` block; ``count`` is by how much ``total`` grows."""

    __slots__ = ("_began", "_count", "_seconds", "_total")

    def __init__(self, total: Counter | None, seconds: Histogram, *, count: int = 1) -> None:
        self._total = total
        self._seconds = seconds
        self._count = count

    def __enter__(self) -> None:
        if self._total is not None:
            self._total.inc(self._count)
        self._began = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._seconds.observe(time.perf_counter() - self._began, exemplar())


def exemplar() -> dict[str, str] | None:
    """Return the id of the current trace if it is exported, so that a bucket leads to an example.

    Costs next to nothing while nobody traces.
    """
    if not telemetry.is_active():
        return None
    current = trace.get_current_span()
    return {"trace_id": f"{current.get_span_context().trace_id:032x}"} if current.is_recording() else None
