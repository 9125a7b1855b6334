"""Exact search: the query's vector against every passage in the scope."""

import heapq
import sqlite3

import numpy as np
from numpy.typing import NDArray

from satchel.store.adapters.sqlite.rows import head_of, model_of
from satchel.store.adapters.sqlite.scoping import conditions
from satchel.store.errors import DimensionMismatch, ModelMismatch
from satchel.store.model import ModelIdentity
from satchel.store.ports import VectorQuery
from satchel.store.scope import VectorHit, VectorsFound

_CHUNK = 2048  # memories compared at once: a few MB of vectors


def search_vectors(raw: sqlite3.Connection, query: VectorQuery) -> VectorsFound:
    """Return the nearest memories, each by its best passage; reads all vectors of the scope.

    Raises:
        DimensionMismatch, ModelMismatch: the query does not go with the stored vectors.
    """
    model = model_of(raw)
    if model is None:
        return VectorsFound((), head_of(raw), None)
    vector = _checked(query, model)
    where = conditions(query.scope)
    rows = raw.execute(
        "SELECT m.id, m.passage_count, e.vectors FROM memories m JOIN embeddings e ON e.memory = m.key "  # noqa: S608
        f"WHERE {where.sql}",
        where.parameters,
    )
    best: list[VectorHit] = []
    while chunk := rows.fetchmany(_CHUNK):
        best = heapq.nsmallest(query.top_k, [*best, *_compare(chunk, vector)], key=_order)
    return VectorsFound(tuple(best), head_of(raw), model)


def _checked(query: VectorQuery, model: ModelIdentity) -> NDArray[np.float32]:
    """Return the query's vector, of unit norm."""
    if query.model_sha256 not in ("", model.sha256):
        raise ModelMismatch(expected=model.sha256, actual=query.model_sha256)
    vector = np.frombuffer(query.vector, "<f4").astype(np.float32)
    if len(vector) != model.dimension:
        raise DimensionMismatch(expected=model.dimension, actual=len(vector))
    return vector / np.float32(np.linalg.norm(vector))


def _compare(chunk: list[tuple[str, int, bytes]], vector: NDArray[np.float32]) -> list[VectorHit]:
    """Return one hit for each memory: the best passage, the first of equals."""
    matrix = np.frombuffer(b"".join(packed for _, _, packed in chunk), "<f4").reshape(-1, len(vector))
    scores = np.clip(matrix @ vector, -1.0, 1.0).tolist()
    hits, start = [], 0
    for memory_id, count, _ in chunk:
        own = scores[start : start + count]
        top = max(own)
        hits.append(VectorHit(memory_id, top, own.index(top)))
        start += count
    return hits


def _order(hit: VectorHit) -> tuple[float, str]:
    return -hit.score, hit.memory_id
