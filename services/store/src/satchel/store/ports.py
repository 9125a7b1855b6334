"""What the engine asks of a database and of an embedder, in the store's own terms."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from satchel.runtime.errors import ServiceError
from satchel.store.candidates import CandidateQuery, Candidates
from satchel.store.consolidation_ports import ConsolidationStore
from satchel.store.enrichment_ports import EnrichmentStore
from satchel.store.graph_ports import GraphStore
from satchel.store.identity_ports import IdentityStore
from satchel.store.lifecycle_ports import LifecycleStore
from satchel.store.model import (
    MESSAGE_BYTES,
    Changes,
    Deleted,
    Embedded,
    Fetched,
    Memory,
    ModelIdentity,
    Passages,
    Pending,
    Prepared,
    RequestKey,
    Slice,
    Status,
    Stored,
)
from satchel.store.reembedding_ports import ReembeddingStore
from satchel.store.scope import Place, Scope, TextFound, VectorsFound
from satchel.store.webhooks.ports import WebhookStore


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchQuery:
    """Which memories to fetch; an empty ``project`` means any.

    Without ``with_details`` component, metadata, source and path are left out, and the texts of secrets.
    ``max_bytes`` bounds the answer, neighbours and vectors included, but not its first memory.
    """

    ids: tuple[str, ...]
    project: str = ""
    with_details: bool = True
    with_vectors: bool = False
    neighbors: int = 0
    max_bytes: int = MESSAGE_BYTES


class Term(NamedTuple):
    """A word of a query: folded ``text``, the ``token`` that the index holds, and whether it is a prefix."""

    text: str
    token: str
    prefix: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TextQuery:
    """Words to search: a hit with all ``terms`` is best; ``parts`` are for a looser try."""

    terms: tuple[Term, ...]
    parts: tuple[Term, ...]
    scope: Scope
    top_k: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorQuery:
    """A vector to compare: packed little-endian float32; an empty ``model_sha256`` skips the check."""

    vector: bytes
    model_sha256: str
    scope: Scope
    top_k: int


@dataclass(frozen=True, slots=True)
class Export:
    """An export under way: how many memories it holds, and these in batches by creation time and id."""

    total: int
    batches: AsyncIterator[tuple[Memory, ...]]


@dataclass(frozen=True, slots=True)
class Attached:
    """How many memories got their vectors, and whether any was refused because of its model."""

    count: int
    refused: bool


class MemoryStore(Protocol):
    """The truth about memories.

    Every method may raise `StoreUnavailable` and `Overloaded`, and every write `StoreFull`. A write that
    returned is on disk. ``now`` is in microseconds.
    """

    @property
    def lifecycle(self) -> LifecycleStore:
        """Timeline, archive, clearing and versions."""
        ...

    @property
    def identities(self) -> IdentityStore:
        """Identities of agents."""
        ...

    @property
    def graph(self) -> GraphStore:
        """Causal links, and where they lead."""
        ...

    @property
    def consolidation(self) -> ConsolidationStore:
        """Memories that become one."""
        ...

    @property
    def enrichment(self) -> EnrichmentStore:
        """Memories that a language model has not read."""
        ...

    @property
    def reembedding(self) -> ReembeddingStore:
        """Vectors that are made anew for another model."""
        ...

    @property
    def webhooks(self) -> WebhookStore:
        """Endpoints, and the events on their way to them."""
        ...

    async def add(self, batch: Sequence[Prepared], *, key: RequestKey | None, now: int) -> tuple[Stored, ...]:
        """Store memories, all or none; one that is there already comes back as a duplicate.

        Raises:
            PathTaken, LinkTargetNotFound, RequestIdReused: as the contract of ``StoreMemory`` says.
        """
        ...

    async def import_(self, records: Sequence[Prepared]) -> tuple[Stored | ServiceError, ...]:
        """Store records each on its own, in order, keeping what they bring; answers in the same order."""
        ...

    async def replace(
        self, memory: Prepared, *, base_version: int, keep_passages: bool, key: RequestKey | None, now: int
    ) -> Memory:
        """Put ``memory`` in place of the version that it was made from.

        Raises:
            MemoryNotFound: it is gone.
            VersionMismatch: it was changed meanwhile.
            PathTaken, RequestIdReused: as the contract of ``UpdateMemory`` says.
        """
        ...

    async def keep_unchanged(self, memory_id: str, *, base_version: int, key: RequestKey, now: int) -> Memory:
        """Keep the answer to an update that changes nothing, and return it: the memory as it is.

        Raises:
            MemoryNotFound, VersionMismatch, RequestIdReused: as `replace`.
        """
        ...

    async def delete(
        self, memory_id: str, *, project: str, expected_version: int, key: RequestKey | None, now: int
    ) -> Deleted:
        """Delete a memory for good; an empty project means any, version 0 any.

        Raises:
            MemoryNotFound, VersionMismatch, RequestIdReused: as the contract of ``DeleteMemory`` says.
        """
        ...

    async def attach(self, embedded: Sequence[Embedded]) -> Attached:
        """Give pending memories their vectors; those that changed meanwhile are left out."""
        ...

    async def are_stored(self, memories: Sequence[Prepared]) -> tuple[bool, ...]:
        """Tell of each memory whether adding it now would find it there; a hint that saves embedding."""
        ...

    async def stored_answer(self, key: RequestKey, now: int) -> tuple[Stored, ...] | None:
        """Return what an earlier store with this request id answered within 24 hours.

        Raises:
            RequestIdReused: the id came with another body.
        """
        ...

    async def updated_answer(self, key: RequestKey, now: int) -> Memory | None:
        """Return what an earlier update with this request id answered; raises as `stored_answer`."""
        ...

    async def fetch(self, query: FetchQuery) -> Fetched:
        """Return memories by id, with neighbours and vectors where asked for."""
        ...

    async def fetch_candidates(self, query: CandidateQuery) -> Candidates:
        """Return what a recall needs of memories, in columns."""
        ...

    async def page(self, scope: Scope, *, after: Place | None, limit: int, max_bytes: int) -> Slice:
        """Return memories by descending creation time, then ascending id, from after a place.

        At most ``limit``, and no more than fit in ``max_bytes``, but at least one if there is any.
        """
        ...

    def export(self, scope: Scope, *, max_bytes: int) -> AbstractAsyncContextManager[Export]:
        """Open an export that sees the store as it is now; its batches are bounded as a page is."""
        ...

    async def pending(self, *, skip: frozenset[str], limit: int) -> tuple[Pending, ...]:
        """Return memories that have no vectors at all, oldest first, without those to skip."""
        ...

    async def search_text(self, query: TextQuery) -> TextFound:
        """Find memories by words and by tags."""
        ...

    async def search_vectors(self, query: VectorQuery) -> VectorsFound:
        """Compare a vector with every passage in the scope.

        Raises:
            DimensionMismatch, ModelMismatch: the query does not go with the stored vectors.
        """
        ...

    async def changes(
        self, after: int, *, limit: int, max_bytes: int, project: str, with_vectors: bool
    ) -> Changes:
        """Return changes after a revision; an empty project means every one. Bounded as a page is."""
        ...

    async def wait_beyond(self, revision: int) -> None:
        """Return once the newest revision is greater."""
        ...

    async def status(self, project: str) -> Status:
        """Count what the store holds; an empty project means every one."""
        ...


class Embedder(Protocol):
    """Turns texts into passages with vectors."""

    async def loaded_model(self, *, timeout_s: float) -> ModelIdentity:
        """Return the model that makes the vectors.

        Raises:
            EmbedderUnavailable: it does not answer, or has no model.
        """
        ...

    async def gives_codes(self, *, timeout_s: float) -> bool:
        """Tell whether the passages of that model have codes of their tokens.

        Raises:
            EmbedderUnavailable: it does not answer, or not now.
            EmbedderRefused: it does not even accept a word.
        """
        ...

    async def embed(self, texts: Sequence[str], *, timeout_s: float) -> tuple[Passages, ...]:
        """Return the passages of each text, in order.

        Raises:
            EmbedderUnavailable: it does not answer, or not now; the texts may be tried again.
            EmbedderRefused: it does not accept one of the texts.
        """
        ...


class EmbedderUnavailable(Exception):  # noqa: N818  # says what happened; never reaches a client
    """The embedder does not answer, or not now."""


class EmbedderRefused(Exception):  # noqa: N818  # says what happened; never reaches a client
    """The embedder does not accept a text; trying again will not help."""
