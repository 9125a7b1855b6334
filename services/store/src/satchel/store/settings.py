"""Settings of the store: environment variables ``SATCHEL_STORE_*``."""

from dataclasses import dataclass
from typing import Literal

from satchel.runtime.settings import Secret, setting

PREFIX = "SATCHEL_STORE"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """How the store keeps its data; see the descriptions of the fields."""

    url: str = setting("sqlite:satchel.db", "Database: 'sqlite:' and a file's path.")
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
        8_388_608,
        "Bytes at which a message of a stream or a page of a list ends; an answer by ids at four times that.",
        minimum=1,
        maximum=12_582_912,
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
    listen: str = setting("127.0.0.1:50063", "Address to listen on; port 0 takes a free one.")
    embedder: str = setting("127.0.0.1:50061", "Address of the embedder.")
    api_key: Secret | None = setting(None, "Key for the embedder when the caller brings none.")
