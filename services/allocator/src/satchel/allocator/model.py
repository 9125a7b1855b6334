"""The nouns of the allocator: candidates and their scores. What is chosen of them is in `results`.

Frozen and free of transport. Times are integers: microseconds since 1970 in UTC. What a recall makes
hundreds of is a `NamedTuple`: ten times faster to build than a frozen dataclass.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]

MICROSECONDS_PER_SECOND = 1_000_000
SECONDS_PER_DAY = 86_400


class MemoryType(enum.Enum):
    """What kind of thing a memory says."""

    DECISION = "decision"
    FACT = "fact"
    PREFERENCE = "preference"
    SESSION_NOTE = "session_note"
    DEBUG_LOG = "debug_log"


class Form(enum.Enum):
    """In which form a memory is shown."""

    HEADER = "header"
    FINGERPRINT = "fingerprint"
    VERBATIM = "verbatim"
    EXCERPT = "excerpt"

    # Members are single objects; the hash of `enum.Enum` is slow and asked for at every price.
    __hash__ = object.__hash__


class StrategyName(enum.Enum):
    """How memories are chosen for a budget."""

    CBA = "cba"
    KNAPSACK = "knapsack"
    TOP = "top"


class ThresholdMethod(enum.Enum):
    """How the relevance below which candidates are dropped is found."""

    IQR = "iqr"
    ELBOW = "elbow"
    MEAN_STDDEV = "mean_stddev"
    OFF = "off"


class Fusion(enum.Enum):
    """How the rankings by meaning and by words are joined."""

    RECIPROCAL_RANK = "reciprocal_rank"
    STANDARD_SCORE = "standard_score"


class Factor(enum.Enum):
    """A factor of the score of Context Budget Allocation that can be switched off."""

    DENSITY = "density"
    AGE = "age"
    OVERLAP = "overlap"
    SESSION = "session"
    CAUSAL = "causal"


class Outcome(enum.Enum):
    """What became of a candidate."""

    CHOSEN = "chosen"
    SHORTENED = "shortened"
    COLLAPSED = "collapsed"
    BELOW_THRESHOLD = "below_threshold"
    UNAFFORDABLE = "unaffordable"
    NO_GAIN = "no_gain"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The passage that matters: code points ``start`` to ``end`` of the text."""

    start: int
    end: int


class Candidate(NamedTuple):
    """A memory that may be shown.

    ``verbatim_tokens`` is the stored count of ``text``; `None` when nobody counted yet. ``version`` is 0
    when the same id may stand for another text next time, which keeps counts out of the cache. ``dates``
    says, below the whole text, what its relative times mean.
    """

    id: str
    text: str
    type: MemoryType = MemoryType.SESSION_NOTE
    fingerprint: str | Callable[[], str] = ""
    fact_count: int = 1
    wing: str = ""
    room: str = ""
    session_id: str = ""
    session_order: int = 0
    occurred_us: int | None = None
    created_us: int | None = None
    version: int = 0
    verbatim_tokens: int | None = None
    links: frozenset[str] = frozenset()
    excerpt: Excerpt | None = None
    dates: str = ""

    @property
    def facts(self) -> str:
        """The line of facts; read from the fingerprint when it is asked for. Empty for none."""
        return self.fingerprint if isinstance(self.fingerprint, str) else self.fingerprint()

    @property
    def time_us(self) -> int | None:
        """When it happened or, without that, when it was stored."""
        return self.occurred_us if self.occurred_us is not None else self.created_us


class Boost(enum.Enum):
    """What raises or lowers a memory beside its fused score."""

    LATE_INTERACTION = "late_interaction"
    NEIGHBORS = "neighbors"
    SESSION = "session"
    SPEAKER = "speaker"
    TIME = "time"
    QUESTION = "question"


class Signals(NamedTuple):
    """How a candidate was found. Ranks count from 1; 0 means not found so. Boosts add to the fused score."""

    dense_rank: int = 0
    lexical_rank: int = 0
    tag_matches: int = 0
    similarity: float | None = None
    lexical_score: float = 0.0
    fused_score: float = 0.0
    late_boost: float = 0.0
    neighbor_boost: float = 0.0
    session_boost: float = 0.0
    speaker_boost: float = 0.0
    time_boost: float = 0.0
    question_boost: float = 0.0


class Scored(NamedTuple):
    """A candidate with its relevance (rho), in [0, 1], and its row in the pool's vectors (-1 for none)."""

    candidate: Candidate
    relevance: float
    row: int = -1
    signals: Signals = Signals()


@dataclass(frozen=True, slots=True)
class Outline:
    """What packing needs of all candidates before it looks at one, as columns; best first.

    ``tokens`` are the stored counts of the texts, `None` where nobody counted.
    """

    ids: Sequence[str]
    relevances: Floats
    tokens: Sequence[int | None]
    wings: Sequence[str]
    texts: Sequence[str]

    @classmethod
    def of(cls, items: "Sequence[Scored]") -> Self:
        """Return the outline of candidates that are there already."""
        candidates = [item.candidate for item in items]
        return cls(
            ids=[one.id for one in candidates],
            relevances=np.array([item.relevance for item in items], dtype=np.float64),
            tokens=[one.verbatim_tokens for one in candidates],
            wings=[one.wing for one in candidates],
            texts=[one.text for one in candidates],
        )

    def first(self, count: int) -> Self:
        """Return the outline of the best ``count``."""
        if count == len(self.ids):
            return self
        return type(self)(
            self.ids[:count],
            self.relevances[:count],
            self.tokens[:count],
            self.wings[:count],
            self.texts[:count],
        )


@dataclass(frozen=True, slots=True)
class Pool:
    """What a strategy chooses from: candidates, best first, and their vectors.

    ``vectors`` has one row of unit norm a candidate that has a vector; shape (rows, dimension). ``reserve``
    are near duplicates of items, best first, that may be shown when everything else has had its turn.
    """

    items: Sequence[Scored]
    vectors: Vectors
    outline: Outline
    reserve: Sequence[Scored] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates after fusion, best first, the rows of their vectors, and those that collapsed.

    ``collapsed`` holds pairs of a candidate and the id of the better one that stands for it. ``tail`` is the
    relevance of those after the items that can reach no threshold and so were not read. ``outline`` has the
    columns of the items; items that are made when they are looked at come with one.
    """

    items: Sequence[Scored]
    vectors: Vectors
    collapsed: Sequence[tuple[Scored, str]] = ()
    tail: Floats = field(default_factory=lambda: np.zeros(0))
    outline: Outline | None = None

    @property
    def columns(self) -> Outline:
        """The columns of the items, made now if need be."""
        return self.outline if self.outline is not None else Outline.of(self.items)
