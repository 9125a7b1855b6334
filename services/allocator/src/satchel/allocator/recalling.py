"""Recall: find, rank, allocate; in a fallback wing when the wing has nothing to offer."""

from dataclasses import dataclass, replace

import numpy as np

from satchel.allocator import metrics
from satchel.allocator.allocation import Order, allocate
from satchel.allocator.cues import asks_when
from satchel.allocator.dates import dated
from satchel.allocator.given import Session
from satchel.allocator.lazy import Lazy
from satchel.allocator.model import Ranked, Scored, StrategyName
from satchel.allocator.packing import BlockCounts
from satchel.allocator.ports import Loaded, Peers, Scope
from satchel.allocator.ranking import Depth, Place, Ranking, rank, reachable
from satchel.allocator.receipts import Provenance
from satchel.allocator.results import Allocation
from satchel.allocator.retrieving import RetrievalRequest, Retrieved, find
from satchel.allocator.selection.strategy import Terms
from satchel.allocator.settings import AllocatorSettings
from satchel.allocator.thresholds import KEPT_AT_LEAST
from satchel.allocator.tuning import Tuning
from satchel.runtime.telemetry import span

MAX_FETCHED = 1000


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A question, its budget, and what may be found."""

    query: str
    budget: int
    scope: Scope
    tuning: Tuning
    strategy: StrategyName
    now_us: int
    fallback_wings: tuple[str, ...] = ()
    session_id: str = ""
    explain: bool = False
    min_revision: int = 0
    skip_given: bool = False
    given_count: int = 0

    @property
    def session(self) -> Session:
        """The session that asks."""
        return (self.scope.project, self.session_id)


def retrieval_of(query: RecallQuery, settings: AllocatorSettings) -> RetrievalRequest:
    """Return how deep to search: a large budget holds more memories, so more are fetched for it.

    More still where the texts turn out to be short, so that the strategy has what to choose from, and as many
    more as the session was already given.
    """
    enough = min(query.budget // settings.tokens_per_candidate, MAX_FETCHED)
    limit = min(max(settings.max_candidates, enough) + query.given_count, MAX_FETCHED)
    leading = limit - settings.neighbors_not_of_last
    most = max(settings.most_candidates, limit)
    depth = max(limit, min(query.budget // settings.tokens_per_hit, most))
    return RetrievalRequest(
        query=query.query,
        scope=query.scope,
        tuning=query.tuning,
        dense_depth=max(settings.dense_depth, depth),
        lexical_depth=max(settings.lexical_depth, depth) if settings.lexical else 0,
        fetch_limit=limit,
        neighbor_count=settings.neighbor_count if query.tuning.neighbors else 0,
        neighbors_of_first=settings.neighbors_of_first and max(settings.neighbors_of_first, leading),
        min_revision=query.min_revision,
        fetch_most=most,
        least_tokens=int(settings.candidate_tokens * query.budget),
    )


async def gather(query: RecallQuery, settings: AllocatorSettings, peers: Peers) -> tuple[Retrieved, str]:
    """Search the wing, then each fallback wing until one has something; returns that wing, or nothing.

    If none has, what was found is that of the wing itself.
    """
    request = retrieval_of(query, settings)
    first = await find(request, peers)
    if first.loaded is not None:
        return first, ""
    for wing in query.fallback_wings:
        found = await find(replace(request, scope=replace(query.scope, wing=wing)), peers)
        if found.loaded is not None:
            return found, wing
    return first, ""


def ranked_of(retrieved: Retrieved, query: RecallQuery) -> Ranked:
    """Rank what was found; what may be chosen is read when it is looked at."""
    if retrieved.loaded is None:
        return Ranked((), np.zeros((0, 0), dtype=np.float32))
    with span("satchel.allocator.rank"), metrics.RANK.time():
        depth = Depth(
            0.0 if query.explain else reachable(query.tuning), max(KEPT_AT_LEAST, query.tuning.always_kept)
        )
        located = retrieved.loaded.located
        if retrieved.fresh is not None:
            located = replace(located, eligible=retrieved.fresh)
        ranking = rank(located, retrieved.evidence, query.tuning, collapsing=True, depth=depth)
        with_dates = query.tuning.resolve_dates and asks_when(query.query)
        return _loaded(ranking, retrieved.loaded, with_dates=with_dates)


def _loaded(ranking: Ranking, loaded: Loaded, *, with_dates: bool) -> Ranked:
    places, collapsed, ids = ranking.places, ranking.collapsed, loaded.located.ids

    def scored(place: Place) -> Scored:
        candidate = loaded.candidate(place.source, place.passage)
        shown = dated(candidate) if with_dates else candidate
        return Scored(shown, place.relevance, place.row, place.signals)

    def left_out(index: int) -> tuple[Scored, str]:
        place, better = collapsed[index]
        return scored(place), ids[better]

    return Ranked(
        items=Lazy(lambda index: scored(places[index]), len(places)),
        vectors=ranking.vectors,
        collapsed=Lazy(left_out, len(collapsed)),
        tail=ranking.tail,
        outline=loaded.outline(ranking.sources, ranking.relevances),
    )


def spend(ranked: Ranked, query: RecallQuery, provenance: Provenance, counts: BlockCounts) -> Allocation:
    """Allocate the budget to what was ranked."""
    order = Order(
        budget=query.budget,
        strategy=query.strategy,
        terms=Terms(query.tuning, query.now_us, query.session_id),
        explain=query.explain,
        provenance=provenance,
    )
    with (
        span("satchel.allocator.allocate", candidates=len(ranked.items), budget=query.budget),
        metrics.ALLOCATE.time(),
    ):
        return allocate(ranked, order, counts)
