"""The port `ConsolidationStore` on one SQLite file."""

from collections.abc import Sequence
from functools import partial

from satchel.store.adapters.sqlite import merging
from satchel.store.adapters.sqlite.connection import ReaderPool
from satchel.store.adapters.sqlite.group_commit import GroupCommit
from satchel.store.consolidation_ports import Comparable, Merge
from satchel.store.model import Stored
from satchel.store.scope import Scope


class SqliteConsolidation:
    """See `satchel.store.consolidation_ports.ConsolidationStore`."""

    def __init__(self, writer: GroupCommit, readers: ReaderPool) -> None:
        self._writer = writer
        self._readers = readers

    async def comparable(self, scope: Scope, *, limit: int) -> Comparable:
        """See the port."""
        return await self._readers.run(partial(merging.comparable, scope=scope, limit=limit))

    async def merge(self, merges: Sequence[Merge], *, batch: str, now: int) -> tuple[Stored, ...]:
        """See the port."""
        return await self._writer.run(partial(merging.merge_all, merges=merges, batch=batch, now=now))
