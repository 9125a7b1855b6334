"""What the engine asks of a database in which vectors are made anew for another model, in its own terms."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from satchel.store.model import Embedded, ModelIdentity, Pending


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCounts:
    """How many memories have which vectors; ``model`` is the one in use, `None` while there are no vectors.

    ``outdated`` memories have vectors of another model, ``pending`` ones have none, and ``uncoded`` ones have
    those of the model in use without codes of tokens. ``total`` were to be done when the last run began, at
    ``begun_at`` (`None` without one); uncoded ones are among them ``with_codes``. It ``is_open`` until it is
    finished or cancelled. Of one project, ``total`` is 0.
    """

    model: ModelIdentity | None
    outdated: int
    pending: int
    uncoded: int
    total: int = 0
    begun_at: int | None = None
    finished_at: int | None = None
    cancelled_at: int | None = None
    with_codes: bool = False

    @property
    def is_open(self) -> bool:
        """Whether there is a run that is neither finished nor cancelled."""
        return self.begun_at is not None and self.finished_at is None and self.cancelled_at is None

    @property
    def done(self) -> int:
        """How many of ``total`` have what they lacked, or are gone."""
        return max(0, self.total - self.outdated - (self.uncoded if self.with_codes else 0))


class ReembeddingStore(Protocol):
    """A part of `satchel.store.ports.MemoryStore`, to which the same errors and promises apply.

    A memory has the vectors of one model. Those of another model than the one in use are kept and never
    shown: such a memory is as one that waits for its vectors, to all but this part.
    """

    async def begin(self, model: ModelIdentity, *, with_codes: bool, now: int) -> None:
        """Put a model to use: vectors of any other are outdated from now on, and its own are not any more.

        ``with_codes`` memories without codes are to be done too. A run that is open goes on, and nothing
        begins where there is nothing to do. To change the model takes the same time for any number of
        memories where the database is a file.
        """
        ...

    async def outdated(self, *, limit: int, max_code_points: int) -> tuple[Pending, ...]:
        """Return memories that the run has to do, oldest first: as many as fit, but at least one.

        Those whose vectors are outdated come before those that only lack codes.
        """
        ...

    async def renew(self, embedded: Sequence[Embedded]) -> bool:
        """Put vectors in place of those that were to be made anew, each with a new revision.

        Memories that changed meanwhile are left out. False, and nothing is done, where the vectors are not of
        the model in use. Where they come without codes, the run asks for codes no more.
        """
        ...

    async def give_up(self, memory_id: str, *, version: int) -> None:
        """Leave out a memory that cannot get new vectors: outdated ones are dropped, and it is pending then.

        One that only lacks codes keeps its vectors, and does not count as uncoded any more.
        """
        ...

    async def finish(self, *, now: int) -> bool:
        """Close the run if nothing is left of it; return whether nothing is, or it was cancelled."""
        ...

    async def cancel(self, *, now: int) -> None:
        """End the run if it is open; what is left stays as it is until another begins."""
        ...

    async def counts(self, project: str = "") -> VectorCounts:
        """Count the memories of a project; an empty one means every one."""
        ...
