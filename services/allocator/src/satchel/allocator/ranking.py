"""From signals to one ranking: exact cosines, fusion, tags, neighbours, near duplicates. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.collapse import collapse
from satchel.allocator.fusion import ranks, reciprocal_rank, relevance, standard_score
from satchel.allocator.model import Floats, Fusion, Signals, ThresholdMethod, Vectors
from satchel.allocator.neighbors import borrow
from satchel.allocator.tuning import Tuning


class Located(NamedTuple):
    """A memory with what ranking needs of it.

    ``passages`` is (passages, dimension) of unit norm; `None` without vectors. One that is not
    ``eligible`` lends to its neighbours but is not shown.
    """

    id: str
    session_id: str = ""
    session_order: int = 0
    passages: Vectors | None = None
    eligible: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """How the memories were found, by id. An empty ``lexical`` is fine; `None` means nobody searched."""

    query: Vectors | None
    dense_ranks: Mapping[str, int] = field(default_factory=dict)
    lexical: Mapping[str, float] | None = None
    tags: Mapping[str, int] = field(default_factory=dict)


class Place(NamedTuple):
    """One memory of a ranking; ``source`` is its index among the located, -1 stands for no row or passage."""

    source: int
    relevance: float
    row: int
    passage: int
    signals: Signals


@dataclass(frozen=True, slots=True)
class Ranking:
    """Places, best first; collapsed ones with the place that they collapse into; one row a vector.

    ``tail`` is the relevance of those after the places, best first, that were not asked for.
    """

    places: Sequence[Place]
    collapsed: Sequence[tuple[Place, Place]]
    vectors: Vectors
    tail: Sequence[float] = ()


def provisional(
    dense: Mapping[str, float], lexical: Mapping[str, float], tags: Mapping[str, int], tuning: Tuning
) -> list[str]:
    """Order all that was found, best first, before exact cosines are known; ties by id.

    A memory that only its words found is taken to be as near as the last one that its vector found.
    """
    names = sorted(dense.keys() | lexical.keys() | tags.keys())
    if not names:
        return []
    least = min(dense.values(), default=0.0)
    cosine = np.array([dense.get(name, least) for name in names]) if dense else None
    words = np.array([lexical.get(name, 0.0) for name in names])
    boost = tuning.tag_bonus * np.array([name in tags for name in names])
    fused = _fused(cosine, words, tuning) + boost
    return [names[index] for index in np.argsort(-fused, kind="stable")]


@dataclass(frozen=True, slots=True)
class Depth:
    """How much of a ranking is wanted: places of at least this relevance, and at least so many of them."""

    least: float = 0.0
    places: int = 0


def rank(
    located: Sequence[Located],
    evidence: Evidence,
    tuning: Tuning,
    *,
    collapsing: bool,
    depth: Depth = Depth(),  # immutable
) -> Ranking:
    """Rank memories by meaning and words, best first; equal scores by ascending id.

    Cosines are exact, also for those that only their words found. O(n log n), and one product of the
    vectors with themselves when near duplicates collapse.
    """
    if not located:
        return Ranking((), (), np.zeros((0, 0), dtype=np.float32))
    near = _nearness(located, evidence.query)
    lexical = _words(located, evidence)
    found = _fused(near.cosine, lexical, tuning)
    fused = found + tuning.tag_bonus * np.array([one.id in evidence.tags for one in located])
    if tuning.neighbors:
        fused = borrow(
            fused,
            [(one.session_id, one.session_order) for one in located],
            previous_share=tuning.previous_share,
            next_share=tuning.next_share,
        )
    shares = relevance(fused) if tuning.fusion is Fusion.STANDARD_SCORE else np.clip(fused, 0.0, 1.0)
    names = np.array([one.id for one in located])
    order = [index for index in np.lexsort((names, -fused)).tolist() if located[index].eligible]
    into = _duplicates(order, near, shares, tuning) if collapsing else {}
    kept = [index for index in order if index not in into]
    wanted = max(int(np.count_nonzero(shares[kept] >= depth.least)), depth.places)
    shown = [*kept[:wanted], *into]
    places = _places(shown, located, evidence, near=near, lexical=lexical, found=found, shares=shares)
    at = {place.source: place for place in places}
    return Ranking(
        places=places[: len(places) - len(into)],
        collapsed=[(at[index], at[better]) for index, better in into.items()],
        vectors=near.rows,
        tail=shares[kept[wanted:]].tolist(),
    )


@dataclass(frozen=True, slots=True)
class _Nearness:
    """Cosine (NaN: unknown; `None`: no query vector), best passage and row of each memory (-1: none)."""

    cosine: Floats | None
    passage: NDArray[np.int64]
    row: NDArray[np.int64]
    rows: Vectors


def _nearness(located: Sequence[Located], query: Vectors | None) -> _Nearness:
    owners = [index for index, one in enumerate(located) if _comparable(one.passages, query)]
    parts = [part for index in owners if (part := located[index].passages) is not None]
    passage = np.full(len(located), -1, dtype=np.int64)
    row = np.full(len(located), -1, dtype=np.int64)
    cosine = None if query is None else np.full(len(located), np.nan)
    if not owners:
        return _Nearness(cosine, passage, row, np.zeros((0, 0), dtype=np.float32))
    row[owners] = np.arange(len(owners))
    sizes = np.array([len(part) for part in parts])
    stacked = np.concatenate(parts)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    if query is not None and cosine is not None:
        similar = (stacked @ query).astype(np.float64)
        cosine[owners] = np.maximum.reduceat(similar, starts)
        for index, start, size in zip(owners, starts.tolist(), sizes.tolist(), strict=True):
            passage[index] = 0 if size == 1 else int(np.argmax(similar[start : start + size]))
    return _Nearness(cosine, passage, row, _centroids(stacked, starts, sizes))


def _comparable(passages: Vectors | None, query: Vectors | None) -> bool:
    return (
        passages is not None and len(passages) > 0 and (query is None or passages.shape[1] == query.shape[0])
    )


def _centroids(stacked: Vectors, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Vectors:
    """Return one row of unit norm a memory: the mean of its passages."""
    if len(starts) == len(stacked):
        return stacked
    means = np.add.reduceat(stacked, starts, axis=0) / sizes[:, None].astype(np.float32)
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    return (means / np.where(norms > 0, norms, 1)).astype(np.float32)


def _words(located: Sequence[Located], evidence: Evidence) -> Floats | None:
    if evidence.lexical is None:
        return None
    return np.array([evidence.lexical.get(one.id, 0.0) for one in located])


def _fused(cosine: Floats | None, lexical: Floats | None, tuning: Tuning) -> Floats:
    if cosine is None and lexical is None:
        raise ValueError("Nothing was found by meaning or by words, so there is nothing to rank.")
    if tuning.fusion is Fusion.STANDARD_SCORE:
        return standard_score(cosine, lexical, lexical_weight=tuning.lexical_weight)
    rankings = [] if cosine is None else [ranks(cosine)]
    if lexical is not None:
        rankings.append(ranks(np.where(lexical > 0, lexical, np.nan)))
    return reciprocal_rank(rankings, tuning.rrf_k)


def _places(
    order: Sequence[int],
    located: Sequence[Located],
    evidence: Evidence,
    *,
    near: _Nearness,
    lexical: Floats | None,
    found: Floats,
    shares: Floats,
) -> list[Place]:
    word_ranks = _word_ranks(evidence.lexical or {})
    cosines = None if near.cosine is None else near.cosine.tolist()
    rows, passages = near.row.tolist(), near.passage.tolist()
    fused, relevances = found.tolist(), shares.tolist()
    words = None if lexical is None else lexical.tolist()
    places = []
    for index in order:
        name = located[index].id
        # Positional, in the order of the fields: this runs some hundred times a recall.
        signals = Signals(
            evidence.dense_ranks.get(name, 0),
            word_ranks.get(name, 0),
            evidence.tags.get(name, 0),
            None if cosines is None else _known(cosines[index]),
            0.0 if words is None else words[index],
            fused[index],
        )
        places.append(Place(index, relevances[index], rows[index], passages[index], signals))
    return places


def _known(cosine: float) -> float | None:
    return None if math.isnan(cosine) else cosine


def _word_ranks(lexical: Mapping[str, float]) -> dict[str, int]:
    ordered = sorted(lexical, key=lambda name: (-lexical[name], name))
    return {name: rank for rank, name in enumerate(ordered, start=1)}


def _duplicates(order: Sequence[int], near: _Nearness, shares: Floats, tuning: Tuning) -> dict[int, int]:
    """Return which memory stands for each near duplicate, among those that may reach a threshold."""
    least = reachable(tuning)
    compared = [index for index in order if near.row[index] >= 0 and shares[index] >= least]
    if not compared:
        return {}
    into = collapse(near.rows[near.row[compared]], tuning.duplicate_similarity).tolist()
    return {compared[one]: compared[best] for one, best in enumerate(into) if one != best}


def reachable(tuning: Tuning) -> float:
    """Return the relevance below which no threshold lies."""
    if tuning.threshold_method is ThresholdMethod.OFF:
        return 0.0
    return min(tuning.threshold_floor, tuning.threshold_ceiling)
