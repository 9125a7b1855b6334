"""What the use cases of identities answer, as messages of the contract."""

from collections import Counter
from collections.abc import Sequence

from satchel.api.store.v1 import identity_service_pb2 as pb
from satchel.store.cursors import encode_token
from satchel.store.engine.identity_reading import Drifted, History, IdentityStatus
from satchel.store.engine.identity_writing import Captured, Swapped
from satchel.store.identity.model import Snapshot
from satchel.store.identity.prompts import Prompt
from satchel.store.identity_ports import Evolved
from satchel.store.scope import Place
from satchel.store.servicers import identity_encoding as encoding
from satchel.store.servicers.encoding import timestamp


def captured(found: Captured) -> pb.CaptureIdentityResponse:
    """Encode what became of a capture."""
    snapshot = found.snapshot
    return pb.CaptureIdentityResponse(
        agent_id=snapshot.agent_id,
        version=snapshot.version,
        model_id=snapshot.model_id,
        confidence=snapshot.identity.confidence,
        trait_count=len(snapshot.identity.traits),
        created_at=timestamp(snapshot.created_at),
        reply_count=found.replies,
        observed_traits=found.observed,
        changed=found.changed,
        changes=snapshot.changes if found.changed else (),
        drift=None if found.drift is None else encoding.drift(found.drift),
    )


def recalled(found: tuple[Snapshot, Prompt]) -> pb.RecallIdentityResponse:
    """Encode an identity as text."""
    snapshot, prompt = found
    return pb.RecallIdentityResponse(
        prompt=prompt.text,
        token_count=prompt.tokens,
        budget=prompt.budget,
        version=snapshot.version,
        model_id=snapshot.model_id,
        omitted_count=prompt.omitted,
        memory_ids=prompt.memory_ids,
        notes=_notes(prompt),
    )


def drifted(agent_id: str, found: Drifted) -> pb.GetIdentityDriftResponse:
    """Encode drift over a window."""
    return pb.GetIdentityDriftResponse(
        agent_id=agent_id,
        drift=encoding.drift(found.drift),
        largest_step=found.largest.drift_score,
        largest_step_version=found.largest.version,
        diffusion=found.diffusion.score,
        diffuse=found.diffusion.is_diffuse,
    )


def swapped(found: Swapped) -> pb.SwapModelResponse:
    """Encode a change of the model."""
    snapshot = found.snapshot
    notes = _notes(found.prompt)
    if found.recorded != snapshot.from_model:
        notes.append(f"The model on record was '{found.recorded}', not '{snapshot.from_model}'.")
    return pb.SwapModelResponse(
        agent_id=snapshot.agent_id,
        version=snapshot.version,
        from_model=snapshot.from_model,
        to_model=snapshot.model_id,
        prompt=found.prompt.text,
        token_count=found.prompt.tokens,
        notes=notes,
        created_at=timestamp(snapshot.created_at),
    )


def status(found: IdentityStatus) -> pb.GetIdentityStatusResponse:
    """Encode a report."""
    newest = found.newest
    return pb.GetIdentityStatusResponse(
        agent_id=newest.agent_id,
        version=newest.version,
        model_id=newest.model_id,
        confidence=newest.identity.confidence,
        trait_count=len(newest.identity.traits),
        text=found.text,
        recent=map(encoding.summary, found.recent),
        swaps=map(encoding.summary, found.swaps),
        drift=encoding.drift(found.drift),
        version_count=found.versions,
        updated_at=timestamp(newest.created_at),
    )


def history(agent_id: str, found: History, arguments: bytes) -> pb.ListIdentityHistoryResponse:
    """Encode a page of versions, and the token of the next."""
    token = ""
    if found.has_more:
        token = encode_token(Place(found.versions[-1].version, agent_id), arguments)
    return pb.ListIdentityHistoryResponse(
        agent_id=agent_id,
        evolution=_evolution(found),
        snapshots=map(encoding.summary, found.versions),
        next_page_token=token,
        version_count=found.count,
    )


def updated(found: tuple[Evolved, tuple[str, ...]]) -> pb.UpdateIdentityResponse:
    """Encode what became of a directive."""
    evolved, understood = found
    return pb.UpdateIdentityResponse(
        agent_id=evolved.snapshot.agent_id,
        version=evolved.snapshot.version,
        changes=evolved.snapshot.changes if evolved.changed else (),
        changed=evolved.changed,
        understood=understood,
        drift_score=evolved.snapshot.drift_score if evolved.changed else 0.0,
    )


def patched(evolved: Evolved, notes: Sequence[str]) -> pb.PatchIdentityResponse:
    """Encode what became of a patch."""
    return pb.PatchIdentityResponse(
        agent_id=evolved.snapshot.agent_id,
        version=evolved.snapshot.version,
        changes=evolved.snapshot.changes if evolved.changed else (),
        changed=evolved.changed,
        drift_score=evolved.snapshot.drift_score if evolved.changed else 0.0,
        notes=notes,
    )


def agents(
    found: Sequence[Snapshot], size: int, arguments: bytes, *, enabled: bool
) -> pb.ListIdentitiesResponse:
    """Encode a page of agents, of which there is one more than fits if others follow."""
    page = found[:size]
    token = encode_token(Place(0, page[-1].agent_id), arguments) if len(found) > size else ""
    return pb.ListIdentitiesResponse(
        identities=map(encoding.listed, page), next_page_token=token, enabled=enabled
    )


def _notes(prompt: Prompt) -> list[str]:
    if prompt.omitted and not prompt.text:
        return ["The budget is too small for any of it: allow more tokens."]
    if prompt.omitted:
        return [f"{prompt.omitted} lines were left out for the budget."]
    return []


def _evolution(found: History) -> str:
    """Say how an identity came to be, from the versions of a page."""
    newest, oldest = found.versions[0], found.versions[-1]
    causes = Counter(snapshot.cause.name.lower() for snapshot in found.versions)
    models = dict.fromkeys(snapshot.model_id for snapshot in reversed(found.versions))
    made_by = ", ".join(f"{count} by {cause}" for cause, count in sorted(causes.items()))
    furthest = max(found.versions, key=lambda snapshot: snapshot.drift_score)
    moved = (
        f" Version {furthest.version} moved furthest from the one before it ({furthest.drift_score:.2f})."
        if furthest.drift_score
        else ""
    )
    return (
        f"Versions {oldest.version} to {newest.version} of {found.count} that are kept: {made_by}. "
        f"Models: {', '.join(models)}.{moved}"
    )
