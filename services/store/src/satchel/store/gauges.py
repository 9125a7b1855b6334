"""Shows what the store holds as gauges."""

from satchel.store import metrics
from satchel.store.engine.reading import Reading


async def show_counts(reading: Reading) -> None:
    """Set the gauges to the counts of all projects together."""
    status = await reading.status("")
    metrics.MEMORY_COUNT.set(status.memories)
    metrics.VECTOR_COUNT.set(status.passages)
    metrics.ARCHIVED.set(status.archived)
    metrics.PENDING.set(status.pending)
    metrics.OUTDATED.set(status.outdated)
    metrics.REVISION.set(status.head)
