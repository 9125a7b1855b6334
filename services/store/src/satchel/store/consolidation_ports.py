"""What the engine asks of a database when memories are consolidated, in the store's own terms."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from satchel.store.model import Prepared, Stored
from satchel.store.scope import Scope


@dataclass(frozen=True, slots=True)
class Comparable:
    """Memories that can be compared: ids, and in the same order a vector of unit norm for each.

    ``vectors`` is (memories, dimension): the mean of the passages of each memory.
    """

    ids: tuple[str, ...]
    vectors: NDArray[np.float32]


class SourceVersion(NamedTuple):
    """A memory in the version in which it was read."""

    id: str
    version: int


@dataclass(frozen=True, slots=True)
class Merge:
    """A memory to be stored, with its links, and those that it replaces."""

    memory: Prepared
    sources: tuple[SourceVersion, ...]


class ConsolidationStore(Protocol):
    """A part of `satchel.store.ports.MemoryStore`, to which the same errors and promises apply."""

    async def comparable(self, scope: Scope, *, limit: int) -> Comparable:
        """Return the newest memories of a scope, then by id, that have vectors.

        Without secrets and those with typed fields or a path.
        """
        ...

    async def merge(self, merges: Sequence[Merge], *, batch: str, now: int) -> tuple[Stored, ...]:
        """Store memories and archive what they replace under the id of a batch, in one transaction.

        Each new memory takes over the links of its sources to others, and is known to have come from the
        batch: bringing the batch back archives it, under its own id as that of the batch.

        Raises:
            VersionMismatch: a source was changed, archived or deleted; nothing was done.
        """
        ...
