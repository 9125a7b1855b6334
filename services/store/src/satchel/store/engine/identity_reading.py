"""Use cases of identities that change nothing: recall, compare, report and list."""

from collections.abc import Sequence
from dataclasses import dataclass

from satchel.store.engine.identity_memories import IdentityMemories
from satchel.store.engine.identity_rules import Rules
from satchel.store.errors import IdentityNotFound
from satchel.store.identity.drift import Diffusion, diffusion
from satchel.store.identity.evolving import Drift, drift_between
from satchel.store.identity.model import Cause, Snapshot
from satchel.store.identity.prompts import Language, Prompt
from satchel.store.identity_ports import Agent, IdentityStore, Step

_RECENT = 3
_MOST_SWAPS = 10
_SHORTEST_WINDOW = 2


@dataclass(frozen=True, slots=True)
class Drifted:
    """Drift over a window, the step in it that was largest, and how settled the identity is."""

    drift: Drift
    largest: Step
    diffusion: Diffusion


@dataclass(frozen=True, slots=True)
class IdentityStatus:
    """An identity as text, how it came to be, and its drift."""

    newest: Snapshot
    text: str
    recent: tuple[Snapshot, ...]
    swaps: tuple[Snapshot, ...]
    drift: Drift
    versions: int


@dataclass(frozen=True, slots=True)
class History:
    """Versions, newest first, whether there are older ones, and the oldest that is kept."""

    versions: tuple[Snapshot, ...]
    has_more: bool
    count: int


class IdentityReading:
    """What can be read of identities. Every method raises `IdentitiesDisabled` while they are off."""

    def __init__(self, store: IdentityStore, rules: Rules, memories: IdentityMemories) -> None:
        self._store = store
        self._rules = rules
        self._memories = memories

    async def recall(
        self, agent: Agent, *, context: str, language: Language, budget: int
    ) -> tuple[Snapshot, Prompt]:
        """Show the identity within a budget (0 for the default), with memories that go with the context.

        Raises:
            IdentityNotFound: nothing is known of the agent.
        """
        snapshot = await self.newest(agent)
        memories = await self._memories.related(snapshot, context)
        return snapshot, self._rules.rendering(language, budget).recall(snapshot, memories)

    async def drift(self, agent: Agent, window: int) -> Drifted:
        """Compare the newest version with the oldest of a window (0 for the default).

        Raises:
            IdentityNotFound: nothing is known of the agent.
        """
        newest = await self.newest(agent)
        steps = await self._store.steps(
            agent, limit=max(window or self._rules.drift_window, _SHORTEST_WINDOW)
        )
        oldest = await self._store.version(agent, steps[-1].version) or newest
        largest = max(steps[:-1], key=lambda step: step.drift_score, default=Step(0, 0.0))
        return Drifted(
            drift_between(oldest, newest, self._rules.drift_threshold), largest, diffusion(newest.identity)
        )

    async def status(self, agent: Agent, language: Language) -> IdentityStatus:
        """Show the identity, its newest versions, its swaps and its drift.

        Raises:
            IdentityNotFound: nothing is known of the agent.
        """
        newest = await self.newest(agent)
        return IdentityStatus(
            newest,
            self._rules.rendering(language, 0).recall(newest).text,
            await self._store.newest(agent, limit=_RECENT),
            await self._store.newest(agent, limit=_MOST_SWAPS, cause=Cause.SWAP),
            (await self.drift(agent, 0)).drift,
            await self._store.count(agent),
        )

    async def history(self, agent: Agent, *, limit: int, before: int) -> History:
        """Return versions from below ``before`` (0 for all), newest first.

        Raises:
            IdentityNotFound: nothing is known of the agent.
        """
        await self.newest(agent)
        found = await self._store.newest(agent, limit=limit + 1, before=before)
        return History(found[:limit], len(found) > limit, await self._store.count(agent))

    async def newest(self, agent: Agent) -> Snapshot:
        """Return the newest version.

        Raises:
            IdentityNotFound: nothing is known of the agent.
        """
        self._rules.check_enabled()
        found = await self._store.newest(agent, limit=1)
        if not found:
            raise IdentityNotFound(agent.agent_id)
        return found[0]

    async def version(self, agent: Agent, version: int) -> Snapshot:
        """Return one version; 0 for the newest.

        Raises:
            IdentityNotFound: it is not kept.
        """
        if not version:
            return await self.newest(agent)
        self._rules.check_enabled()
        found = await self._store.version(agent, version)
        if found is None:
            raise IdentityNotFound(agent.agent_id, version=version)
        return found

    @property
    def enabled(self) -> bool:
        """Whether identities are kept."""
        return self._rules.enabled

    async def agents(self, project: str, *, after: str, limit: int) -> Sequence[Snapshot]:
        """Return the newest version of each agent after a name, one more than ``limit`` if there is one.

        None while identities are off, whatever was kept before.
        """
        if not self._rules.enabled:
            return ()
        return await self._store.agents(project, after=after, limit=limit + 1)
