"""What the pipeline asks of other services, in the allocator's own terms.

Every method may raise a `satchel.runtime.errors.ServiceError`: the peer's own, or that it cannot be reached.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from satchel.allocator.evidence import Located
from satchel.allocator.late_interaction import Codes, no_codes
from satchel.allocator.model import Candidate, Floats, MemoryType, Outline, Vectors


@dataclass(frozen=True, slots=True)
class Scope:
    """Which memories may be found. Empty means no condition; ``until_us`` is exclusive."""

    project: str = ""
    wing: str = ""
    room: str = ""
    types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()
    since_us: int | None = None
    until_us: int | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """Vectors of the texts, shape (texts, dimension), of unit norm, and the model that made them.

    ``codes`` are those of the first text's tokens, (tokens, words); none where the embedder has none.
    """

    vectors: Vectors
    model_sha256: str
    codes: Codes = field(default_factory=no_codes)


@dataclass(frozen=True, slots=True)
class DenseHits:
    """Cosine by id, best first. ``degraded``: not the index but the store's exact search answered."""

    scores: Mapping[str, float]
    revision: int
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class WordHits:
    """BM25 score by id, best first, and number of query words that are tags, by id."""

    scores: Mapping[str, float]
    tags: Mapping[str, int]
    revision: int


class Loaded(Protocol):
    """Memories that were fetched: those asked for, then their neighbours in the session."""

    @property
    def located(self) -> Located:
        """What ranking needs of each memory; neighbours outside the scope are not eligible."""

    @property
    def showable_tokens(self) -> int:
        """Tokens of all texts that may be shown, as far as they are known."""

    def joined(self, other: Self) -> Self:
        """Return these memories and those of another fetch in the same scope."""

    def outline(self, indices: Sequence[int], relevances: Floats) -> Outline:
        """Return what packing needs of every memory; ``relevances`` has one entry an index."""

    def candidate(self, index: int, passage: int) -> Candidate:
        """Return a memory whole; ``passage`` (-1: none) is the one that matters if it has several."""


@dataclass(frozen=True, slots=True)
class StoreCounts:
    """What the store holds: numbers of things, by the names of the contract."""

    verbatim_count: int = 0
    fingerprint_count: int = 0
    embedding_count: int = 0
    causal_node_count: int = 0
    causal_edge_count: int = 0
    total_tokens: int = 0
    type_counts: Mapping[str, int] = field(default_factory=dict)
    active_wings: tuple[str, ...] = ()
    archived_count: int = 0
    pending_embedding_count: int = 0
    pending_enrichment_count: int = 0


@dataclass(frozen=True, slots=True)
class StoreState:
    """What the store holds, and how far it is."""

    counts: StoreCounts
    head_revision: int
    database_bytes: int


@dataclass(frozen=True, slots=True)
class IndexState:
    """What the index does and how far it has followed the store."""

    state: str
    applied_revision: int
    lag: int
    passage_count: int


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which embedding model made a vector."""

    name: str
    revision: str
    sha256: str
    dimension: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Peers:
    """The three services that the allocator works with."""

    embedder: "Embedder"
    index: "Index"
    store: "Store"


class Embedder(Protocol):
    """Texts to vectors."""

    async def embed_query(self, texts: Sequence[str]) -> EmbeddedQuery:
        """Embed the variants of one query."""

    async def list_models(self) -> Sequence[ModelIdentity]:
        """Return the loaded models, the default first."""


class Index(Protocol):
    """Nearest neighbours."""

    async def search(self, query: EmbeddedQuery, scope: Scope, *, limit: int, min_revision: int) -> DenseHits:
        """Find the memories nearest to the first vector of ``query``."""

    async def status(self) -> IndexState:
        """Return the state of the index."""


class Store(Protocol):
    """The truth about memories."""

    async def search_text(self, query: str, scope: Scope, *, limit: int) -> WordHits:
        """Find memories by words and by tags."""

    async def search_vectors(self, query: EmbeddedQuery, scope: Scope, *, limit: int) -> DenseHits:
        """Find the memories nearest to the first vector of ``query``, exactly."""

    async def fetch(
        self, ids: Sequence[str], scope: Scope, *, neighbors: int, neighbors_of_first: int
    ) -> Loaded:
        """Return memories with vectors and neighbours in the session; missing ones are left out."""

    async def status(self, project: str) -> StoreState:
        """Return what the store holds."""


@dataclass(frozen=True, slots=True)
class PartState:
    """State of one part, with a sentence."""

    name: str
    healthy: bool
    detail: str


@dataclass(frozen=True, slots=True)
class SystemState:
    """State of all parts; what did not answer is absent."""

    parts: Sequence[PartState]
    store: StoreState | None = None
    index: IndexState | None = None
    models: Sequence[ModelIdentity] = field(default_factory=tuple)
