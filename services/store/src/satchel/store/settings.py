"""Settings of the store: environment variables ``SATCHEL_STORE_*``."""

from dataclasses import dataclass
from typing import Literal

from satchel.runtime.settings import Secret, setting
from satchel.store.model import MESSAGE_BYTES

PREFIX = "SATCHEL_STORE"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """How the store keeps its data; see the descriptions of the fields."""

    url: str = setting(
        "sqlite:satchel.db",
        "Database: 'sqlite:' and a file's path, or 'memory:' for one that ends with its process.",
    )
    synchronous: Literal["full", "normal"] = setting(
        "full",
        "Whether an acknowledged write survives a power cut (full) or only a crash of the process (normal).",
    )
    readers: int = setting(4, "Number of connections that read at the same time.", minimum=1, maximum=64)
    max_waiting_reads: int = setting(
        1024, "Greatest number of reads that wait for a connection.", minimum=1, maximum=1_000_000
    )
    max_waiting_writes: int = setting(
        4096, "Greatest number of writes that wait for the next commit.", minimum=1, maximum=1_000_000
    )
    max_group: int = setting(256, "Greatest number of writes in one commit.", minimum=1, maximum=10_000)
    busy_timeout_ms: int = setting(
        5000, "Milliseconds to wait for a lock that another process holds.", minimum=0, maximum=600_000
    )
    cache_mib: int = setting(32, "Page cache of each connection in MiB.", minimum=1, maximum=4096)
    mmap_mib: int = setting(
        256, "Part of the database that is mapped into memory, in MiB.", minimum=0, maximum=65_536
    )
    message_bytes: int = setting(
        MESSAGE_BYTES,
        "Bytes at which a message of a stream, a page of a list or an answer by ids ends; what a recall "
        "fetches at ten times that. gRPC libraries accept 4 MiB unless they are told otherwise.",
        minimum=1,
        maximum=6_291_456,
    )
    max_exports: int = setting(4, "Greatest number of exports at the same time.", minimum=1, maximum=64)
    embed_timeout_s: float = setting(
        10.0,
        "Seconds to wait for the embedder before a memory is stored without vectors.",
        minimum=0.1,
        maximum=600,
    )
    import_timeout_s: float = setting(
        120.0, "Seconds to wait for the embedder for one batch of an import.", minimum=1, maximum=3600
    )
    import_batch: int = setting(
        256, "Greatest number of memories of an import that are embedded together.", minimum=1, maximum=256
    )
    import_ahead: int = setting(
        2, "Batches of an import that are embedded while one is written.", minimum=1, maximum=16
    )
    retry_first_s: float = setting(
        0.5,
        "Seconds before pending memories are tried again after a first failure.",
        minimum=0.01,
        maximum=60,
    )
    retry_longest_s: float = setting(
        30.0, "Greatest number of seconds between two tries.", minimum=0.1, maximum=3600
    )
    versions_kept: int = setting(
        20, "Replaced versions that are kept of each memory.", minimum=0, maximum=1000
    )
    sweep_after_s: float = setting(
        600.0,
        "Seconds after a deletion or a change until the full-text index is rewritten without the old words.",
        minimum=0.001,
        maximum=604_800,
    )
    search_entries: int = setting(
        3000, "Index entries that the looser pass of a text search may read.", minimum=1, maximum=100_000_000
    )
    min_entity_length: int = setting(
        2, "Least length of a name that counts as an entity, in code points.", minimum=1, maximum=100
    )
    causal_lookback: int = setting(
        50,
        "Earlier memories of the wing among which causes are looked for; 0 for no search.",
        minimum=0,
        maximum=10_000,
    )
    causal_max_days: float = setting(
        30.0,
        "Greatest age of a cause, in days before its consequence; 0 for no search.",
        minimum=0,
        maximum=36_500,
    )
    archive_session_note_days: float = setting(
        30.0, "Age in days from which session notes are archived.", minimum=0, maximum=36_500
    )
    archive_debug_log_days: float = setting(
        7.0, "Age in days from which debug logs are archived.", minimum=0, maximum=36_500
    )
    archive_interval_hours: float = setting(
        24.0,
        "Hours between runs that archive by age in every project, from a minute after the start; 0 for none.",
        minimum=0,
        maximum=8760,
    )
    llm_enabled: bool = setting(
        False,  # noqa: FBT003  # a default
        "Whether a language model of yours extracts facts too, after a memory is stored.",
    )
    llm_api: Literal["ollama", "openai"] = setting(
        "ollama", "What the endpoint speaks: Ollama's own interface, or OpenAI's."
    )
    llm_endpoint: str = setting("http://localhost:11434", "URL of the language model's server.")
    llm_model: str = setting("llama3.2:3b", "Name of the language model.")
    llm_api_key: Secret | None = setting(None, "Key for the language model's server.")
    llm_timeout_s: float = setting(
        30.0, "Seconds that one answer of the language model may take.", minimum=0.1, maximum=3600
    )
    llm_fallback_on_error: bool = setting(
        True,  # noqa: FBT003  # a default
        "Whether the facts found by rules stay when the language model fails; without, they are removed.",
    )
    llm_max_concurrent: int = setting(
        1, "Memories that the language model reads at the same time.", minimum=1, maximum=64
    )
    listen: str = setting("127.0.0.1:50063", "Address to listen on; port 0 takes a free one.")
    embedder: str = setting("127.0.0.1:50061", "Address of the embedder.")
    api_key: Secret | None = setting(None, "Key for the embedder when the caller brings none.")


