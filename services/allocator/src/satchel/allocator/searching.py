"""Search without a budget: what to retrieve, and the best of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from satchel.allocator import metrics
from satchel.allocator.model import Candidate
from satchel.allocator.ports import Scope
from satchel.allocator.ranking import Depth, Place, rank
from satchel.allocator.retrieving import RetrievalRequest, Retrieved
from satchel.allocator.settings import AllocatorSettings
from satchel.allocator.tuning import Tuning
from satchel.runtime.telemetry import span


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """Words or a question, how many results, and the least cosine (0: none)."""

    query: str
    top_k: int
    least_similarity: float
    scope: Scope
    tuning: Tuning
    min_revision: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """One result; ``similarity`` is 0 when it could not be computed."""

    candidate: Candidate
    score: float
    similarity: float


@dataclass(frozen=True, slots=True)
class Found:
    """Results, best first."""

    results: Sequence[Result]
    degraded: tuple[str, ...]
    revision: int


def found(retrieved: Retrieved, query: SearchQuery) -> Found:
    """Rank what was retrieved; near duplicates stay, as a search must show what is there."""
    with span("satchel.allocator.rank"), metrics.RANK.time():
        return Found(_best(retrieved, query), retrieved.degraded, retrieved.revision)


def retrieval_of(query: SearchQuery, settings: AllocatorSettings) -> RetrievalRequest:
    """Return how deep to search: at least as many as are asked for."""
    limit = max(settings.max_candidates, query.top_k)
    return RetrievalRequest(
        query=query.query,
        scope=query.scope,
        tuning=query.tuning,
        dense_depth=max(settings.dense_depth, limit),
        lexical_depth=max(settings.lexical_depth, limit) if settings.lexical else 0,
        fetch_limit=limit,
        neighbor_count=settings.neighbor_count if query.tuning.neighbors else 0,
        neighbors_of_first=settings.neighbors_of_first,
        min_revision=query.min_revision,
    )


def _best(retrieved: Retrieved, query: SearchQuery) -> list[Result]:
    if retrieved.loaded is None:
        return []
    depth = Depth(0.0) if query.least_similarity > 0 else Depth(1.0, query.top_k)
    ranking = rank(retrieved.loaded.located, retrieved.evidence, query.tuning, collapsing=False, depth=depth)
    near_enough = [place for place in ranking.places if _is_near(place, query.least_similarity)]
    return [
        Result(
            retrieved.loaded.candidate(place.source, place.passage),
            place.relevance,
            place.signals.similarity or 0.0,
        )
        for place in near_enough[: query.top_k]
    ]


def _is_near(place: Place, least: float) -> bool:
    similarity = place.signals.similarity
    return least <= 0 or (similarity is not None and similarity >= least)
