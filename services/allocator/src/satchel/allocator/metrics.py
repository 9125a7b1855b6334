"""What the allocator measures; the whole list is in docs/metrics.md."""

from satchel.allocator.results import Receipt
from satchel.runtime.metrics.families import SECONDS, SHARES, SHORT_SECONDS, Families

FAMILIES = Families("Allocator")

RECALLS = FAMILIES.counter(
    "mira_recall_total",
    "Recalls that were begun, those that failed included. What is refused for its form is only in "
    "mira_errors_total.",
)
RECALL_SECONDS = FAMILIES.histogram(
    "mira_recall_duration_seconds", "Seconds that a recall took.", buckets=SECONDS
)
SELECTED = FAMILIES.counter("mira_recall_selected_total", "Memories that recalls chose.")
SEARCHES = FAMILIES.counter("mira_search_total", "Searches without a budget; counted as recalls are.")
SEARCH_SECONDS = FAMILIES.histogram(
    "mira_search_duration_seconds", "Seconds that a search without a budget took.", buckets=SECONDS
)

STAGE_SECONDS = FAMILIES.histogram(
    "satchel_allocator_stage_seconds",
    "Seconds that a stage of a recall or search took: embed, dense (search by meaning), lexical (by words), "
    "fetch, rank, allocate (choosing, rendering and counting). Some run at the same time.",
    ["stage"],
    buckets=SHORT_SECONDS,
)
EMBED, DENSE, LEXICAL, FETCH, RANK, ALLOCATE = (
    STAGE_SECONDS.labels(stage) for stage in ("embed", "dense", "lexical", "fetch", "rank", "allocate")
)
CANDIDATES = FAMILIES.histogram(
    "satchel_allocator_candidates",
    "Candidates that a recall looked at.",
    buckets=(0, 1, 5, 10, 25, 50, 100, 200, 400, 800, 1600),
)
BUDGET_USED = FAMILIES.histogram(
    "satchel_allocator_budget_used_ratio",
    "Part of its budget that a recall spent, in [0, 1].",
    buckets=SHARES,
)
EMPTY = FAMILIES.counter("satchel_allocator_empty_recalls_total", "Recalls that chose no memory.")
FALLBACKS = FAMILIES.counter(
    "satchel_allocator_fallback_recalls_total",
    "Recalls that a fallback wing answered, because the wing had nothing.",
)
DEGRADED = FAMILIES.counter(
    "satchel_allocator_degraded_total",
    "Recalls and searches that had to do without a part (embedder, index, lexical).",
    ["part"],
)
for _part in ("embedder", "index", "lexical"):
    DEGRADED.labels(_part)


def count_recall(receipt: Receipt) -> None:
    """Count what a recall came to."""
    SELECTED.inc(receipt.selected_count)
    CANDIDATES.observe(receipt.candidate_count)
    BUDGET_USED.observe(receipt.total_tokens / max(receipt.budget, 1))
    if not receipt.selected_count:
        EMPTY.inc()
    if receipt.fallback_wing:
        FALLBACKS.inc()
    count_degraded(receipt.degraded)


def count_degraded(parts: tuple[str, ...]) -> None:
    """Count an answer that lacked some parts."""
    for part in parts:
        DEGRADED.labels(part).inc()