SOUL_PREFIX = "SATCHEL_SOUL"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoulSettings:
    """How identities of agents are kept; see the descriptions of the fields."""

    enabled: bool = setting(False, "Whether identities of agents are kept.")  # noqa: FBT003  # a default
    min_trait_confidence: float = setting(
        0.3, "Confidence from which a trait is shown.", minimum=0, maximum=1
    )
    min_observations_for_trait: int = setting(
        5, "Observations from which a trait is shown as one.", minimum=1, maximum=10_000
    )
    default_budget_tokens: int = setting(
        1000, "Tokens of an identity whose caller names no budget.", minimum=1, maximum=100_000
    )
    drift_threshold: float = setting(0.3, "Drift from which it is reported.", minimum=0, maximum=1)
    drift_window_size: int = setting(
        10, "Newest versions that drift is measured over.", minimum=2, maximum=1000
    )
    drift_check_after_capture: bool = setting(
        True,  # noqa: FBT003  # a default
        "Whether drift is measured after each capture.",
    )
    swap_auto_reinforce: bool = setting(
        True,  # noqa: FBT003  # a default
        "Whether a change of the model adds a text that reinforces the identity.",
    )
    evolution_enabled: bool = setting(
        True,  # noqa: FBT003  # a default
        "Whether a capture changes the identity that is there.",
    )
    max_history_versions: int = setting(
        100, "Versions of an identity that are kept.", minimum=1, maximum=10_000
    )
    enrich_with_mira_memories: bool = setting(
        False,  # noqa: FBT003  # a default
        "Whether memories are added to an identity that is recalled.",
    )
    max_mira_memories: int = setting(5, "Memories added to an identity, at most.", minimum=0, maximum=100)


WEBHOOK_PREFIX = "SATCHEL_WEBHOOKS"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRules:
    """Whether events are written, where they may go, and how often they are tried; see the descriptions."""

    enabled: bool = setting(False, "Whether events are written and sent.")  # noqa: FBT003  # a default
    queue_size: int = setting(
        1000,
        "Events that may wait for one endpoint; what finds the queue full is a dead letter at once.",
        minimum=1,
        maximum=1_000_000,
    )
    allow_private: bool = setting(
        False,  # noqa: FBT003  # a default
        "Whether endpoints may be on loopback or private addresses.",
    )
    max_tries: int = setting(8, "Tries of a delivery before it is a dead letter.", minimum=1, maximum=100)
    retry_first_s: float = setting(
        1.0, "Greatest number of seconds between the first and the second try.", minimum=0.01, maximum=3600
    )
    retry_longest_s: float = setting(
        3600.0, "Greatest number of seconds between the last two tries.", minimum=0.01, maximum=604_800
    )
