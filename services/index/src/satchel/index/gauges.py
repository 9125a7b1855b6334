"""Shows the state of the index as gauges."""

from satchel.index import metrics
from satchel.index.board import State, Status
from satchel.index.engine import Engine


async def show_state(engine: Engine) -> None:
    """Set the gauges to what the index is now."""
    show(await engine.status())


def show(status: Status) -> None:
    """Set the gauges to a status."""
    for state in State:
        metrics.STATE.labels(state.value).set(state is status.state)
    metrics.APPLIED.set(status.applied_revision)
    metrics.HEAD.set(status.head_revision)
    metrics.LAG.set(max(0, status.head_revision - status.applied_revision))
    metrics.SNAPSHOT.set(status.snapshot_revision)
    metrics.PASSAGES.set(status.contents.passages)
    metrics.TOMBSTONES.set(status.contents.tombstones)
    metrics.MEMORY_BYTES.set(status.contents.memory_bytes)
    metrics.PROGRESS.set(status.rebuild_progress)
