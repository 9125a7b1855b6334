"""Use cases that change identities: capture, update, patch, swap and delete."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from satchel.runtime.errors import InvalidRequest
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.telemetry import span
from satchel.store.engine.identity_rules import Rules
from satchel.store.errors import DirectiveNotUnderstood, IdentityNotFound
from satchel.store.identity.directive_words import FAMILIES
from satchel.store.identity.directives import read_directive
from satchel.store.identity.editing import edited, set_metrics
from satchel.store.identity.evolving import Drift, Origin, drift_between, follow, unchanged_model
from satchel.store.identity.merging import merge
from satchel.store.identity.model import Cause, Identity, Snapshot
from satchel.store.identity.patching import Patch, patched
from satchel.store.identity.prompts import Language, Prompt
from satchel.store.identity.reading import Observation, observe
from satchel.store.identity.turns import Message, agent_messages, agent_turns
from satchel.store.identity.wishes import edits_of
from satchel.store.identity_ports import Agent, Change, Evolved, IdentityStore
from satchel.store.model import RequestKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A conversation to read: a text, or messages; ``metrics`` is a JSON object as text, empty for none."""

    conversation: str = ""
    messages: tuple[Message, ...] = ()
    model_id: str = ""
    session_id: str = ""
    metrics: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of a capture; ``drift`` is None where it is not measured."""

    snapshot: Snapshot
    changed: bool
    replies: int
    observed: tuple[str, ...]
    drift: Drift | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """A change of the model; ``budget`` is in tokens, 0 for the default."""

    from_model: str
    to_model: str
    reason: str
    language: Language
    budget: int


@dataclass(frozen=True, slots=True)
class Swapped:
    """A change of the model; ``recorded`` is the model that was on record before."""

    snapshot: Snapshot
    prompt: Prompt
    recorded: str


class IdentityWriting:
    """What changes identities. Every method raises `IdentitiesDisabled` while they are off.

    Conversations are read by ``reader``, beside the event loop.
    """

    def __init__(
        self,
        store: IdentityStore,
        rules: Rules,
        *,
        reader: BoundedExecutor,
        clock: Callable[[], int],
    ) -> None:
        self._store = store
        self._rules = rules
        self._reader = reader
        self._clock = clock

    async def capture(self, agent: Agent, capture: Capture, key: RequestKey | None) -> Captured:
        """Read a conversation beside the event loop, and add what it shows to the identity.

        Raises:
            InvalidRequest: no turn of the agent is found in it.
            RequestIdReused: as the contract says.
        """
        self._rules.check_enabled()
        with span("satchel.store.read_conversation"):
            seen = await self._reader.run(_observe, agent.agent_id, capture)
        origin = self._origin(agent, Cause.CAPTURE, capture.reason, capture.session_id, capture.model_id)

        def change(previous: Snapshot | None) -> Snapshot:
            if previous is not None and not self._rules.evolves:
                return previous
            return follow(previous, partial(_learned, seen=seen, metrics=capture.metrics), origin)

        evolved = await self._evolve(agent, change, key)
        measures = evolved.changed and self._rules.checks_after_capture
        return Captured(
            evolved.snapshot,
            evolved.changed,
            seen.behavior.replies,
            tuple(sorted(seen.traits, key=lambda name: (-seen.traits[name], name))),
            await self._drift_from_parent(agent, evolved.snapshot) if measures else None,
        )

    async def update(
        self, agent: Agent, directive: str, reason: str, key: RequestKey | None
    ) -> tuple[Evolved, tuple[str, ...]]:
        """Follow a directive; return what became of it and what was understood.

        Raises:
            DirectiveNotUnderstood: nothing of it was.
            RequestIdReused: as the contract says.
        """
        self._rules.check_enabled()
        intents = read_directive(directive)
        if not intents:
            raise DirectiveNotUnderstood(tuple(FAMILIES))
        origin = self._origin(agent, Cause.UPDATE, reason)
        evolved = await self._evolve(
            agent,
            lambda previous: follow(previous, lambda now: edited(now, edits_of(intents)), origin),
            key,
        )
        return evolved, tuple(map(str, intents))

    async def patch(self, agent: Agent, patch: Patch, reason: str, key: RequestKey | None) -> Evolved:
        """Set single fields.

        Raises:
            InvalidRequest: there would be too many traits.
            RequestIdReused: as the contract says.
        """
        self._rules.check_enabled()
        origin = self._origin(agent, Cause.PATCH, reason)
        return await self._evolve(
            agent, lambda previous: follow(previous, lambda now: patched(now, patch), origin), key
        )

    async def swap(self, agent: Agent, swap: Swap, key: RequestKey | None) -> Swapped:
        """Record that the agent goes to another model, and show it to that model.

        Raises:
            IdentityNotFound: nothing is known of the agent.
            RequestIdReused: as the contract says.
        """
        self._rules.check_enabled()
        origin = self._origin(agent, Cause.SWAP, swap.reason, model_id=swap.to_model)
        origin = replace(origin, from_model=swap.from_model)

        def change(previous: Snapshot | None) -> Snapshot:
            if previous is None:
                raise IdentityNotFound(agent.agent_id)
            return follow(previous, lambda now: now, origin)

        snapshot = (await self._evolve(agent, change, key)).snapshot
        parent = await self._store.version(agent, snapshot.parent_version)
        is_known = parent is not None and not unchanged_model(parent.model_id)
        recorded = parent.model_id if parent is not None and is_known else swap.from_model
        if not self._rules.reinforces_after_swap:
            return Swapped(snapshot, Prompt(), recorded)
        return Swapped(
            snapshot, self._rules.rendering(swap.language, swap.budget).reinforce(snapshot), recorded
        )

    async def delete(self, agent: Agent, key: RequestKey | None) -> int:
        """Delete an identity for good; return how many versions it had.

        Raises:
            IdentityNotFound, RequestIdReused: nothing was deleted.
        """
        self._rules.check_enabled()
        return await self._store.delete(agent, key=key, now=self._clock())

    async def _evolve(self, agent: Agent, change: Change, key: RequestKey | None) -> Evolved:
        return await self._store.evolve(
            agent, change, key=key, now=self._clock(), keep=self._rules.versions_kept
        )

    async def _drift_from_parent(self, agent: Agent, snapshot: Snapshot) -> Drift | None:
        parent = await self._store.version(agent, snapshot.parent_version)
        return None if parent is None else drift_between(parent, snapshot, self._rules.drift_threshold)

    def _origin(
        self, agent: Agent, cause: Cause, reason: str, session_id: str = "", model_id: str = ""
    ) -> Origin:
        return Origin(
            agent_id=agent.agent_id,
            project=agent.project,
            cause=cause,
            now=self._clock(),
            reason=reason,
            session_id=session_id,
            model_id=model_id,
        )


def _observe(agent_id: str, capture: Capture) -> Observation:
    if capture.messages:
        turns, field = agent_messages(capture.messages, agent_id), "messages"
    else:
        turns, field = agent_turns(capture.conversation, agent_id), "conversation"
    seen = observe(turns)
    if seen is None:
        raise _no_turns(field)
    return seen


def _no_turns(field: str) -> InvalidRequest:
    remedy = (
        "Begin each turn with its speaker, such as 'User:' and 'Assistant:', or send messages with roles."
    )
    return InvalidRequest.of(
        field,
        "ERROR_REASON_FIELD_PATTERN_MISMATCH",
        f"The field '{field}' has no turn of the agent that holds a word. {remedy}",
        limit="at least one turn of the agent",
        remedy=remedy,
    )


def _learned(identity: Identity, *, seen: Observation, metrics: str) -> Identity:
    merged = merge(identity, seen)
    return set_metrics(metrics)(merged) if metrics else merged
