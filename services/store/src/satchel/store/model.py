"""The store's nouns, free of any transport or driver.

Times are whole microseconds since 1970 in UTC. Enum numbers equal those of the contract, which a test
holds; the core never sees the contract's messages.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

# Where an answer ends: below the 4 MiB that gRPC libraries accept unless they are told otherwise.
MESSAGE_BYTES = 3 << 20


class MemoryType(enum.IntEnum):
    """What kind of thing a memory says."""

    DECISION = 1
    FACT = 2
    PREFERENCE = 3
    SESSION_NOTE = 4
    DEBUG_LOG = 5


class MemoryState(enum.IntEnum):
    """Where a memory is in its life; deleted ones are only seen in the change feed."""

    ACTIVE = 1
    ARCHIVED = 2
    DELETED = 3


class Sensitivity(enum.IntEnum):
    """How carefully a memory must be handled."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3


class Relation(enum.IntEnum):
    """How one memory causes or changes another."""

    BECAUSE = 1
    TRIGGERED = 2
    UPDATES = 3
    CONTRADICTS = 4
    RESOLVES = 5


class Link(NamedTuple):
    """A causal link as one of its ends sees it; ``outgoing`` when the other memory is the effect.

    ``phrase`` holds the words by which the link was found; it is empty for a link that was given.
    """

    memory_id: str
    relation: Relation
    outgoing: bool
    phrase: str = ""


class Trigger(NamedTuple):
    """Words by which a text says that something earlier is the cause of what it tells, or changed by it."""

    relation: Relation
    phrase: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clues:
    """What a text tells of its cause, and where the cause is looked for.

    ``triggers`` has at most one of each relation. ``names`` are what the text is about, and ``words`` the
    whole text, both as `satchel.store.causality.names` writes them. The cause is looked for among the
    ``lookback`` newest memories of the wing that are earlier, by at most ``max_age`` microseconds.
    """

    triggers: tuple[Trigger, ...]
    names: frozenset[str]
    words: str
    lookback: int
    max_age: int


class TokenCosts(NamedTuple):
    """Exact tokens by ``cl100k_base`` of the whole text, the fingerprint line and the header line."""

    verbatim: int
    fingerprint: int
    header: int


