"""Stand-ins for tokenizer and model: words are tokens, and a vector says which tokens it was made of."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import numpy as np

from satchel.embedder.coding import sign_codes
from satchel.embedder.engine import Engine
from satchel.embedder.main import Model, build
from satchel.embedder.model import (
    Batch,
    Codes,
    Embedded,
    Encoding,
    Frame,
    ModelIdentity,
    Role,
    TokenKinds,
    Vectors,
)
from satchel.embedder.settings import EmbedderSettings

PAD, HEAD, TAIL = 0, 1, 2
DIMENSION = 4
SAYS_NOTHING = 11  # id of a word of one letter


class WordTokenizer:
    """Each run of non-space characters is one token, its id 10 plus its length; one letter says nothing."""

    pad_id = PAD
    kinds = TokenKinds(np.arange(1000) > SAYS_NOTHING, np.arange(1000) <= TAIL)

    def __init__(self, prefixes: Mapping[Role, Sequence[int]] | None = None) -> None:
        self._prefixes = prefixes or {}

    def frame(self, role: Role) -> Frame:
        head = np.array([HEAD, *self._prefixes.get(role, ())], dtype=np.int32)
        return Frame(head, np.array([TAIL], dtype=np.int32))

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        return [encode_words(text) for text in texts]


class ScriptedSession:
    """Vectors and codes from token ids alone; keeps every batch, and waits in each while `hold` is on."""

    def __init__(self, *, has_token_states: bool = True) -> None:
        self.has_token_states = has_token_states
        self.batches: list[Batch] = []
        self.failure: Exception | None = None
        self.rest_failure: Exception | None = None
        self.started = asyncio.Event()
        self.rested = asyncio.Event()
        self._may_end = asyncio.Event()
        self._may_end.set()

    def hold(self) -> None:
        self._may_end.clear()
        self.started.clear()

    def release(self) -> None:
        self._may_end.set()

    async def embed(self, batch: Batch) -> Embedded:
        self.batches.append(batch)
        self.started.set()
        await self._may_end.wait()
        if self.failure is not None:
            raise self.failure
        rows = [vector_of(ids[mask > 0]) for ids, mask in zip(batch.ids, batch.mask, strict=True)]
        return Embedded(np.stack(rows), sign_codes(states_of(batch.ids), batch.coded))

    async def rest(self) -> None:
        self.rested.set()
        if self.rest_failure is not None:
            raise self.rest_failure


def encode_words(text: str) -> Encoding:
    found = list(re.finditer(r"\S+", text))
    return Encoding(
        np.array([10 + len(one.group()) for one in found], dtype=np.int32),
        np.array([one.start() for one in found], dtype=np.int32),
        np.array([one.end() for one in found], dtype=np.int32),
    )


def states_of(ids: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Vectors:
    """Return states whose signs are the last four bits of the token's id."""
    bits = (ids[..., None] >> np.arange(DIMENSION)) & 1
    return np.asarray(bits * 2 - 1, dtype=np.float32)


def codes_of_words(*words: str) -> Codes:
    ids = np.array([[10 + len(word) for word in words]], dtype=np.int64)
    return sign_codes(states_of(ids), np.arange(len(words)))


def vector_of(ids: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Vectors:
    raw = np.array([ids.sum(), len(ids), ids.max(), 1.0], dtype=np.float32)
    return np.asarray(raw / np.linalg.norm(raw), dtype=np.float32)


def vector_of_text(text: str) -> Vectors:
    return vector_of(np.array([HEAD, *encode_words(text).ids, TAIL], dtype=np.int64))


def identity(max_tokens: int = 256) -> ModelIdentity:
    return ModelIdentity("fake", "1", "0" * 64, DIMENSION, max_tokens)


@asynccontextmanager
async def running_engine(
    session: ScriptedSession,
    settings: EmbedderSettings | None = None,
    *,
    max_tokens: int = 256,
    tokenizer: WordTokenizer | None = None,
    threads: int = 1,
) -> AsyncIterator[Engine]:
    model = Model(identity(max_tokens), tokenizer or WordTokenizer(), session)
    async with build(replace(settings or EmbedderSettings(), threads=threads), model=model) as built:
        yield built.engine
