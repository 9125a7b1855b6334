"""Versions of an identity for tests."""

from collections.abc import Callable

from satchel.store.identity.evolving import Origin, follow
from satchel.store.identity.merging import merge
from satchel.store.identity.model import Cause, Identity, Snapshot
from satchel.store.identity.patching import Patch, patched
from satchel.store.identity.reading import observe

CURIOUS = "I wonder why. Tell me more! Haha, just kidding \U0001f604. Could you show an example?"
FORMAL = "Therefore, kindly verify the report. According to the source, it is correct."


def origin(cause: Cause, *, now: int = 1_000_000, **fields: str) -> Origin:
    """Say that the agent ``clara`` of the project ``p`` changes."""
    return Origin(**{"agent_id": "clara", "project": "p", "cause": cause, "now": now, **fields})  # type: ignore[arg-type]


def captured(previous: Snapshot | None, *turns: str, **fields: str) -> Snapshot:
    """Return the version after a conversation of these turns of the agent."""
    seen = observe(turns)
    assert seen is not None
    return follow(previous, lambda identity: merge(identity, seen), origin(Cause.CAPTURE, **fields))  # type: ignore[arg-type]  # no number among them


def changed(previous: Snapshot | None, change: Callable[[Identity], Identity]) -> Snapshot:
    """Return the version after a change."""
    return follow(previous, change, origin(Cause.PATCH))


def with_patch(previous: Snapshot | None, **fields: object) -> Snapshot:
    """Return the version after a patch."""
    return changed(previous, lambda identity: patched(identity, Patch(**fields)))  # type: ignore[arg-type]
