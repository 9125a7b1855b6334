"""What can be set about the index; variables ``SATCHEL_INDEX_<FIELD>``. Pure: reads nothing."""

from dataclasses import dataclass
from pathlib import Path

from satchel.runtime.settings import Secret, setting

PREFIX = "SATCHEL_INDEX"


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings of one index. Without a folder it keeps no snapshot and rebuilds itself at every start."""

    listen: str = setting("127.0.0.1:50062", "Address that the process of its own listens on.")
    store: str = setting("127.0.0.1:50063", "Address of the store, for the process of its own.")
    api_key: Secret = setting(Secret(""), "Key for the store, for the process of its own.")
    folder: Path | None = setting(  # a declaration, as dataclasses.field is
        None, "Folder for the snapshot; it belongs to the index alone. Empty: no snapshot."
    )
    follow: bool = setting(
        True,  # noqa: FBT003  # a default
        "Whether the store's change feed is followed; without it, changes are pushed.",
    )
    links: int = setting(32, "Neighbours of a node of a graph (M of HNSW).", minimum=4, maximum=256)
    level_factor: float | None = setting(
        None,
        "Factor of the levels of a graph (mL of HNSW). Empty: 1 / ln(links), as published.",
        minimum=0.05,
        maximum=1.0,
    )
    ef_construction: int = setting(
        200, "Breadth of the walk that places a node (efConstruction of HNSW).", minimum=8, maximum=2000
    )
    ef_search: int = setting(
        100,
        "Least breadth of a walk (efSearch of HNSW); what each graph needs is measured from there.",
        minimum=8,
        maximum=10_000,
    )
    crossover: int = setting(
        12_000, "Passages from which a partition has a graph; below, every search is exact.", minimum=16
    )
    quiet_s: float = setting(
        2.0, "Seconds without changes after which few rows join a graph too.", minimum=0.001, maximum=600.0
    )
    search_threads: int = setting(2, "Searches that run at once.", minimum=1, maximum=256)
    search_queue: int = setting(256, "Searches that may wait; beyond, they are refused.", minimum=1)
    revision_wait_s: float = setting(
        2.0, "Longest wait for a revision before the store is asked instead.", minimum=0.0, maximum=60.0
    )
    snapshot_every: int = setting(10_000, "Changes after which a snapshot is written.", minimum=1)
    most_lag: int = setting(
        200_000, "Changes a snapshot may be behind; beyond, the index is rebuilt.", minimum=0
    )
    feed_batch: int = setting(200, "Changes in one response of the feed.", minimum=1, maximum=1000)
    feed_lifetime_s: float = setting(
        600.0, "Seconds after which the connection to the feed is renewed.", minimum=1.0
    )
    first_retry_s: float = setting(
        0.1, "Wait before the store is tried again; doubles each time.", minimum=0.001, maximum=60.0
    )
    longest_retry_s: float = setting(
        5.0, "Longest wait before the store is tried again.", minimum=0.001, maximum=600.0
    )
