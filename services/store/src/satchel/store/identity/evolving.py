"""From one version of an identity to the next, and what a window of versions tells."""

from collections.abc import Callable
from dataclasses import dataclass

from satchel.store.identity.changes import MOST_LISTED, list_changes
from satchel.store.identity.drift import (
    Dimension,
    DriftStatus,
    TraitShifts,
    distances,
    score_of,
    status_of,
    trait_shifts,
)
from satchel.store.identity.model import UNKNOWN_MODEL, Cause, Identity, Snapshot, neutral

_MOST_SESSIONS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Whose identity changes, when (microseconds) and why."""

    agent_id: str
    project: str
    cause: Cause
    now: int
    reason: str = ""
    session_id: str = ""
    model_id: str = ""
    from_model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How far an identity moved from one version to another; ``advice`` is a sentence."""

    status: DriftStatus
    score: float
    threshold: float
    from_version: int
    to_version: int
    dimensions: dict[Dimension, float]
    changes: tuple[str, ...]
    traits: TraitShifts
    advice: str

    @property
    def is_significant(self) -> bool:
        """Whether the score is above the threshold."""
        return self.status is DriftStatus.SIGNIFICANT


def follow(previous: Snapshot | None, change: Callable[[Identity], Identity], origin: Origin) -> Snapshot:
    """Return the version after ``previous``: its number is one more, or 1 for an agent that is not known.

    A conversation and a swap always make one. A directive or a patch that changes nothing gives ``previous``
    back.
    """
    before = previous.identity if previous else neutral()
    after = change(before)
    changes = (*_model_change(previous, origin), *list_changes(before, after))
    if previous and not changes and origin.cause in (Cause.UPDATE, Cause.PATCH):
        return previous
    return Snapshot(
        agent_id=origin.agent_id,
        project=origin.project,
        version=previous.version + 1 if previous else 1,
        parent_version=previous.version if previous else 0,
        created_at=max(origin.now, previous.created_at if previous else 0),
        model_id=_model(previous, origin),
        cause=origin.cause,
        identity=after,
        reason=origin.reason,
        session_id=origin.session_id,
        from_model=origin.from_model,
        changes=changes[:MOST_LISTED],
        drift_score=score_of(distances(before, after)) if previous else 0.0,
        sessions=_sessions(previous, origin.session_id),
    )


def drift_between(old: Snapshot, new: Snapshot, threshold: float) -> Drift:
    """Compare two versions; one with itself has no history."""
    scores = distances(old.identity, new.identity)
    score = score_of(scores)
    status = status_of(score, threshold) if old.version != new.version else DriftStatus.NO_HISTORY
    changes = list_changes(old.identity, new.identity)
    if old.model_id != new.model_id:
        changes = (f"model: {old.model_id} -> {new.model_id}", *changes)
    return Drift(
        status=status,
        score=score,
        threshold=threshold,
        from_version=old.version,
        to_version=new.version,
        dimensions=scores,
        changes=changes[:MOST_LISTED],
        traits=trait_shifts(old.identity, new.identity),
        advice=_advice(status, scores, has_new_model=old.model_id != new.model_id),
    )


def unchanged_model(model_id: str) -> bool:
    """Tell whether a caller names no model."""
    return model_id in ("", UNKNOWN_MODEL)


def _model(previous: Snapshot | None, origin: Origin) -> str:
    if not unchanged_model(origin.model_id):
        return origin.model_id
    return previous.model_id if previous else UNKNOWN_MODEL


def _model_change(previous: Snapshot | None, origin: Origin) -> tuple[str, ...]:
    model = _model(previous, origin)
    before = origin.from_model or (previous.model_id if previous else model)
    return () if before == model else (f"model: {before} -> {model}",)


def _sessions(previous: Snapshot | None, session_id: str) -> tuple[str, ...]:
    known = previous.sessions if previous else ()
    if not session_id:
        return known
    return (*(one for one in known if one != session_id), session_id)[-_MOST_SESSIONS:]


def _advice(status: DriftStatus, scores: dict[Dimension, float], *, has_new_model: bool) -> str:
    most = max(scores, key=lambda dimension: scores[dimension]).name.lower()
    match status:
        case DriftStatus.NO_HISTORY:
            return "There is one version only: capture another conversation to measure drift."
        case DriftStatus.STABLE:
            return "The identity is stable: there is nothing to do."
        case DriftStatus.EVOLVING:
            return f"The identity evolves, most in {most}: look at it again after the next conversations."
    if has_new_model:
        return f"The identity moved most in {most} under a new model: give that model the identity again."
    return f"The identity moved most in {most}: if that is not wanted, set it back by an update or a patch."
