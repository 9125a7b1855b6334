"""What the embedder measures; the whole list is in docs/metrics.md."""

from satchel.runtime.metrics.families import SECONDS, SHORT_SECONDS, SIZES, Families

FAMILIES = Families("Embedder")

EMBED_SECONDS = FAMILIES.histogram(
    "mira_embed_duration_seconds", "Seconds that embedding took, waiting and cache included.", buckets=SECONDS
)
TEXTS = FAMILIES.counter("satchel_embedder_texts_total", "Texts that were embedded, by their role.", ["role"])
LOOKUPS = FAMILIES.counter(
    "satchel_embedder_cache_lookups_total",
    "Queries looked up in the cache, by result (hit, miss).",
    ["result"],
)
HITS, MISSES = LOOKUPS.labels("hit"), LOOKUPS.labels("miss")
QUEUE_SECONDS = FAMILIES.histogram(
    "satchel_embedder_queue_seconds",
    "Seconds that a request waited for its first batch, by lane (queries, passages).",
    ["lane"],
    buckets=SHORT_SECONDS,
)
BATCH_ROWS = FAMILIES.histogram(
    "satchel_embedder_batch_rows", "Rows in one batch of the model.", buckets=SIZES
)
BATCH_TOKENS = FAMILIES.histogram(
    "satchel_embedder_batch_tokens",
    "Tokens in one batch of the model, padding included.",
    buckets=(16, 64, 256, 1024, 2048, 4096, 8192, 16384, 32768),
)
INFERENCE_SECONDS = FAMILIES.histogram(
    "satchel_embedder_inference_seconds", "Seconds that the model took for one batch.", buckets=SHORT_SECONDS
)
