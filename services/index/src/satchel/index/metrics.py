"""What the index measures; the whole list is in docs/metrics.md."""

from satchel.index.ports import Effort
from satchel.runtime.metrics.families import SHORT_SECONDS, Families

FAMILIES = Families("Index")

STATE = FAMILIES.gauge(
    "satchel_index_state",
    "1 for the state that the index is in (loading, rebuilding, ready, disconnected), 0 for the others.",
    ["state"],
)
APPLIED = FAMILIES.gauge("satchel_index_applied_revision", "Newest revision of the store that is searched.")
HEAD = FAMILIES.gauge("satchel_index_head_revision", "Newest revision of the store that the index knows of.")
LAG = FAMILIES.gauge("satchel_index_lag_revisions", "Revisions of the store that are still to be applied.")
SNAPSHOT = FAMILIES.gauge("satchel_index_snapshot_revision", "Revision of the last snapshot; 0 for none.")
PASSAGES = FAMILIES.gauge("satchel_index_passages", "Passages that can be found.")
TOMBSTONES = FAMILIES.gauge("satchel_index_tombstones", "Passages that are gone and still take space.")
MEMORY_BYTES = FAMILIES.gauge("satchel_index_memory_bytes", "Bytes of vectors, graphs and columns in memory.")
PROGRESS = FAMILIES.gauge(
    "satchel_index_rebuild_progress", "Part of a rebuild that is done, in [0, 1]; 1 while there is none."
)
GAUGES = (STATE, APPLIED, HEAD, LAG, SNAPSHOT, PASSAGES, TOMBSTONES, MEMORY_BYTES, PROGRESS)

REBUILDS = FAMILIES.counter("satchel_index_rebuilds_total", "Rebuilds that were begun, for whatever reason.")
CHANGES = FAMILIES.counter("satchel_index_changes_total", "Changes of the store that were applied.")
SNAPSHOTS = FAMILIES.counter(
    "satchel_index_snapshots_total", "Snapshots by what came of them (written, failed).", ["result"]
)
WRITTEN, FAILED = SNAPSHOTS.labels("written"), SNAPSHOTS.labels("failed")
BUILD_SECONDS = FAMILIES.histogram(
    "satchel_index_graph_build_seconds",
    "Seconds that building one graph took.",
    buckets=(0.1, 0.5, 1, 5, 15, 60, 300, 900),
)
ANSWERS = FAMILIES.counter(
    "satchel_index_answers_total",
    "Searches that were answered, by what answered: the index itself, the store in its place, or a snapshot "
    "while the store is away.",
    ["source"],
)
FROM_INDEX, FROM_STORE, FROM_SNAPSHOT = (ANSWERS.labels(name) for name in ("index", "store", "snapshot"))
SEARCH_SECONDS = FAMILIES.histogram(
    "satchel_index_search_seconds",
    "Seconds that a search in memory took, waiting included.",
    buckets=SHORT_SECONDS,
)
WALK_BREADTH = FAMILIES.histogram(
    "satchel_index_walk_breadth",
    "Breadth (efSearch of HNSW) of the walk of a graph that found enough.",
    buckets=(16, 32, 64, 100, 128, 192, 256, 384, 512, 1024, 2048, 4096),
)
COMPARED_ROWS = FAMILIES.histogram(
    "satchel_index_compared_rows",
    "Passages that one exact comparison looked at.",
    buckets=(16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131072),
)


class MeasuredEffort(Effort):
    """Observes the effort of searches."""

    def note_walk(self, breadth: int) -> None:
        """See `Effort`."""
        WALK_BREADTH.observe(breadth)

    def note_compared(self, rows: int) -> None:
        """See `Effort`."""
        COMPARED_ROWS.observe(rows)
