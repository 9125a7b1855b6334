"""Identities as messages of the contract."""

from satchel.api.store.v1 import identity_pb2
from satchel.api.store.v1 import identity_service_pb2 as pb
from satchel.store.identity.evolving import Drift
from satchel.store.identity.model import Identity, Snapshot, Trait
from satchel.store.identity.prompts import ordered_traits
from satchel.store.identity.styles import STYLES
from satchel.store.servicers.encoding import struct, timestamp

_LISTED_CHANGES = 20


def identity(snapshot: Snapshot) -> identity_pb2.Identity:
    """Encode a version, whole."""
    found = snapshot.identity
    message = identity_pb2.Identity(
        agent_id=snapshot.agent_id,
        project=snapshot.project,
        version=snapshot.version,
        parent_version=snapshot.parent_version,
        created_at=timestamp(snapshot.created_at),
        model_id=snapshot.model_id,
        confidence=found.confidence,
        cause=_cause(snapshot),
        reason=snapshot.reason,
        session_id=snapshot.session_id,
        voice=_voice(found),
        traits=map(_trait, ordered_traits(found)),
        communication=identity_pb2.Communication(**_members(found, "communication")),  # type: ignore[arg-type]
        values=_values(found),
        emotion=identity_pb2.Emotion(**_members(found, "emotion")),  # type: ignore[arg-type]
        behavior=_behavior(found),
        changes=snapshot.changes,
        drift_score=snapshot.drift_score,
        from_model=snapshot.from_model,
    )
    if found.metrics:
        message.behavioral_metrics.CopyFrom(struct(found.metrics))
    return message


def summary(snapshot: Snapshot) -> identity_pb2.IdentitySummary:
    """Encode a version, in short."""
    return identity_pb2.IdentitySummary(
        version=snapshot.version,
        parent_version=snapshot.parent_version,
        created_at=timestamp(snapshot.created_at),
        model_id=snapshot.model_id,
        confidence=snapshot.identity.confidence,
        trait_count=len(snapshot.identity.traits),
        cause=_cause(snapshot),
        reason=snapshot.reason,
        changes=snapshot.changes[:_LISTED_CHANGES],
        drift_score=snapshot.drift_score,
        from_model=snapshot.from_model,
    )


def listed(snapshot: Snapshot) -> pb.ListedIdentity:
    """Encode an agent of a list."""
    return pb.ListedIdentity(
        agent_id=snapshot.agent_id,
        version=snapshot.version,
        model_id=snapshot.model_id,
        confidence=snapshot.identity.confidence,
        trait_count=len(snapshot.identity.traits),
        updated_at=timestamp(snapshot.created_at),
    )


def drift(found: Drift) -> identity_pb2.IdentityDrift:
    """Encode how far an identity moved."""
    return identity_pb2.IdentityDrift(
        status=identity_pb2.DriftStatus.ValueType(int(found.status)),
        score=found.score,
        significant=found.is_significant,
        threshold=found.threshold,
        from_version=found.from_version,
        to_version=found.to_version,
        dimensions=[
            identity_pb2.DimensionDrift(
                dimension=identity_pb2.IdentityDimension.ValueType(int(dimension)), score=score
            )
            for dimension, score in sorted(found.dimensions.items())
        ],
        changes=found.changes,
        added_traits=found.traits.added,
        removed_traits=found.traits.removed,
        strengthened_traits=found.traits.strengthened,
        weakened_traits=found.traits.weakened,
        advice=found.advice,
    )


def _voice(found: Identity) -> identity_pb2.Voice:
    return identity_pb2.Voice(
        **_members(found, "voice"),  # type: ignore[arg-type]
        **{kind: [one.text for one in phrases] for kind, phrases in found.phrases.items()},  # type: ignore[arg-type]
    )


def _values(found: Identity) -> identity_pb2.Values:
    return identity_pb2.Values(
        **_members(found, "values"),  # type: ignore[arg-type]
        core_values=[one.text for one in found.core_values],
        stances=[identity_pb2.Stance(topic=one.topic, in_favor=one.in_favor) for one in found.stances],
    )


def _members(found: Identity, dimension: str) -> dict[str, object]:
    """Return the levels, flags and styles of a dimension by the names of the contract's fields."""
    members: dict[str, object] = {
        **{path: level.value for path, level in found.levels.items()},
        **{flag: found.is_set(flag) for flag in found.flags},
        **{path: found.style(path) for path in STYLES},
    }
    prefix = f"{dimension}."
    return {path.removeprefix(prefix): value for path, value in members.items() if path.startswith(prefix)}


def _behavior(found: Identity) -> identity_pb2.Behavior:
    seen = found.behavior
    return identity_pb2.Behavior(
        reply_count=seen.replies,
        words_per_reply=seen.words_per_reply,
        words_per_sentence=seen.words_per_sentence,
        questions_per_reply=seen.questions_per_reply,
        exclamations_per_reply=seen.exclamations_per_reply,
        lexical_variety=seen.lexical_variety,
    )


def _trait(trait: Trait) -> identity_pb2.Trait:
    return identity_pb2.Trait(
        name=trait.name,
        category=identity_pb2.TraitCategory.ValueType(int(trait.category)),
        intensity=trait.intensity,
        confidence=trait.confidence,
        evidence_count=trait.evidence,
        context_count=trait.contexts,
        consistency=trait.consistency,
        declared=trait.declared,
        established=trait.is_established,
    )


def _cause(snapshot: Snapshot) -> identity_pb2.IdentityCause.ValueType:
    return identity_pb2.IdentityCause.ValueType(int(snapshot.cause))
