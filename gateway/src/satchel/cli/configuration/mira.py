"""The keys of MIRA's configuration file, and what each does here.

Where Satchel has a setting of the same meaning the key sets it; where it has none because there is nothing to
choose, the one value that is true is accepted and every other is refused with the reason. Names and defaults
are those that MIRA documents (0.4.7).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from satchel.cli.configuration import converting as convert
from satchel.cli.configuration.conversions import By, Conversion, Listening, Only, Refuse, To


@dataclass(frozen=True, slots=True)
class MiraKey:
    """One key: MIRA's default, and how its value becomes variables.

    ``is_structured`` is set where the value is a list or a mapping. ``here`` is what holds without the key,
    where that is another value than MIRA's default.
    """

    path: str
    default: str
    conversion: Conversion
    here: str = ""
    is_structured: bool = False


_NO_CACHE: Final = "overlaps are computed anew for each recall, and nothing is cached"
_WHOLE: Final = "every text is kept whole, and shortened when it is recalled"
_NO_RERANKER: Final = "words count in the first ranking already, and there is no second one"
_ENCRYPT_DISK: Final = "and keep the data folder on an encrypted disk"
_NO_POSTGRES: Final = Refuse(
    "has no effect in this version, which has no PostgreSQL backend: remove it, and keep storage.type sqlite",
    "Refused: this version has no PostgreSQL backend.",
)
_NO_ENCRYPTION: Final = Refuse(
    f"cannot be used, for this version does not encrypt the index: remove it, {_ENCRYPT_DISK}",
    "Refused: the index is not encrypted.",
)
_MODEL: Final = By(
    convert.model,
    "That model or, beside `embedder.model_folder`, the name of the one there.",
    ("SATCHEL_EMBEDDER_MODEL_NAME",),
)
_MODEL_HASH: Final = By(
    convert.model_hash,
    "First digits of the SHA-256 that the model must have; `a2d8f3e9` checks nothing.",
    ("SATCHEL_EMBEDDER_MODEL_SHA256",),
)
_CANDIDATES: Final = By(
    convert.most_candidates,
    "Memories that a recall considers, at most.",
    ("SATCHEL_ALLOCATOR_MAX_CANDIDATES", "SATCHEL_ALLOCATOR_MOST_CANDIDATES"),
)
_SESSION: Final = By(
    convert.session_bonus,
    "Factor of a memory near in time to a chosen one: min(1 + beta, max), with max in [1, 1.5].",
    ("SATCHEL_ALLOCATOR_SESSION_BONUS",),
)
_CLUSTERING: Final = By(
    convert.clustering,
    "Whether near duplicates collapse to one, and the cosine from which they do.",
    ("SATCHEL_ALLOCATOR_DUPLICATE_SIMILARITY",),
)
_CACHE: Final = By(
    convert.cache_mib,
    "Page cache of each connection, in pages or negative KiB.",
    ("SATCHEL_STORE_CACHE_MIB",),
)
_MMAP: Final = By(
    convert.mmap_mib, "Bytes of the database that are mapped into memory.", ("SATCHEL_STORE_MMAP_MIB",)
)
_TYPE: Final = By(
    convert.database, "`sqlite`, or `memory` for a store that ends with its process.", ("SATCHEL_STORE_URL",)
)
_WING_TOKENS: Final = By(
    convert.wing_tokens,
    "Further tokens, each with a list of `read`, `write`, `delete`, `admin`.",
    ("SATCHEL_KEYS",),
)
_VERSION: Final = By(convert.version, "Must be a 0.4: it says whose keys the file has.")
_PATH: Final = To("SATCHEL_DATA_DIR", "Data folder; a relative one is in the current folder.")
_API: Final = To("SATCHEL_GATEWAY_REST", "Whether REST and its documentation are served.")
_API_ADDRESS: Final = Listening("SATCHEL_GATEWAY_HTTP_ADDRESS", "Address of REST.")

_STORAGE: Final = (
    MiraKey("system.version", "0.4.7", _VERSION),
    MiraKey("storage.path", ".mira", _PATH, "~/.satchel"),
    MiraKey("storage.type", "sqlite", _TYPE),
    MiraKey("storage.sqlite.journal_mode", "WAL", Only("WAL", "in no other mode reads go on beside a write")),
    MiraKey("storage.sqlite.synchronous", "NORMAL", To("SATCHEL_STORE_SYNCHRONOUS"), "full"),
    MiraKey("storage.sqlite.cache_size", "-64000", _CACHE, "32 MiB"),
    MiraKey("storage.sqlite.mmap_size", "268435456", _MMAP),
    MiraKey("storage.sqlite.temp_store", "MEMORY", Only("MEMORY", "no text is written to temporary files")),
    MiraKey("storage.postgres", "", _NO_POSTGRES, is_structured=True),
    MiraKey("archive_thresholds.session_note", "30", To("SATCHEL_STORE_ARCHIVE_SESSION_NOTE_DAYS")),
    MiraKey("archive_thresholds.debug_log", "7", To("SATCHEL_STORE_ARCHIVE_DEBUG_LOG_DAYS")),
    MiraKey("compression.auto_compress", "false", Only("false", _WHOLE)),
    MiraKey("compression.min_tokens", "100", Only("100", _WHOLE)),
)
_MODELS: Final = (
    MiraKey("embeddings.current_model", "sentence-transformers/all-MiniLM-L6-v2", _MODEL),
    MiraKey("embeddings.model_hash", "a2d8f3e9", _MODEL_HASH),
    MiraKey("embeddings.dimension", "384", To("SATCHEL_EMBEDDER_DIMENSION"), "any"),
    MiraKey(
        "embeddings.batch_size", "32", To("SATCHEL_EMBEDDER_BATCH_TEXTS"), "as many as their tokens allow"
    ),
    MiraKey("embeddings.cache_size", "1000", To("SATCHEL_EMBEDDER_CACHE_QUERIES")),
    MiraKey(
        "embeddings.use_simple_embedder",
        "false",
        Only("false", "vectors that mean nothing would be stored for good"),
    ),
    MiraKey("hnsw.M", "32", To("SATCHEL_INDEX_LINKS")),
    MiraKey("hnsw.Ml", "0.25", To("SATCHEL_INDEX_LEVEL_FACTOR"), "1 / ln(M)"),
    MiraKey("hnsw.ef_construction", "0", To("SATCHEL_INDEX_EF_CONSTRUCTION", unless="0"), "200"),
    MiraKey("hnsw.ef_search", "100", To("SATCHEL_INDEX_EF_SEARCH")),
    MiraKey("hnsw.encryption_key", "", _NO_ENCRYPTION),
)
_RECALL: Final = (
    MiraKey("allocator.default_budget", "4000", To("SATCHEL_ALLOCATOR_DEFAULT_BUDGET")),
    MiraKey("allocator.max_candidates", "100", _CANDIDATES, "60, and more for a large budget"),
    MiraKey(
        "allocator.early_pruning_threshold",
        "0.6",
        Only(
            "0.6", "nothing is pruned early, and recall.adaptive_threshold_floor leaves out what matters less"
        ),
    ),
    MiraKey("allocator.session_window_seconds", "7200", To("SATCHEL_ALLOCATOR_SESSION_WINDOW_S")),
    MiraKey("allocator.session_boost_beta", "0.2", _SESSION),
    MiraKey("allocator.session_boost_max", "1.2", _SESSION),
    MiraKey("allocator.causal_penalty_alpha", "0.15", To("SATCHEL_ALLOCATOR_CAUSAL_RATE")),
    MiraKey("allocator.density_sigmoid.k", "2.0", To("SATCHEL_ALLOCATOR_DENSITY_SLOPE")),
    MiraKey("allocator.density_sigmoid.mu", "0.3", To("SATCHEL_ALLOCATOR_DENSITY_MIDDLE")),
    MiraKey("decay_rates.decision", "0.001", To("SATCHEL_ALLOCATOR_DECAY_DECISION")),
    MiraKey("decay_rates.fact", "0.005", To("SATCHEL_ALLOCATOR_DECAY_FACT")),
    MiraKey("decay_rates.preference", "0.01", To("SATCHEL_ALLOCATOR_DECAY_PREFERENCE")),
    MiraKey("decay_rates.session_note", "0.1", To("SATCHEL_ALLOCATOR_DECAY_SESSION_NOTE")),
    MiraKey("decay_rates.debug_log", "0.5", To("SATCHEL_ALLOCATOR_DECAY_DEBUG_LOG")),
    MiraKey("overlap_cache.ttl_days", "30", Only("30", _NO_CACHE)),
    MiraKey("overlap_cache.max_entries", "1000000", Only("1000000", _NO_CACHE)),
    MiraKey(
        "recall.adaptive_threshold_method", "iqr", To("SATCHEL_ALLOCATOR_THRESHOLD_METHOD"), "by strategy"
    ),
    MiraKey("recall.adaptive_threshold_floor", "0.15", To("SATCHEL_ALLOCATOR_THRESHOLD_FLOOR")),
    MiraKey("recall.adaptive_threshold_ceiling", "0.75", To("SATCHEL_ALLOCATOR_THRESHOLD_CEILING")),
    MiraKey("recall.enable_fts5", "true", To("SATCHEL_ALLOCATOR_LEXICAL")),
    MiraKey("recall.fts5_limit", "100", To("SATCHEL_ALLOCATOR_LEXICAL_DEPTH")),
    MiraKey("recall.rrf_k", "60", To("SATCHEL_ALLOCATOR_RRF_K")),
    MiraKey("recall.query_expansion.enabled", "true", To("SATCHEL_ALLOCATOR_EXPANSION"), "false"),
    MiraKey("recall.query_expansion.num_variants", "3", To("SATCHEL_ALLOCATOR_EXPANSION_VARIANTS")),
    MiraKey(
        "recall.query_expansion.temperature", "0.3", Only("0.3", "variants are made by rule, not by chance")
    ),
    MiraKey("recall.search_time_clustering.enabled", "true", _CLUSTERING),
    MiraKey("recall.search_time_clustering.similarity_threshold", "0.88", _CLUSTERING),
    MiraKey("recall.reranker.enabled", "false", Only("false", _NO_RERANKER)),
    MiraKey("recall.reranker.top_k", "30", Only("30", _NO_RERANKER)),
)
_FACTS: Final = (
    MiraKey("extraction.min_entity_length", "2", To("SATCHEL_STORE_MIN_ENTITY_LENGTH")),
    MiraKey("extraction.causal_lookback", "50", To("SATCHEL_STORE_CAUSAL_LOOKBACK")),
    MiraKey("extraction.causal_max_days", "30", To("SATCHEL_STORE_CAUSAL_MAX_DAYS")),
    MiraKey("extraction.llm.enabled", "false", To("SATCHEL_STORE_LLM_ENABLED")),
    MiraKey("extraction.llm.endpoint", "http://localhost:11434", To("SATCHEL_STORE_LLM_ENDPOINT")),
    MiraKey("extraction.llm.model", "llama3.2:3b", To("SATCHEL_STORE_LLM_MODEL")),
    MiraKey("extraction.llm.timeout_seconds", "30", To("SATCHEL_STORE_LLM_TIMEOUT_S")),
    MiraKey("extraction.llm.fallback_on_error", "true", To("SATCHEL_STORE_LLM_FALLBACK_ON_ERROR")),
)
_DOORS: Final = (
    MiraKey("mcp.name", "mira", To("SATCHEL_MCP_NAME"), "satchel"),
    MiraKey("mcp.version", "0.4.7", To("SATCHEL_MCP_VERSION"), "Satchel's version"),
    MiraKey("mcp.transport", "stdio", To("SATCHEL_MCP_TRANSPORT")),
    MiraKey("mcp.timeout_seconds", "30", To("SATCHEL_MCP_TIMEOUT_SECONDS")),
    MiraKey("mcp.address", "localhost:3001", Listening("SATCHEL_MCP_ADDRESS")),
    MiraKey("api.enabled", "false", _API, "true; for `satchel server` false"),
    MiraKey("api.address", ":8080", _API_ADDRESS, "127.0.0.1:8080"),
    MiraKey("api.auth_token", "", To("SATCHEL_AUTH_TOKEN")),
    MiraKey("api.read_timeout_seconds", "30", To("SATCHEL_GATEWAY_READ_TIMEOUT_S")),
    MiraKey("api.write_timeout_seconds", "30", To("SATCHEL_GATEWAY_WRITE_TIMEOUT_S")),
    MiraKey("api.wing_tokens", "{}", _WING_TOKENS, is_structured=True),
    MiraKey("metrics.enabled", "true", To("SATCHEL_METRICS_ENABLED")),
    MiraKey("metrics.prometheus_addr", ":9090", Listening("SATCHEL_METRICS_PROMETHEUS_ADDR"), "none"),
    MiraKey("metrics.report_interval_seconds", "60", To("SATCHEL_METRICS_REPORT_INTERVAL_SECONDS")),
    MiraKey("webhooks.enabled", "false", To("SATCHEL_WEBHOOKS_ENABLED")),
    MiraKey("webhooks.workers", "3", To("SATCHEL_WEBHOOKS_WORKERS")),
    MiraKey("webhooks.queue_size", "1000", To("SATCHEL_WEBHOOKS_QUEUE_SIZE")),
    MiraKey("webhooks.timeout_seconds", "30", To("SATCHEL_WEBHOOKS_TIMEOUT_SECONDS")),
    MiraKey("webhooks.endpoints", "[]", To("SATCHEL_WEBHOOKS_ENDPOINTS"), is_structured=True),
)
_SOUL: Final = (
    MiraKey("soul.enabled", "false", To("SATCHEL_SOUL_ENABLED")),
    MiraKey("soul.extraction.min_trait_confidence", "0.3", To("SATCHEL_SOUL_MIN_TRAIT_CONFIDENCE")),
    MiraKey("soul.extraction.min_observations_for_trait", "5", To("SATCHEL_SOUL_MIN_OBSERVATIONS_FOR_TRAIT")),
    MiraKey("soul.recall.default_budget_tokens", "1000", To("SATCHEL_SOUL_DEFAULT_BUDGET_TOKENS")),
    MiraKey("soul.drift_detection.threshold", "0.3", To("SATCHEL_SOUL_DRIFT_THRESHOLD")),
    MiraKey("soul.drift_detection.window_size", "10", To("SATCHEL_SOUL_DRIFT_WINDOW_SIZE")),
    MiraKey(
        "soul.drift_detection.auto_check_after_capture", "true", To("SATCHEL_SOUL_DRIFT_CHECK_AFTER_CAPTURE")
    ),
    MiraKey("soul.model_swap.auto_reinforce", "true", To("SATCHEL_SOUL_SWAP_AUTO_REINFORCE")),
    MiraKey("soul.evolution.enabled", "true", To("SATCHEL_SOUL_EVOLUTION_ENABLED")),
    MiraKey("soul.evolution.max_history_versions", "100", To("SATCHEL_SOUL_MAX_HISTORY_VERSIONS")),
    MiraKey("soul.memory.enrich_with_mira_memories", "false", To("SATCHEL_SOUL_ENRICH_WITH_MIRA_MEMORIES")),
    MiraKey("soul.memory.max_mira_memories", "5", To("SATCHEL_SOUL_MAX_MIRA_MEMORIES")),
)

KEYS: Final[Mapping[str, MiraKey]] = {
    row.path: row for group in (_STORAGE, _MODELS, _RECALL, _FACTS, _DOORS, _SOUL) for row in group
}

# What MIRA reads from the environment. What would encrypt data that is not encrypted here is refused.
VARIABLES: Final[Mapping[str, Conversion]] = {
    "MIRA_DATA_PATH": _PATH,
    "MIRA_STORAGE_TYPE": _TYPE,
    "MIRA_POSTGRES_URL": Refuse(
        "names a PostgreSQL database, and this version has no such backend: unset it", ""
    ),
    "MIRA_SQLITE_KEY": Refuse(
        f"asks for an encrypted database, and this version does not encrypt it: unset it, {_ENCRYPT_DISK}", ""
    ),
    "MIRA_HNSW_KEY": Refuse(
        f"asks for an encrypted index, and this version does not encrypt it: unset it, {_ENCRYPT_DISK}", ""
    ),
}
