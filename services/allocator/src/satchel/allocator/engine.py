"""The allocator's use cases over ports: recall, search, allocate, report."""

from collections.abc import Callable
from typing import TypeVar

from satchel.allocator.allocation import Order, allocate
from satchel.allocator.model import Allocation, Ranked
from satchel.allocator.packing import BlockCounts
from satchel.allocator.ports import Peers, SystemState
from satchel.allocator.recalling import RecallQuery, gather, ranked_of, spend
from satchel.allocator.receipts import Provenance
from satchel.allocator.reporting import report
from satchel.allocator.searching import Found, SearchQuery, search
from satchel.allocator.settings import AllocatorSettings
from satchel.runtime.executor import BoundedExecutor

R = TypeVar("R")


class Engine:
    """Answers for one allocator. Keeps nothing but token counts of blocks that were shown before."""

    def __init__(
        self, peers: Peers, settings: AllocatorSettings, counts: BlockCounts, workers: BoundedExecutor
    ) -> None:
        self._peers, self._settings = peers, settings
        self._counts, self._workers = counts, workers

    async def recall(self, query: RecallQuery) -> Allocation:
        """Answer a question within a budget.

        Raises:
            StoreUnreachable: the store does not answer.
            ServiceError: the wanted revision was not reached.
        """
        finding, wing = await gather(query, self._settings, self._peers)
        provenance = Provenance(finding.degraded, wing, finding.revision, finding.model_sha256)
        ranked = ranked_of(finding, query)
        return await self._run(ranked, lambda: spend(ranked, query, provenance, self._counts))

    async def search(self, query: SearchQuery) -> Found:
        """Find memories, best first. Raises as `recall`."""
        return await search(query, self._settings, self._peers)

    async def allocate(self, ranked: Ranked, order: Order) -> Allocation:
        """Pack the caller's own candidates."""
        return await self._run(ranked, lambda: allocate(ranked, order, self._counts))

    async def report(self, project: str) -> SystemState:
        """Return the state of all parts."""
        return await report(self._peers, project)

    async def _run(self, ranked: Ranked, work: Callable[[], R]) -> R:
        """Run small work at once and large work on a thread, so that it stalls nobody."""
        size = sum(map(len, ranked.columns.texts))
        if size <= self._settings.inline_code_points:
            return work()
        return await self._workers.run(work)
