"""What the engine asks of a database in which vectors are made anew for another model, in its own terms."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from satchel.store.model import Embedded, ModelIdentity, Pending


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCounts:
    """How many memories have which vectors; ``model`` is the one in use, `None` while there are no vectors.

    ``outdated`` memories have vectors of another model, ``pending`` ones have none. ``total`` were outdated
    when the last run began, at ``begun_at`` (`None` without one); it ``is_open`` until it is finished.
    """

    model: ModelIdentity | None
    outdated: int
    pending: int
    total: int = 0
    begun_at: int | None = None
    finished_at: int | None = None
    is_open: bool = False


class ReembeddingStore(Protocol):
    """A part of `satchel.store.ports.MemoryStore`, to which the same errors and promises apply.

    A memory has the vectors of one model. Those of another model than the one in use are kept and never
    shown: such a memory is as one that waits for its vectors, to all but this part.
    """

    async def begin(self, model: ModelIdentity, *, now: int) -> None:
        """Put a model to use: vectors of any other are outdated from now on, and its own are not any more.

        Nothing is done when it is in use, or when there are no vectors. Takes the same time for any number of
        memories where the database is a file.
        """
        ...

    async def outdated(self, *, limit: int, max_code_points: int) -> tuple[Pending, ...]:
        """Return memories whose vectors are outdated, oldest first: as many as fit, but at least one."""
        ...

    async def renew(self, embedded: Sequence[Embedded]) -> bool:
        """Put vectors in place of outdated ones, each with a new revision.

        Memories that changed meanwhile are left out. False, and nothing is done, where the vectors are not of
        the model in use.
        """
        ...

    async def give_up(self, memory_id: str, *, version: int) -> None:
        """Drop the outdated vectors of a memory that cannot get new ones: it is pending then."""
        ...

    async def finish(self, *, now: int) -> bool:
        """Close the run if nothing is outdated any more; return whether that is so."""
        ...

    async def counts(self) -> VectorCounts:
        """Count the memories of every project."""
        ...
