"""What the engine asks of a database for identities of agents."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from satchel.store.identity.model import Cause, Snapshot
from satchel.store.model import RequestKey

# Makes the next version of the newest one (None for an agent that is not known), or gives it back unchanged.
# Pure and quick: it runs inside of the write. What it raises ends the write, of which then nothing is left.
Change: TypeAlias = Callable[[Snapshot | None], Snapshot]


class Agent(NamedTuple):
    """Whose identity it is."""

    project: str
    agent_id: str


class Evolved(NamedTuple):
    """The newest version after a change, and whether the change made it."""

    snapshot: Snapshot
    changed: bool


class Step(NamedTuple):
    """A version, and its drift from the one before it."""

    version: int
    drift_score: float


class IdentityStore(Protocol):
    """Identities in versions that count up by one and are never edited.

    A part of `satchel.store.ports.MemoryStore`, to which the same errors and promises apply. ``now`` is in
    microseconds.
    """

    async def evolve(
        self, agent: Agent, change: Change, *, key: RequestKey | None, now: int, keep: int
    ) -> Evolved:
        """Change an identity, and keep the newest ``keep`` versions of it.

        No other change comes between reading the newest version and writing the next. A request that was
        answered within 24 hours is answered again.

        Raises:
            RequestIdReused: the request's id came with another body.
            IdentityNotFound: the version that a request was answered with is gone.
            ServiceError: what ``change`` raised; nothing was written.
        """
        ...

    async def newest(
        self, agent: Agent, *, limit: int, before: int = 0, cause: Cause | None = None
    ) -> tuple[Snapshot, ...]:
        """Return versions, newest first, from below ``before`` (0 for all); none for an agent not known."""
        ...

    async def version(self, agent: Agent, version: int) -> Snapshot | None:
        """Return one version; None if it is not kept."""
        ...

    async def steps(self, agent: Agent, *, limit: int) -> tuple[Step, ...]:
        """Return the newest versions' numbers and drift, newest first."""
        ...

    async def count(self, agent: Agent) -> int:
        """Return how many versions are kept."""
        ...

    async def agents(self, project: str, *, after: str, limit: int) -> tuple[Snapshot, ...]:
        """Return the newest version of each agent, by name, of those whose name is greater than ``after``.

        Names compare code point by code point.
        """
        ...

    async def delete(self, agent: Agent, *, key: RequestKey | None, now: int) -> int:
        """Delete an identity with all its versions; return how many there were.

        Raises:
            IdentityNotFound, RequestIdReused: nothing was deleted.
        """
        ...
