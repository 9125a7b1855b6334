"""The allocator's use cases over ports: recall, search, allocate, report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from satchel.allocator import metrics
from satchel.allocator.allocation import Order, allocate
from satchel.allocator.collapse import collapsed
from satchel.allocator.given import Given
from satchel.allocator.model import Form, Scored, Vectors
from satchel.allocator.packing import BlockCounts
from satchel.allocator.ports import Peers, SystemState
from satchel.allocator.recalling import RecallQuery, gather, ranked_of, spend
from satchel.allocator.receipts import Provenance
from satchel.allocator.reporting import report
from satchel.allocator.results import Allocation
from satchel.allocator.retrieving import Retrieved, find
from satchel.allocator.searching import Found, SearchQuery, found, retrieval_of
from satchel.allocator.settings import AllocatorSettings
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.metrics.measuring import measured

R = TypeVar("R")

# The usual rule for English.
_CODE_POINTS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class OwnCandidates:
    """What a caller wants packed: candidates in any order, and their vectors as in `Pool`."""

    items: Sequence[Scored]
    vectors: Vectors


class Engine:
    """Answers for one allocator.

    Keeps nothing but token counts of blocks that were shown before, and which memories sessions were given.
    """

    def __init__(
        self, peers: Peers, settings: AllocatorSettings, counts: BlockCounts, workers: BoundedExecutor
    ) -> None:
        self._peers, self._settings = peers, settings
        self._counts, self._workers = counts, workers
        self._given = Given()

    async def recall(self, query: RecallQuery) -> Allocation:
        """Answer a question within a budget.

        Raises:
            StoreUnreachable: the store does not answer.
            RevisionNotReached: what answered is older than the wanted revision.
            ServiceError: the index has not reached the wanted revision.
        """
        with measured(metrics.RECALLS, metrics.RECALL_SECONDS):
            allocation = await self._recall(query)
        if query.session_id:
            whole = [
                one.choice.item.candidate for one in allocation.shown if one.choice.form is Form.VERBATIM
            ]
            self._given.add(query.session, [(one.id, one.text) for one in whole])
        metrics.count_recall(allocation.receipt)
        return allocation

    async def _recall(self, query: RecallQuery) -> Allocation:
        retrieved, wing = await self._retrieve(query)
        provenance = Provenance(
            retrieved.degraded, wing, retrieved.revision, retrieved.model_sha256, retrieved.given_count
        )

        def work() -> Allocation:
            return spend(ranked_of(retrieved, query), query, provenance, self._counts)

        texts = retrieved.loaded.located.texts if retrieved.loaded else ()
        return await self._run(work, len(texts), _code_points(texts, query.budget, explain=query.explain))

    async def _retrieve(self, query: RecallQuery) -> tuple[Retrieved, str]:
        """Find memories, and see which of them the session was not given yet, where it does not want them."""
        if not query.skip_given:
            return await gather(query, self._settings, self._peers)
        wider = replace(query, given_count=self._given.count(query.session))
        retrieved, wing = await gather(wider, self._settings, self._peers)
        if retrieved.loaded is None:
            return retrieved, wing
        return replace(retrieved, fresh=self._given.fresh(query.session, retrieved.loaded.located)), wing

    async def search(self, query: SearchQuery) -> Found:
        """Find memories, best first. Raises as `recall`."""
        with measured(metrics.SEARCHES, metrics.SEARCH_SECONDS):
            best = await self._search(query)
        metrics.count_degraded(best.degraded)
        return best

    async def _search(self, query: SearchQuery) -> Found:
        retrieved = await find(retrieval_of(query, self._settings), self._peers)
        count = len(retrieved.loaded.located.ids) if retrieved.loaded else 0
        return await self._run(lambda: found(retrieved, query), count)

    async def allocate(self, own: OwnCandidates, order: Order) -> Allocation:
        """Pack the caller's own candidates; near duplicates collapse where there are vectors."""

        def work() -> Allocation:
            similarity = order.terms.tuning.duplicate_similarity
            return allocate(collapsed(own.items, own.vectors, similarity), order, self._counts)

        # Nobody has counted the tokens of these.
        size = sum(len(item.candidate.text) for item in own.items)
        return await self._run(work, len(own.items), size)

    async def report(self, project: str) -> SystemState:
        """Return the state of all parts."""
        return await report(self._peers, project)

    async def _run(self, work: Callable[[], R], candidates: int, code_points: int = 0) -> R:
        """Run small work at once and large work on a thread, so that it stalls nobody."""
        settings = self._settings
        if candidates <= settings.inline_candidates and code_points <= settings.inline_code_points:
            return work()
        return await self._workers.run(work)


def _code_points(texts: Sequence[str], budget: int, *, explain: bool) -> int:
    """Return about how many code points a recall has to count the tokens of.

    The stored count of a text of one line saves counting it, unless every candidate is explained. The context
    is counted as a whole, and has at most so many code points as texts and budget allow.
    """
    total = sum(map(len, texts))
    uncounted = total if explain else sum(len(text) for text in texts if "\n" in text)
    return uncounted + min(total, _CODE_POINTS_PER_TOKEN * budget)
