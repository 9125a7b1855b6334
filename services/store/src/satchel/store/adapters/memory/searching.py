"""Search by words and tags, and by vectors; every memory is looked at."""

import heapq
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from satchel.store.adapters.memory.entries import Entry, is_inside
from satchel.store.adapters.memory.tables import Tables
from satchel.store.errors import DimensionMismatch, ModelMismatch
from satchel.store.model import ModelIdentity
from satchel.store.ports import Term, TextQuery, VectorQuery
from satchel.store.scope import TagHit, TextFound, TextHit, VectorHit, VectorsFound

_SATURATION = 1.2  # k1 of BM25
_LENGTH_SHARE = 0.75  # b of BM25
_EXACT_SHARE = 0.3  # of a word's weight, for a memory that holds just this form of it


class _Word(NamedTuple):
    """A word of the query: its weighted occurrences by memory, and its inverse document frequency."""

    term: Term
    holders: Mapping[str, int]
    weight: float


def search_text(tables: Tables, query: TextQuery, *, max_entries: int) -> TextFound:
    """Return hits by words and by tags.

    Memories with all words come first to be chosen; when they are too few, those with any of the rarest
    words join them, as many of these as have ``max_entries`` occurrences together, but at least one.
    """
    entries = tables.entries.values()
    words = [_word(term, entries) for term in dict.fromkeys((*query.terms, *query.parts))]
    rare = _rarest(words, max_entries)
    inside = [entry for entry in entries if is_inside(entry, query.scope)]
    asked = [word.holders for word in words if word.term in query.terms]
    every = {entry.id for entry in inside if asked and all(entry.id in holders for holders in asked)}
    chosen = [entry for entry in inside if entry.id in every]
    if asked and len(every) < query.top_k:
        some = set[str]().union(*(word.holders for word in rare))
        chosen = [entry for entry in inside if entry.id in every or entry.id in some]
    mean_size = sum(entry.bag.size for entry in entries) / max(len(entries), 1)
    hits = [TextHit(entry.id, _score(entry, words, mean_size), entry.id in every) for entry in chosen]
    hits.sort(key=lambda hit: (-hit.score, hit.memory_id))
    return TextFound(tuple(hits[: query.top_k]), _tag_hits(inside, rare, query.top_k), tables.head)


def _word(term: Term, entries: Collection[Entry]) -> _Word:
    holders = {entry.id: count for entry in entries if (count := entry.bag.frequency(term))}
    rarity = (len(entries) - len(holders) + 0.5) / (len(holders) + 0.5)
    return _Word(term, holders, math.log1p(rarity))


def _rarest(words: Sequence[_Word], max_entries: int) -> list[_Word]:
    chosen: list[_Word] = []
    for word in sorted(words, key=lambda word: len(word.holders)):
        max_entries -= len(word.holders)
        if chosen and max_entries < 0:
            break
        chosen.append(word)
    return chosen


def _score(entry: Entry, words: Sequence[_Word], mean_size: float) -> float:
    """Return BM25 over weighted fields, with a part more for each word that stands there just so.

    Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, sections
    3.4 and 3.6; the inverse document frequency is the one that is never negative, of Lucene's BM25Similarity.
    """
    damping = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * entry.bag.size / mean_size)
    score = 0.0
    for term, holders, weight in words:
        count = holders.get(entry.id, 0)
        score += weight * count * (_SATURATION + 1) / (count + damping)
        if term.token in entry.bag.words:
            score += weight * _EXACT_SHARE
    return score


def _tag_hits(inside: Iterable[Entry], rare: Sequence[_Word], wanted: int) -> tuple[TagHit, ...]:
    texts = {word.term.text for word in rare}
    hits = [TagHit(entry.id, matches) for entry in inside if (matches := len(texts & entry.tag_keys))]
    return tuple(heapq.nsmallest(wanted, hits, key=lambda hit: (-hit.matches, hit.memory_id)))


def search_vectors(tables: Tables, query: VectorQuery) -> VectorsFound:
    """Return the nearest memories, each by its best passage, the first of equals.

    Raises:
        DimensionMismatch, ModelMismatch: the query does not go with the stored vectors.
    """
    model = tables.model
    if model is None:
        return VectorsFound((), tables.head, None)
    vector = _checked(query, model)
    inside = [(one.id, one.passages) for one in tables.inside(query.scope) if one.passages is not None]
    rows = np.frombuffer(b"".join(passages.vectors for _, passages in inside), "<f4")
    scores = np.clip(rows.reshape(-1, model.dimension) @ vector, -1.0, 1.0).tolist()
    hits, start = [], 0
    for memory_id, passages in inside:
        own = scores[start : start + passages.count]
        hits.append(VectorHit(memory_id, max(own), own.index(max(own))))
        start += passages.count
    nearest = heapq.nsmallest(query.top_k, hits, key=lambda hit: (-hit.score, hit.memory_id))
    return VectorsFound(tuple(nearest), tables.head, model)


def _checked(query: VectorQuery, model: ModelIdentity) -> NDArray[np.float32]:
    """Return the query's vector, of unit norm."""
    if query.model_sha256 not in ("", model.sha256):
        raise ModelMismatch(expected=model.sha256, actual=query.model_sha256)
    vector = np.frombuffer(query.vector, "<f4").astype(np.float32)
    if len(vector) != model.dimension:
        raise DimensionMismatch(expected=model.dimension, actual=len(vector))
    return vector / np.float32(np.linalg.norm(vector))