@dataclass(frozen=True, slots=True)
class Component:
    """Typed fields of a memory: ``kind`` is the contract's name, such as ``episodic``."""

    kind: str
    fields: Mapping[str, str | int | tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which embedding model made a vector; two identities are the same when ``sha256`` is."""

    name: str
    revision: str
    sha256: str
    dimension: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of one text.

    ``spans`` packs one pair of little-endian int32 for each passage (first code point, code point after
    the last); ``vectors`` packs little-endian float32 rows of unit norm in the same order. ``codes`` are the
    codes of the passages' tokens, as the contract has them, and ``code_counts`` packs one little-endian int32
    for each passage, which says how many it has; both are empty where the model gives none.
    """

    model: ModelIdentity
    count: int
    spans: bytes
    vectors: bytes
    code_counts: bytes = b""
    codes: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """A memory that a caller wants stored.

    ``metadata`` is a JSON object as text, empty for none. A type or room that is absent is derived. What an
    import keeps (``id``, ``created_at``, ``updated_at``, ``session_order``, ``version``, ``state`` and what
    belongs to it) is empty, 0 or the default for a memory that is new. With ``mixed`` the type and the tags
    are those of a stored memory, derived ones among them: what the text gives by itself counts as derived.
    """

    content: str
    wing: str
    room: str = ""
    type: MemoryType | None = None
    metadata: str = ""
    project: str = "default"
    session_id: str = ""
    occurred_at: int | None = None
    tags: tuple[str, ...] = ()
    title: str = ""
    summary: str = ""
    path: str = ""
    component: Component | None = None
    source: str = ""
    sensitivity: Sensitivity = Sensitivity.LOW
    links: tuple[Link, ...] = ()
    id: str = ""
    created_at: int | None = None
    updated_at: int | None = None
    session_order: int = 0
    version: int = 1
    state: MemoryState = MemoryState.ACTIVE
    archived_at: int | None = None
    archive_batch: str = ""
    unarchived_at: int | None = None
    mixed: bool = False


class Words(NamedTuple):
    """What a memory is found by, each part as `satchel.store.words.index_text` writes it."""

    title: str
    tags: str
    summary: str
    body: str
    fields: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A memory with all that is derived from it, ready to be written.

    ``tags`` are given and derived ones, sorted; ``tag_keys`` the same as they are compared. ``hidden`` says
    that the text is a secret, which is neither indexed nor embedded. ``passages`` is `None` while the
    embedding is pending. ``clues`` is `None` where no cause is to be looked for.
    """

    new: NewMemory
    id: str
    created_at: int
    updated_at: int
    type: MemoryType
    declared: bool
    room: str
    path_key: str | None
    tags: tuple[str, ...]
    given_tags: tuple[str, ...]
    fingerprint: str
    fact_count: int
    costs: TokenCosts
    content_hash: bytes
    words: Words
    tag_keys: tuple[str, ...]
    hidden: bool
    passages: Passages | None = None
    clues: Clues | None = None


class Memory(NamedTuple):
    """A stored memory, whole.

    ``fingerprint`` and ``metadata`` are JSON texts; ``passage_count`` is 0 while the embedding is pending.
    ``archive_batch`` is the id of the run that archived it last, also when it is active again.
    A named tuple and not a dataclass because a recall makes hundreds of them.
    """

    id: str
    project: str
    wing: str
    room: str
    path: str
    type: MemoryType
    declared: bool
    title: str
    summary: str
    content: str
    tags: tuple[str, ...]
    given_tags: tuple[str, ...]
    component: Component | None
    metadata: str
    session_id: str
    session_order: int
    occurred_at: int | None
    created_at: int
    updated_at: int
    source: str
    sensitivity: Sensitivity
    state: MemoryState
    version: int
    revision: int
    fingerprint: str
    fact_count: int
    costs: TokenCosts
    passage_count: int
    links: tuple[Link, ...]
    archived_at: int | None = None
    archive_batch: str = ""
    unarchived_at: int | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """What storing a memory gave; ``duplicate`` when it was there already and nothing was written."""

    id: str
    type: MemoryType
    fact_count: int
    token_count: int
    model_sha256: str
    embedded: bool
    duplicate: bool
    revision: int
    created_at: int
    wing: str
    room: str
    version: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """A memory is gone; ``revision`` is that of the store without it."""

    id: str
    revision: int


@dataclass(frozen=True, slots=True)
class RequestKey:
    """A request id, and the digest of the request's method and body."""

    request_id: str
    digest: bytes


class StoredVectors(NamedTuple):
    """The passages of a stored memory, packed as in `Passages`."""

    memory_id: str
    spans: bytes
    vectors: bytes


@dataclass(frozen=True, slots=True)
class Fetched:
    """Memories by id: in the order of the ids, the ids without a memory, neighbours and vectors.

    ``remaining`` are the ids that were not looked at because the others filled the answer.
    """

    memories: tuple[Memory, ...]
    missing: tuple[str, ...]
    neighbors: tuple[Memory, ...]
    vectors: tuple[StoredVectors, ...]
    dimension: int
    remaining: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """Some memories of a listing in its order, and whether more follow."""

    memories: tuple[Memory, ...]
    has_more: bool


class Change(NamedTuple):
    """The newest change of one memory; of a deleted one only ids, state and times are known.

    ``tags`` are folded as they are compared, sorted.
    """

    revision: int
    memory_id: str
    project: str
    state: MemoryState
    changed_at: int
    wing: str = ""
    room: str = ""
    type: MemoryType | None = None
    effective_at: int | None = None
    session_id: str = ""
    tags: tuple[str, ...] = ()
    passage_count: int = 0
    vectors: bytes = b""


@dataclass(frozen=True, slots=True)
class Changes:
    """Some changes by ascending revision; everything up to ``through`` is covered.

    ``store_id`` is that of the database; another one means that the store was replaced. With ``reembedding``
    some memories still have vectors of another model than ``model``, which are left out.
    """

    changes: tuple[Change, ...]
    through: int
    head: int
    model: ModelIdentity | None
    store_id: str
    reembedding: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """A memory that waits for its vectors; ``text`` is what is to be embedded."""

    id: str
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors for a memory that still has this version."""

    id: str
    version: int
    passages: Passages


@dataclass(frozen=True, slots=True)
class Status:
    """What the store holds; counts cover active and archived memories.

    ``outdated`` is how many have vectors of another model than ``model``, the one in use.
    """

    memories: int
    archived: int
    passages: int
    pending: int
    tokens: int
    linked_memories: int
    links: int
    by_type: Mapping[MemoryType, int]
    wings: tuple[str, ...]
    head: int
    schema_version: int
    database_bytes: int
    model: ModelIdentity | None
    outdated: int = 0
