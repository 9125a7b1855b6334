"""The port `IdentityStore` in memory."""

from satchel.store.adapters.memory.requests import Requests
from satchel.store.errors import IdentityNotFound
from satchel.store.identity.model import Cause, Snapshot
from satchel.store.identity_ports import Agent, Change, Evolved, Step
from satchel.store.model import RequestKey


class InMemoryIdentities:
    """See the port. ``requests`` are those of the whole store, since their ids are."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._versions: dict[Agent, list[Snapshot]] = {}

    async def evolve(
        self, agent: Agent, change: Change, *, key: RequestKey | None, now: int, keep: int
    ) -> Evolved:
        """See the port."""
        number, changed = self._requests.once(key, now, lambda: self._evolve(agent, change, keep))
        snapshot = await self.version(agent, number)
        if snapshot is None:
            raise IdentityNotFound(agent.agent_id, version=number)
        return Evolved(snapshot, changed)

    def _evolve(self, agent: Agent, change: Change, keep: int) -> tuple[int, bool]:
        known = self._versions.get(agent, [])
        before = known[-1] if known else None
        after = change(before)
        if after is not before:
            self._versions[agent] = [*known, after][-keep:]
        return after.version, after is not before

    async def newest(
        self, agent: Agent, *, limit: int, before: int = 0, cause: Cause | None = None
    ) -> tuple[Snapshot, ...]:
        """See the port."""
        found = (
            snapshot
            for snapshot in reversed(self._versions.get(agent, ()))
            if (not before or snapshot.version < before) and cause in (None, snapshot.cause)
        )
        return tuple(found)[:limit]

    async def version(self, agent: Agent, version: int) -> Snapshot | None:
        """See the port."""
        return next((one for one in self._versions.get(agent, ()) if one.version == version), None)

    async def steps(self, agent: Agent, *, limit: int) -> tuple[Step, ...]:
        """See the port."""
        return tuple(Step(one.version, one.drift_score) for one in await self.newest(agent, limit=limit))

    async def count(self, agent: Agent) -> int:
        """See the port."""
        return len(self._versions.get(agent, ()))

    async def agents(self, project: str, *, after: str, limit: int) -> tuple[Snapshot, ...]:
        """See the port."""
        names = sorted(
            agent for agent in self._versions if agent.project == project and agent.agent_id > after
        )
        return tuple(self._versions[agent][-1] for agent in names[:limit])

    async def delete(self, agent: Agent, *, key: RequestKey | None, now: int) -> int:
        """See the port."""
        return self._requests.once(key, now, lambda: self._delete(agent))

    def _delete(self, agent: Agent) -> int:
        if agent not in self._versions:
            raise IdentityNotFound(agent.agent_id)
        return len(self._versions.pop(agent))
