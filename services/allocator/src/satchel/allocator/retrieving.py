"""Finding: the query embedded and searched by meaning, and by words at the same time; then one fetch.

What can be done without a part is done without it, and says so: words alone without the embedder, the
store's exact search without the index. Without the store nothing is left, and the call fails.
"""

import asyncio
from dataclasses import dataclass, replace

from satchel.allocator.errors import StoreUnreachable
from satchel.allocator.expansion import centroid, variants
from satchel.allocator.model import Vectors
from satchel.allocator.ports import DenseHits, EmbeddedQuery, Loaded, Peers, Scope, WordHits
from satchel.allocator.ranking import Evidence, provisional
from satchel.allocator.tuning import Tuning
from satchel.runtime.errors import Code, ServiceError
from satchel.runtime.telemetry import span

_REVISION_NOT_REACHED = "ERROR_REASON_REVISION_NOT_REACHED"


@dataclass(frozen=True, slots=True)
class Quest:
    """What is looked for: how deep each search goes and how many memories are fetched."""

    query: str
    scope: Scope
    tuning: Tuning
    dense_depth: int
    lexical_depth: int
    fetch_limit: int
    neighbor_count: int
    min_revision: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found; ``loaded`` is `None` if that is nothing."""

    loaded: Loaded | None
    evidence: Evidence
    degraded: tuple[str, ...]
    revision: int
    model_sha256: str


@dataclass(frozen=True, slots=True)
class _ByMeaning:
    """Hits by meaning, or the name of the part without which there are none.

    ``failure`` is what the caller has to hear: the index has not reached the revision that it asked for.
    """

    query: Vectors | None = None
    hits: DenseHits | None = None
    model_sha256: str = ""
    degraded: str = ""
    failure: ServiceError | None = None


@dataclass(frozen=True, slots=True)
class _ByWords:
    hits: WordHits | None = None
    failure: ServiceError | None = None


async def find(quest: Quest, peers: Peers) -> Finding:
    """Search both ways at once and fetch the best of the union with vectors and neighbours.

    Raises:
        StoreUnreachable: the store does not answer.
        ServiceError: the wanted revision was not reached, or the store refuses.
    """
    async with asyncio.TaskGroup() as group:
        word_search = group.create_task(_by_words(quest, peers))
        meaning_search = group.create_task(_by_meaning(quest, peers))
    words, meaning = word_search.result(), meaning_search.result()
    _raise_if_hopeless(words, meaning)
    dense = meaning.hits.scores if meaning.hits else {}
    evidence = Evidence(
        query=meaning.query,
        dense_ranks={name: rank for rank, name in enumerate(dense, start=1)},
        lexical=words.hits.scores if words.hits else None,
        tags=words.hits.tags if words.hits else {},
    )
    ids = provisional(dense, evidence.lexical or {}, evidence.tags, quest.tuning)
    return Finding(
        loaded=await _fetch(ids[: quest.fetch_limit], quest, peers) if ids else None,
        evidence=evidence,
        degraded=tuple(part for part in (meaning.degraded, "" if words.hits else "lexical") if part),
        revision=min(part.revision for part in (meaning.hits, words.hits) if part is not None),
        model_sha256=meaning.model_sha256,
    )


async def _by_words(quest: Quest, peers: Peers) -> _ByWords:
    try:
        return _ByWords(await peers.store.search_text(quest.query, quest.scope, limit=quest.lexical_depth))
    except ServiceError as error:
        return _ByWords(failure=error)


async def _by_meaning(quest: Quest, peers: Peers) -> _ByMeaning:
    try:
        embedded = await peers.embedder.embed_query(variants(quest.query, expand=quest.tuning.expansion))
    except ServiceError:
        return _ByMeaning(degraded="embedder")
    wanted = replace(embedded, vectors=centroid(embedded.vectors)[None, :])
    try:
        hits = await peers.index.search(
            wanted, quest.scope, limit=quest.dense_depth, min_revision=quest.min_revision
        )
    except ServiceError as error:
        if error.reason == _REVISION_NOT_REACHED:
            return _ByMeaning(failure=error)
        return await _by_exact_search(wanted, quest, peers)
    return _ByMeaning(wanted.vectors[0], hits, wanted.model_sha256, "index" if hits.degraded else "")


async def _by_exact_search(wanted: EmbeddedQuery, quest: Quest, peers: Peers) -> _ByMeaning:
    try:
        hits = await peers.store.search_vectors(wanted, quest.scope, limit=quest.dense_depth)
    except ServiceError:
        # The stored vectors may be of another model, so the query is not compared with them at all.
        return _ByMeaning(degraded="index")
    return _ByMeaning(wanted.vectors[0], hits, wanted.model_sha256, "index")


def _raise_if_hopeless(words: _ByWords, meaning: _ByMeaning) -> None:
    if meaning.failure is not None:
        raise meaning.failure
    if words.failure is None or (meaning.hits and meaning.hits.scores):
        return
    if words.failure.code in {Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED}:
        raise StoreUnreachable from words.failure
    raise words.failure


async def _fetch(ids: list[str], quest: Quest, peers: Peers) -> Loaded:
    with span("satchel.allocator.fetch", candidates=len(ids)):
        try:
            return await peers.store.fetch(ids, quest.scope, neighbors=quest.neighbor_count)
        except ServiceError as error:
            if error.code is Code.UNAVAILABLE:
                raise StoreUnreachable from error
            raise
