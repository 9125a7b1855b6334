"""From signals to one ranking: exact cosines, fusion, tags, neighbours, near duplicates. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from satchel.allocator.boosts import Boosts, Standing, boosts
from satchel.allocator.collapse import collapse
from satchel.allocator.evidence import Evidence, Located
from satchel.allocator.fusion import ranks, reciprocal_rank, relevance, spread_of, standard_score
from satchel.allocator.lazy import Lazy
from satchel.allocator.model import Floats, Fusion, Signals, ThresholdMethod, Vectors
from satchel.allocator.nearness import Nearness, nearness
from satchel.allocator.tuning import Tuning


class Place(NamedTuple):
    """One memory of a ranking; ``source`` is its index among the located, -1 stands for no row or passage."""

    source: int
    relevance: float
    row: int
    passage: int
    signals: Signals


@dataclass(frozen=True, slots=True)
class Ranking:
    """Places, best first; collapsed ones with the source that they collapse into; one row a vector.

    ``sources`` and ``relevances`` are columns of the places. ``tail`` is the relevance of those after the
    places, best first, that were not asked for.
    """

    places: Sequence[Place]
    collapsed: Sequence[tuple[Place, int]]
    vectors: Vectors
    sources: Sequence[int] = ()
    relevances: Floats = field(default_factory=lambda: np.zeros(0))
    tail: Floats = field(default_factory=lambda: np.zeros(0))


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
class _Scores:
    """Scores of all memories: by words, fused without and with tags, and what raises them beside that."""

    lexical: Floats | None
    found: Floats
    fused: Floats
    boosts: Boosts


@dataclass(frozen=True, slots=True)
class Depth:
    """How much of a ranking is wanted: places of at least this relevance, and at least so many of them."""

    least: float = 0.0
    places: int = 0


def rank(
    located: Located,
    evidence: Evidence,
    tuning: Tuning,
    *,
    collapsing: bool,
    depth: Depth = Depth(),  # immutable
) -> Ranking:
    """Rank memories by meaning and words, best first; equal scores by ascending id.

    Cosines are exact, also for those that only their words found. O(n log n), and one product of the
    vectors with themselves when near duplicates collapse. Places are made when they are looked at.
    """
    if not located.ids:
        return Ranking((), (), np.zeros((0, 0), dtype=np.float32))
    near = nearness(located, evidence.query)
    scores = _scores(located, evidence, near, tuning)
    shares, order = _ordered(scores, located, tuning)
    into = _duplicates(order, near, shares, located.texts, tuning) if collapsing else {}
    kept = [index for index in order if index not in into]
    relevances = shares[kept]
    wanted = max(int(np.count_nonzero(relevances >= depth.least)), depth.places)
    place = _Places(located, evidence, near, scores).place
    levels, pairs = shares.tolist(), list(into.items())
    return Ranking(
        places=Lazy(lambda at: place(kept[at], levels[kept[at]]), min(wanted, len(kept))),
        collapsed=Lazy(lambda at: (place(pairs[at][0], levels[pairs[at][0]]), pairs[at][1]), len(pairs)),
        vectors=near.rows,
        sources=kept[:wanted],
        relevances=relevances[:wanted],
        tail=relevances[wanted:],
    )


def _ordered(scores: _Scores, located: Located, tuning: Tuning) -> tuple[Floats, Sequence[int]]:
    """Return the relevance of all, and the indices of the eligible, best first.

    What reaches the floor by its own words and meaning stays there, whatever is against it.
    """
    total = scores.fused + scores.boosts.total()
    shares = np.maximum(_share(total, tuning), np.minimum(_share(scores.fused, tuning), reachable(tuning)))
    order = np.lexsort((-total, -shares))
    if not np.diff(total[order]).all():
        order = np.lexsort((np.array(located.ids), -total, -shares))
    eligible = located.eligible
    return shares, [index for index in order.tolist() if eligible is None or eligible[index]]


def _share(scores: Floats, tuning: Tuning) -> Floats:
    return relevance(scores) if tuning.fusion is Fusion.STANDARD_SCORE else np.clip(scores, 0.0, 1.0)


def _scores(located: Located, evidence: Evidence, near: Nearness, tuning: Tuning) -> _Scores:
    """Fuse meaning, words and tags, and see what raises a memory beside these."""
    lexical = _words(located, evidence)
    found = _fused(near.cosine, lexical, tuning)
    fused = found
    if evidence.tags:
        fused = found + tuning.tag_bonus * np.array([name in evidence.tags for name in located.ids])
    unit = spread_of(near.cosine if tuning.fusion is Fusion.STANDARD_SCORE else None, fused)
    return _Scores(lexical, found, fused, boosts(Standing(fused, unit, near), located, evidence, tuning))


def _words(located: Located, evidence: Evidence) -> Floats | None:
    lexical = evidence.lexical
    if lexical is None:
        return None
    return np.array([lexical.get(name, 0.0) for name in located.ids], dtype=np.float64)


def _fused(cosine: Floats | None, lexical: Floats | None, tuning: Tuning) -> Floats:
    if cosine is None and lexical is None:
        raise ValueError("Nothing was found by meaning or by words, so there is nothing to rank.")
    if tuning.fusion is Fusion.STANDARD_SCORE:
        return standard_score(cosine, lexical, lexical_weight=tuning.lexical_weight)
    rankings = [] if cosine is None else [ranks(cosine)]
    if lexical is not None:
        rankings.append(ranks(np.where(lexical > 0, lexical, np.nan)))
    return reciprocal_rank(rankings, tuning.rrf_k)


class _Places:
    """Makes places from the columns of a ranking."""

    def __init__(self, located: Located, evidence: Evidence, near: Nearness, scores: _Scores) -> None:
        self._ids, self._evidence = located.ids, evidence
        # Lists: to take one number out of an array costs as much as to convert ten.
        self._rows, self._passages = near.row.tolist(), near.passage.tolist()
        self._cosines = None if near.cosine is None else near.cosine.tolist()
        self._lexical = None if scores.lexical is None else scores.lexical.tolist()
        self._found = scores.found.tolist()
        self._boosts = list(zip(*(column.tolist() for column in scores.boosts.columns()), strict=True))

    def place(self, index: int, relevance_: float) -> Place:
        """Return the place of a memory."""
        evidence, name = self._evidence, self._ids[index]
        # Positional, in the order of the fields: this runs some hundred times a recall.
        signals = Signals(
            evidence.dense_ranks.get(name, 0),
            self._word_ranks.get(name, 0),
            evidence.tags.get(name, 0),
            None if self._cosines is None else _known(self._cosines[index]),
            0.0 if self._lexical is None else self._lexical[index],
            self._found[index],
            *self._boosts[index],
        )
        return Place(index, relevance_, self._rows[index], self._passages[index], signals)

    @cached_property
    def _word_ranks(self) -> dict[str, int]:
        lexical = self._evidence.lexical or {}
        ordered = sorted(lexical, key=lambda name: (-lexical[name], name))
        return {name: rank for rank, name in enumerate(ordered, start=1)}


def _known(cosine: float) -> float | None:
    return None if math.isnan(cosine) else cosine


def _duplicates(
    order: Sequence[int], near: Nearness, shares: Floats, texts: Sequence[str], tuning: Tuning
) -> dict[int, int]:
    """Return which memory stands for each near duplicate, among those that no threshold need leave out."""
    ranked = np.array(order, dtype=np.int64)
    may_stay = shares[ranked] >= reachable(tuning)
    may_stay[: tuning.always_kept] = True
    compared = ranked[(near.row[ranked] >= 0) & may_stay]
    if not len(compared):
        return {}
    into = collapse(
        near.rows[near.row[compared]],
        [texts[index] for index in compared.tolist()],
        tuning.duplicate_similarity,
    )
    gone = np.flatnonzero(into != np.arange(len(into)))
    return dict(zip(compared[gone].tolist(), compared[into[gone]].tolist(), strict=True))


def reachable(tuning: Tuning) -> float:
    """Return the relevance below which no threshold lies."""
    if tuning.threshold_method is ThresholdMethod.OFF:
        return 0.0
    return min(tuning.threshold_floor, tuning.threshold_ceiling)
