"""The tools of identities, which are listed only where the store keeps them, and their answers as text."""

from collections.abc import Iterable, Iterator
from typing import Final, cast

from satchel.api.store.v1 import identity_service_pb2 as pb
from satchel.gateway.caller import Caller
from satchel.gateway.clients import Clients
from satchel.gateway.exchanges import on_own_behalf
from satchel.gateway.mcp.rows import Answer, ToolRow
from satchel.gateway.transcoder.encoding import format_time
from satchel.gateway.transcoder.words import word_of
from satchel.runtime.errors import Code, ServiceError

_IDENTITY = "satchel.api.store.v1.IdentityService"
_PROBE = f"{_IDENTITY}/ListIdentities"
_NOT_FOR_THEM = (Code.UNIMPLEMENTED, Code.UNAUTHENTICATED)
_SHOWN_CHANGES = 10


def captured(answer: Answer) -> str:
    """Say what a capture made of an identity."""
    lines = [
        f"Agent: {answer.agent_id}",
        f"Version: {answer.version}" + ("" if answer.changed else " (unchanged)"),
        f"Model: {answer.model_id}",
        f"Confidence: {answer.confidence:.0%}",
        f"Traits: {answer.trait_count}",
        f"Observed: {', '.join(answer.observed_traits) or 'none'} in {answer.reply_count} replies",
        f"Time: {_time(answer.created_at)}",
    ]
    if answer.HasField("drift"):
        lines += _drift(answer.drift)
    return "\n".join(lines)


def recalled(answer: Answer) -> str:
    """Return the text itself, byte for byte, so that the budget holds for what the model reads."""
    return str(answer.prompt)


def drifted(answer: Answer) -> str:
    """Say how far an identity moved, in which dimensions, and what to do."""
    lines = [f"Agent: {answer.agent_id}", *_drift(answer.drift)]
    if answer.largest_step_version:
        lines.append(f"Largest step: {answer.largest_step:.2f}, to version {answer.largest_step_version}")
    lines.append(f"Diffusion: {answer.diffusion:.2f}" + (" (diffuse)" if answer.diffuse else ""))
    return "\n".join(lines)


def swapped(answer: Answer) -> str:
    """Say that a change of the model is recorded, and give the text for the new model."""
    lines = [f"Version {answer.version}: {answer.from_model} -> {answer.to_model}", *answer.notes]
    if answer.prompt:
        lines += ["", answer.prompt]
    return "\n".join(lines)


def reported(answer: Answer) -> str:
    """Show an identity as text, its newest versions, its swaps and its drift."""
    version = f"Version {answer.version} of {answer.version_count} that are kept; model {answer.model_id}"
    lines = [
        answer.text,
        "",
        f"{version}; confidence {answer.confidence:.0%}; {answer.trait_count} traits",
        "Newest versions:",
        *_versions(answer.recent),
    ]
    if answer.swaps:
        lines += ["Changes of the model:", *_versions(answer.swaps)]
    return "\n".join([*lines, *_drift(answer.drift)])


def remembered(answer: Answer) -> str:
    """List versions, newest first."""
    lines = [answer.evolution, *_versions(answer.snapshots)]
    if answer.next_page_token:
        lines.append(f"Older ones: page_token {answer.next_page_token}")
    return "\n".join(lines)


def changed(answer: Answer) -> str:
    """Say which version an identity has now, and what is other than before."""
    if not answer.changed:
        return "\n".join([f"Version {answer.version}: nothing changed, it was so already.", *_notes(answer)])
    return "\n".join([f"Version {answer.version} of {answer.agent_id}:", *answer.changes, *_notes(answer)])


def _notes(answer: Answer) -> list[str]:
    known = answer.DESCRIPTOR.fields_by_name
    return list(answer.notes) if "notes" in known else []


