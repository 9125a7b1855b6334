"""Finds memories in the ways that are common elsewhere, as something to compare with.

All of them pack whole texts by rank (see `benchmarks.packing`). They embed with the model of the Satchel that
is measured, so that a difference comes from the way and not from the model.
"""

import random
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.packing import pack
from benchmarks.records import Corpus, Memory, Question
from benchmarks.systems import Embed
from satchel.runtime.tokens import count_tokens

RRF_K = 60
_FUSED = 200
_WORD = re.compile(r"[^\W_]+")

# Gives memories of the question's namespace, best first.
Rank = Callable[[Question], Sequence[Memory]]


class Reference:
    """A ranking, and the plain packing of it."""

    def __init__(self, name: str, ranked: Rank) -> None:
        self.name = name
        self._make = ranked
        self._made: dict[str, Sequence[Memory]] = {}

    def context(self, question: Question, budget: int) -> str:
        """Pack the ranking."""
        return pack((one.content for one in self._ranked(question)), budget)

    def rank(self, question: Question, depth: int) -> Sequence[str]:
        """Return the first ids of the ranking."""
        return [one.id for one in self._ranked(question)[:depth]]

    def _ranked(self, question: Question) -> Sequence[Memory]:
        """Rank once for all budgets."""
        if question.id not in self._made:
            self._made[question.id] = self._make(question)
        return self._made[question.id]


class Perfect:
    """Knows the evidence: what any way can reach with plain packing."""

    name = "perfect"

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._contents = {(one.namespace, one.id): one.content for one in corpus.memories}

    def context(self, question: Question, budget: int) -> str:
        """Pack the evidence, shortest first; of a text beyond the budget only the span that is looked for."""
        pairs = zip(question.evidence, self._corpus.spans(question), strict=True)
        texts = [_fitting(self._contents[question.namespace, one], span, budget) for one, span in pairs]
        return pack(sorted(texts, key=count_tokens), budget)

    def rank(self, question: Question, depth: int) -> Sequence[str]:
        """Return the evidence."""
        return question.evidence[:depth]


def all_references(corpus: Corpus, embed: Embed) -> list[Reference | Perfect]:
    """Build every reference over a corpus; the texts are embedded here, each once."""
    spaces = corpus.namespaces()
    by_words, by_meaning = _bm25(spaces), _dense(spaces, embed, corpus.questions)
    return [
        Reference("random", lambda question: _shuffled(spaces[question.namespace], question.id)),
        Reference("BM25", by_words),
        Reference("dense", by_meaning),
        Reference("rank fusion", lambda question: fuse([by_words(question), by_meaning(question)])),
        Perfect(corpus),
    ]


def fuse(rankings: Iterable[Sequence[Memory]]) -> list[Memory]:
    """Join the first 200 of each ranking by the sum of 1 / (60 + rank).

    Source: Cormack, Clarke and Buettcher 2009, Reciprocal Rank Fusion.
    """
    scores: dict[str, float] = {}
    memories: dict[str, Memory] = {}
    for ranking in rankings:
        for rank, memory in enumerate(ranking[:_FUSED], 1):
            scores[memory.id] = scores.get(memory.id, 0.0) + 1 / (RRF_K + rank)
            memories[memory.id] = memory
    return [memories[one] for one in sorted(scores, key=lambda one: -scores[one])]


def _fitting(content: str, span: str, budget: int) -> str:
    return content if count_tokens(f"{content.strip()}\n") <= budget else span


def _shuffled(memories: Sequence[Memory], seed: str) -> list[Memory]:
    return random.Random(seed).sample(memories, len(memories))  # noqa: S311  # a baseline, guards nothing


def _bm25(spaces: Mapping[str, Sequence[Memory]]) -> Rank:
    """Rank by SQLite's FTS5 with Porter stems: any word of the question."""
    databases = {name: _full_text(memories) for name, memories in spaces.items()}

    def ranked(question: Question) -> Sequence[Memory]:
        query = " OR ".join(f'"{word}"' for word in _WORD.findall(question.query))
        if not query:
            return []
        rows = databases[question.namespace].execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank, rowid", (query,)
        )
        return [spaces[question.namespace][row] for (row,) in rows]

    return ranked


def _full_text(memories: Sequence[Memory]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE texts USING fts5 (content, tokenize = 'porter unicode61')")
    rows = ((number, one.content) for number, one in enumerate(memories))
    database.executemany("INSERT INTO texts (rowid, content) VALUES (?, ?)", rows)
    return database


def _dense(spaces: Mapping[str, Sequence[Memory]], embed: Embed, questions: Sequence[Question]) -> Rank:
    """Rank by cosine, exactly; a long text counts by its best passage."""
    texts = {
        name: _matrix(embed([one.content for one in memories], "passage"))
        for name, memories in spaces.items()
    }
    queries = dict(
        zip(
            (one.id for one in questions),
            _matrix(embed([one.query for one in questions], "query"))[1],
            strict=True,
        )
    )

    def ranked(question: Question) -> Sequence[Memory]:
        memories = spaces[question.namespace]
        owners, rows = texts[question.namespace]
        best = np.full(len(memories), -1.0, np.float32)
        np.maximum.at(best, owners, rows @ queries[question.id])
        return [memories[at] for at in np.argsort(-best, kind="stable")]

    return ranked


def _matrix(rows: Sequence[tuple[int, Sequence[float]]]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    owners = np.asarray([owner for owner, _ in rows], np.int64)
    return owners, np.asarray([row for _, row in rows], np.float32)
