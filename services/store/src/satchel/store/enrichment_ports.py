"""What the engine asks of a database and of a language model that reads memories, in its own terms."""

from dataclasses import dataclass
from typing import Protocol

from satchel.store.model import Memory


@dataclass(frozen=True, slots=True)
class Unread:
    """Memories that no language model has read, oldest first, and the newest revision at that time."""

    memories: tuple[Memory, ...]
    head: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Enriched:
    """The facts of a memory that still has this version; ``fingerprint_tokens`` of the line of the facts."""

    id: str
    version: int
    fingerprint: str
    fact_count: int
    fingerprint_tokens: int


class EnrichmentStore(Protocol):
    """A part of `satchel.store.ports.MemoryStore`, to which the same errors and promises apply.

    Memories are read once in every version: a change of one makes it unread again. Secrets, memories of high
    sensitivity and archived ones are never unread.
    """

    async def unread(self, *, limit: int) -> Unread:
        """Return memories to be read."""
        ...

    async def enrich(self, enriched: Enriched) -> bool:
        """Put facts in place of those that are there, with a new revision and the same version.

        The memory is read then. False, and nothing is done, when it was changed or is gone.
        """
        ...

    async def settle(self, memory_id: str, *, version: int) -> None:
        """Keep the facts that are there: the memory counts as read in this version."""
        ...

    async def unread_count(self, project: str) -> int:
        """Count memories to be read; an empty project means every one."""
        ...


class LanguageModel(Protocol):
    """Answers a question about a text."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    async def ask(self, text: str) -> str:
        """Return the answer, which may be anything.

        Raises:
            LanguageModelUnavailable: it does not answer, or not now.
            LanguageModelFailed: it did not answer about this text, and may not the next time.
        """
        ...


class LanguageModelUnavailable(Exception):  # noqa: N818  # says what happened; never reaches a client
    """The language model does not answer, or not now."""


class LanguageModelFailed(Exception):  # noqa: N818  # says what happened; never reaches a client
    """The language model took too long over a text, or its answer is none."""
