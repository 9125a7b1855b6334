"""From the settings to a database: the only place that knows which kinds there are."""

from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from satchel.store.errors import StoreUnavailable
from satchel.store.ports import MemoryStore
from satchel.store.settings import StoreSettings

_MIB = 1 << 20


def open_store(settings: StoreSettings, *, now: int) -> AbstractAsyncContextManager[MemoryStore]:
    """Open the database that the settings name; ``now`` in microseconds.

    Raises:
        StoreUnavailable: the URL names no backend, or the database cannot be used.
    """
    scheme, _, place = settings.url.partition(":")
    match scheme:
        case "sqlite":
            from satchel.store.adapters.sqlite.connection import Options  # noqa: PLC0415  # only who uses it needs it
            from satchel.store.adapters.sqlite.store import SqliteStore  # noqa: PLC0415

            return SqliteStore.open(
                Options(
                    path=Path(place.removeprefix("//")).expanduser(),
                    synchronous=settings.synchronous,
                    busy_timeout_ms=settings.busy_timeout_ms,
                    cache_bytes=settings.cache_mib * _MIB,
                    mmap_bytes=settings.mmap_mib * _MIB,
                ),
                now=now,
                readers=settings.readers,
                max_waiting_reads=settings.max_waiting_reads,
                max_waiting_writes=settings.max_waiting_writes,
                max_group=settings.max_group,
                search_entries=settings.search_entries,
                versions_kept=settings.versions_kept,
                max_exports=settings.max_exports,
                sweep_after_s=settings.sweep_after_s,
            )
        case "memory" if not place:
            from satchel.store.adapters.memory.store import InMemoryStore  # noqa: PLC0415

            return nullcontext(
                InMemoryStore(search_entries=settings.search_entries, versions_kept=settings.versions_kept)
            )
        case _:
            raise StoreUnavailable(
                f"SATCHEL_STORE_URL names no backend that this Satchel has; it begins with '{scheme}'. "
                "Use 'sqlite:' and a file's path, or 'memory:' alone for one that ends with its process."
            )
