"""The nouns of the embedder: what goes through it, as plain immutable data."""

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TokenIds = NDArray[np.int32]
Vectors = NDArray[np.float32]
Places = NDArray[np.intp]
Codes = NDArray[np.uint8]


class Role(enum.Enum):
    """What a text is for; some models put another prefix before each."""

    QUERY = "query"
    PASSAGE = "passage"


class Priority(enum.Enum):
    """How soon a request is served: queries on a lane of their own, bulk work in turn with the rest."""

    QUERY = "query"
    NORMAL = "normal"
    BULK = "bulk"


class Pooling(enum.Enum):
    """How the states of a text's tokens become one vector."""

    MEAN = "mean"
    CLS = "cls"


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model made a vector; vectors of two identities are never compared.

    ``sha256`` is 64 lower-case hexadecimal digits; ``max_tokens`` counts special tokens.
    """

    name: str
    revision: str
    sha256: str
    dimension: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Encoding:
    """The tokens of one text, without special tokens.

    All three are int32 of the same length; ``starts`` and ``ends`` are code points of the text, end
    exclusive, neither of them descending.
    """

    ids: TokenIds
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class TokenKinds:
    """What the ids of a vocabulary are, by id: whether they say something, and whether they are special."""

    is_content: NDArray[np.bool_]
    is_special: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Frame:
    """Tokens that stand before and after every passage: special tokens and the role's prefix."""

    head: TokenIds
    tail: TokenIds

    @property
    def token_count(self) -> int:
        """Number of tokens that the frame takes from each passage."""
        return len(self.head) + len(self.tail)


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of one text: code points [start, end) and tokens [first, last)."""

    start: int
    end: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Span:
    """Where a row comes from: code points [start, end) of a text; tokens count the frame too."""

    text_index: int
    start: int
    end: int
    token_count: int


@dataclass(frozen=True, slots=True)
class Reading:
    """Texts, read by the tokenizer: one row of token ids, framed, for each span.

    ``coded`` has the places of those tokens in each row that have a code; it is empty where none is wanted.
    """

    rows: tuple[TokenIds, ...]
    spans: tuple[Span, ...]
    coded: tuple[Places, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """What the model runs at once: ``ids`` and ``mask`` are int64 (batch, tokens), padding has mask 0.

    ``coded`` are the places of the tokens that have a code, counted along batch and tokens together.
    """

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]
    coded: Places


@dataclass(frozen=True, slots=True)
class Embedded:
    """What the model made of a batch: ``vectors`` (batch, dimension), and a code for each place coded."""

    vectors: Vectors
    codes: Codes


@dataclass(frozen=True, slots=True)
class TokenCodes:
    """Codes of tokens, (tokens, bytes), in the order of the rows; ``counts`` says how many each row has."""

    codes: Codes
    counts: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The answer to one request: ``vectors`` is (rows, dimension) of unit norm, one span for each row.

    ``codes`` is `None` where they were not asked for, and where the model has none.
    """

    vectors: Vectors
    spans: tuple[Span, ...]
    queue_s: float
    inference_s: float
    cached_count: int
    codes: TokenCodes | None = None
