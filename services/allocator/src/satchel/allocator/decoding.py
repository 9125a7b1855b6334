"""Requests of the contract into the allocator's own terms. Limits were checked by the validator."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from satchel.allocator.allocation import Order
from satchel.allocator.engine import OwnCandidates
from satchel.allocator.errors import DimensionMismatch, VectorMalformed
from satchel.allocator.model import Candidate, Form, MemoryType, Scored, StrategyName, Vectors
from satchel.allocator.ports import Scope
from satchel.allocator.recalling import RecallQuery
from satchel.allocator.searching import SearchQuery
from satchel.allocator.selection.strategy import Terms
from satchel.allocator.settings import AllocatorSettings
from satchel.allocator.tuning import LONGEST_FIRST, Tuning
from satchel.allocator.vocabulary import (
    BOOSTS,
    FACTORS,
    FORMS,
    FUSIONS,
    STRATEGIES,
    THRESHOLD_METHODS,
    TYPES,
    microseconds,
)
from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.runtime.errors import InvalidRequest

_FLOAT32_BYTES = 4


def recall_query(request: pb.RecallRequest, settings: AllocatorSettings, now_us: int) -> RecallQuery:
    """Read a recall; what is absent comes from the settings, the time from the clock.

    Raises:
        InvalidRequest: what the session was given is to be left out, and no session is named.
    """
    if request.skip_given and not request.session_id:
        remedy = "Send the id of the session that asks, or no 'skip_given'."
        raise InvalidRequest.of(
            "session_id",
            "ERROR_REASON_FIELD_REQUIRED",
            f"'session_id' is needed where 'skip_given' is true. {remedy}",
            limit="1 to 200 code points",
            remedy=remedy,
        )
    return RecallQuery(
        query=request.query,
        budget=request.budget or settings.default_budget,
        scope=_scope(request),
        tuning=tuning_of(request.options, settings.tuning),
        strategy=strategy_of(request, settings),
        now_us=microseconds(request.reference_time) if request.HasField("reference_time") else now_us,
        fallback_wings=tuple(request.fallback_wings),
        session_id=request.session_id,
        explain=request.explain,
        min_revision=request.min_revision,
        skip_given=request.skip_given,
    )


def search_query(request: pb.SearchMemoriesRequest, settings: AllocatorSettings) -> SearchQuery:
    """Read a search."""
    return SearchQuery(
        query=request.query,
        top_k=request.top_k or settings.default_top_k,
        least_similarity=request.threshold,
        scope=_scope(request),
        tuning=tuning_of(request.options, settings.tuning),
        min_revision=request.min_revision,
    )


def allocate_order(request: pb.AllocateRequest, settings: AllocatorSettings) -> tuple[OwnCandidates, Order]:
    """Read the caller's own candidates, in their order, and what is asked for.

    Raises:
        InvalidRequest: two candidates have one id.
        VectorMalformed: a vector is not finite or not whole.
        DimensionMismatch: vectors of different lengths.
    """
    _check_ids(request.candidates)
    rows, vectors = _vectors(request.candidates)
    items = [
        Scored(_candidate(one), one.relevance, rows.get(index, -1))
        for index, one in enumerate(request.candidates)
    ]
    times = [item.candidate.occurred_us for item in items if item.candidate.occurred_us is not None]
    now_us = (
        microseconds(request.reference_time)
        if request.HasField("reference_time")
        else max(times, default=None)
    )
    tuning = tuning_of(request.options, settings.tuning)
    order = Order(
        budget=request.budget or settings.default_budget,
        strategy=strategy_of(request, settings),
        terms=Terms(tuning, now_us),
        explain=request.explain,
    )
    return OwnCandidates(items, vectors), order


def strategy_of(request: pb.RecallRequest | pb.AllocateRequest, settings: AllocatorSettings) -> StrategyName:
    """Return the strategy, the server's own if the request names none."""
    return STRATEGIES.get(request.strategy, settings.strategy)