def _drift(drift: Answer) -> Iterator[str]:
    yield f"Drift: {word_of(drift, 'status')}, {drift.score:.2f}/1.0 (threshold {drift.threshold:.2f})"
    yield f"Versions: {drift.from_version} to {drift.to_version}"
    moved = [one for one in drift.dimensions if one.score]
    yield from (f"- {word_of(one, 'dimension')}: {one.score:.2f}" for one in moved)
    yield from drift.changes[:_SHOWN_CHANGES]
    if len(drift.changes) > _SHOWN_CHANGES:
        yield f"and {len(drift.changes) - _SHOWN_CHANGES} more"
    yield f"Advice: {drift.advice}"


def _versions(summaries: Iterable[Answer]) -> Iterator[str]:
    for one in summaries:
        reason = f": {one.reason}" if one.reason else ""
        moved = f", drift {one.drift_score:.2f}" if one.drift_score else ""
        model = f"{one.from_model} -> {one.model_id}" if one.from_model else one.model_id
        made = f"{one.version} [{word_of(one, 'cause')}] {_time(one.created_at)}"
        yield f"- {made} {model}, {one.trait_count} traits{moved}{reason}"


def _time(time: Answer) -> str:
    return format_time(time.seconds, time.nanos)


SOUL_ROWS: Final[tuple[ToolRow, ...]] = (
    ToolRow(
        name="soul_capture",
        title="Capture an identity",
        rpc=f"{_IDENTITY}/CaptureIdentity",
        advice="Use it after a conversation that shows who you are, with the whole conversation.",
        render=captured,
        read_only=False,
        idempotent=False,
    ),
    ToolRow(
        name="soul_recall",
        title="Recall an identity",
        rpc=f"{_IDENTITY}/RecallIdentity",
        advice="Use it at the start of a session, to know who you are. The text of the result is the "
        "identity itself and holds at most `budget` tokens.",
        render=recalled,
    ),
    ToolRow(
        name="soul_drift",
        title="Measure drift",
        rpc=f"{_IDENTITY}/GetIdentityDrift",
        advice="Use it from time to time, and after a change of the model.",
        render=drifted,
    ),
    ToolRow(
        name="soul_swap",
        title="Change the model",
        rpc=f"{_IDENTITY}/SwapModel",
        advice="Use it when the agent goes to another model, and give the text to that model.",
        render=swapped,
        read_only=False,
        idempotent=False,
    ),
    ToolRow(
        name="soul_status",
        title="Show an identity",
        rpc=f"{_IDENTITY}/GetIdentityStatus",
        advice="Use it when your user asks who you are.",
        render=reported,
    ),
    ToolRow(
        name="soul_history",
        title="Show how an identity came to be",
        rpc=f"{_IDENTITY}/ListIdentityHistory",
        advice="Use it to see what changed an identity, and when.",
        render=remembered,
    ),
    ToolRow(
        name="soul_update",
        title="Change an identity in plain words",
        rpc=f"{_IDENTITY}/UpdateIdentity",
        advice="Use it when your user asks for another manner, such as more formal.",
        render=changed,
        read_only=False,
    ),
    ToolRow(
        name="soul_patch",
        title="Set fields of an identity",
        rpc=f"{_IDENTITY}/PatchIdentity",
        advice="Use it to set single fields exactly.",
        render=changed,
        read_only=False,
    ),
)


SOUL_TOOLS: Final = frozenset(row.name for row in SOUL_ROWS)


async def are_identities_kept(caller: Caller, inside: Clients | None = None) -> bool:
    """Tell whether the tools of identities are for who asks; a store that is silent now may keep them.

    Any key may read, so one that is refused names none of its several projects. Its calls can do that, and
    whether the store keeps identities at all the process asks over ``inside``, if it can.
    """
    request = pb.ListIdentitiesRequest(page_size=1)
    try:
        answer = await caller.call(caller.contract.rpcs[_PROBE], request)
    except ServiceError as error:
        if inside is not None and error.code is Code.PERMISSION_DENIED:
            return await on_own_behalf(are_identities_kept(caller.over(inside)))
        return error.code not in _NOT_FOR_THEM
    return cast("pb.ListIdentitiesResponse", answer).enabled
