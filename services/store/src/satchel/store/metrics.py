"""What the store measures; the whole list is in docs/metrics.md."""

from satchel.runtime.metrics.calls import expect_errors
from satchel.runtime.metrics.families import SECONDS, SHORT_SECONDS, SIZES, Families

FAMILIES = Families("Store")

STORES = FAMILIES.counter(
    "mira_store_total",
    "Memories that were to be stored, alone, in a batch or by an import, those that failed included. What is "
    "refused for its form is only in mira_errors_total.",
)
STORE_SECONDS = FAMILIES.histogram(
    "mira_store_duration_seconds",
    "Seconds that storing a memory or a batch took, embedding included; imports are not in it.",
    buckets=SECONDS,
)
FACTS = FAMILIES.counter("mira_store_facts_total", "Facts found in the texts that were stored.")
STORED = FAMILIES.counter(
    "satchel_store_memories_stored_total",
    "Memories that were stored, by result: new, or a duplicate of one that is there.",
    ["result"],
)
NEW, DUPLICATE = STORED.labels("new"), STORED.labels("duplicate")
EMBEDDED_LATER = FAMILIES.counter(
    "satchel_store_late_embeddings_total", "Memories that got their vectors after they had been stored."
)
REEMBEDDED = FAMILIES.counter(
    "satchel_store_reembedded_memories_total",
    "Memories that got new vectors because the embedder had another model.",
)

MEMORY_COUNT = FAMILIES.gauge(
    "mira_memory_count", "Memories in the store, of all projects, archived ones too."
)
VECTOR_COUNT = FAMILIES.gauge("mira_vector_count", "Vectors in the store: one for each passage.")
ARCHIVED = FAMILIES.gauge("satchel_store_archived_memories", "Memories that are archived.")
PENDING = FAMILIES.gauge("satchel_store_pending_embeddings", "Memories that wait for their vectors.")
OUTDATED = FAMILIES.gauge(
    "satchel_store_outdated_embeddings", "Memories whose vectors are of another model than the one in use."
)
REVISION = FAMILIES.gauge("satchel_store_revision", "Newest revision: how many changes there have been.")
COUNTS = (MEMORY_COUNT, VECTOR_COUNT, ARCHIVED, PENDING, OUTDATED, REVISION)

COMMIT_WRITES = FAMILIES.histogram(
    "satchel_store_commit_writes", "Writes that one commit put on disk together.", buckets=SIZES
)
COMMIT_SECONDS = FAMILIES.histogram(
    "satchel_store_commit_seconds",
    "Seconds that one commit took, all its writes included.",
    buckets=SHORT_SECONDS,
)
FILE_BYTES = FAMILIES.gauge(
    "satchel_store_file_bytes", "Bytes of the database and of its write-ahead log (database, log).", ["file"]
)
DISK_FREE = FAMILIES.gauge(
    "satchel_store_disk_free_bytes", "Bytes that are free on the disk of the database."
)
FILES = (FILE_BYTES, DISK_FREE)

WEBHOOK_PENDING = FAMILIES.gauge(
    "satchel_webhook_pending_deliveries", "Events that wait for an endpoint, or are under way."
)
WEBHOOK_DEAD = FAMILIES.gauge(
    "satchel_webhook_dead_letters", "Events that were given up and can be sent again."
)
WEBHOOK_OVERFLOWS = FAMILIES.gauge(
    "satchel_webhook_overflows", "Events, ever, that became dead letters because a queue was full."
)
WEBHOOKS = (WEBHOOK_PENDING, WEBHOOK_DEAD, WEBHOOK_OVERFLOWS)

# Their first one calls for somebody.
expect_errors(
    "satchel.api.store.v1.MemoryService", "ERROR_REASON_STORE_FULL", "ERROR_REASON_STORE_UNAVAILABLE"
)