def tuning_of(options: pb.AllocationOptions, base: Tuning) -> Tuning:
    """Return the settings of one request."""
    floor, ceiling = _threshold_bounds(options, base)
    similarity = options.duplicate_similarity
    names_threshold = options.HasField("threshold_floor") or options.HasField("threshold_ceiling")
    return replace(
        base,
        threshold_method=THRESHOLD_METHODS.get(options.threshold_method, base.threshold_method),
        threshold_floor=floor,
        threshold_ceiling=ceiling,
        always_kept=0 if names_threshold else base.always_kept,
        fusion=FUSIONS.get(options.fusion, base.fusion),
        rrf_k=options.rrf_k if options.HasField("rrf_k") else base.rrf_k,
        disabled_factors=base.disabled_factors | {FACTORS[one] for one in options.disabled_factors},
        duplicate_similarity=similarity
        if options.HasField("duplicate_similarity")
        else base.duplicate_similarity,
        expansion=base.expansion and not options.no_expansion,
        neighbors=base.neighbors and not options.no_neighbors,
        boosts=base.boosts.without([BOOSTS[one] for one in options.disabled_boosts]),
        forms=_forms(options),
    )


def _threshold_bounds(options: pb.AllocationOptions, base: Tuning) -> tuple[float, float]:
    """Return floor and ceiling; the server's own gives way to the one that a request names.

    Raises:
        InvalidRequest: the request names both, and its floor lies above its ceiling.
    """
    names_floor, names_ceiling = options.HasField("threshold_floor"), options.HasField("threshold_ceiling")
    floor, ceiling = options.threshold_floor, options.threshold_ceiling
    if not names_floor:
        floor = min(base.threshold_floor, ceiling) if names_ceiling else base.threshold_floor
    if not names_ceiling:
        ceiling = max(base.threshold_ceiling, floor) if names_floor else base.threshold_ceiling
    if names_floor and floor > ceiling:
        remedy = "Send a floor that is not above the ceiling."
        raise InvalidRequest.of(
            "options.threshold_floor",
            "ERROR_REASON_FIELDS_CONFLICT",
            f"'options.threshold_floor' is {floor:g}, more than the ceiling of {ceiling:g}. {remedy}",
            limit=f"{ceiling:g}",
            remedy=remedy,
        )
    return floor, ceiling


def _forms(options: pb.AllocationOptions) -> tuple[Form, ...]:
    asked = {FORMS[mode] for mode in options.render_modes}
    return tuple(form for form in LONGEST_FIRST if form in asked) or LONGEST_FIRST


def _scope(request: pb.RecallRequest | pb.SearchMemoriesRequest) -> Scope:
    return Scope(
        project=request.project,
        wing=request.wing,
        room=request.room,
        types=tuple(TYPES[one] for one in request.types),
        tags=tuple(request.tags),
        since_us=microseconds(request.since) if request.HasField("since") else None,
        until_us=microseconds(request.until) if request.HasField("until") else None,
    )


def _candidate(one: pb.Candidate) -> Candidate:
    return Candidate(
        id=one.id,
        text=one.content,
        type=TYPES.get(one.type, MemoryType.SESSION_NOTE),
        fingerprint=one.fingerprint,
        fact_count=one.fact_count,
        session_id=one.session_id,
        occurred_us=microseconds(one.occurred_at) if one.HasField("occurred_at") else None,
        links=frozenset(one.linked_ids),
    )


def _check_ids(candidates: Sequence[pb.Candidate]) -> None:
    seen: set[str] = set()
    for index, one in enumerate(candidates):
        if one.id in seen:
            remedy = "Send each candidate once, under an id of its own."
            raise InvalidRequest.of(
                f"candidates[{index}].id",
                "ERROR_REASON_FIELDS_CONFLICT",
                f"'candidates[{index}].id' is the id of an earlier candidate. {remedy}",
                remedy=remedy,
            )
        seen.add(one.id)


def _vectors(candidates: Sequence[pb.Candidate]) -> tuple[Mapping[int, int], Vectors]:
    """Return the row of each candidate that has a vector, and the rows."""
    rows: list[Vectors] = []
    at: dict[int, int] = {}
    for index, one in enumerate(candidates):
        if not one.vector:
            continue
        field = f"candidates[{index}].vector"
        if len(one.vector) % _FLOAT32_BYTES:
            raise VectorMalformed(field=field)
        row = np.frombuffer(one.vector, dtype="<f4")
        if not np.isfinite(row).all():
            raise VectorMalformed(field=field)
        if rows and len(row) != len(rows[0]):
            raise DimensionMismatch(field=field, expected=len(rows[0]), actual=len(row))
        at[index] = len(rows)
        rows.append(row)
    return at, _unit(np.stack(rows)) if rows else np.zeros((0, 0), dtype=np.float32)


def _unit(rows: Vectors) -> Vectors:
    """Return the rows at unit norm; rows of zeros stay."""
    norms = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1), dtype=np.float32)
