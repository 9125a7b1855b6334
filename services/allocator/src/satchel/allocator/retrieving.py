"""Retrieval: the query embedded and searched by meaning, and by words at the same time; then one fetch.

What can be done without a part is done without it, and says so: words alone without the embedder, the
store's exact search without the index. Without the store nothing is left, and the call fails.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from satchel.allocator import metrics
from satchel.allocator.errors import RevisionNotReached, StoreUnreachable
from satchel.allocator.evidence import Evidence
from satchel.allocator.expansion import centroid, variants
from satchel.allocator.late_interaction import Codes, no_codes
from satchel.allocator.model import Vectors
from satchel.allocator.ports import DenseHits, EmbeddedQuery, Loaded, Peers, Scope, WordHits
from satchel.allocator.ranking import provisional
from satchel.allocator.tuning import Tuning
from satchel.runtime.errors import Code, ServiceError
from satchel.runtime.telemetry import span

_REVISION_NOT_REACHED = "ERROR_REASON_REVISION_NOT_REACHED"
_MODEL_MISMATCH = "ERROR_REASON_MODEL_MISMATCH"


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """What is looked for: how deep each search goes and how many memories are fetched.

    With a ``lexical_depth`` of 0 words are searched only where meaning cannot be.
    ``fetch_limit`` are fetched, and as many more of ``fetch_most`` as it takes to reach ``least_tokens``.
    """

    query: str
    scope: Scope
    tuning: Tuning
    dense_depth: int
    lexical_depth: int
    fetch_limit: int
    neighbor_count: int
    neighbors_of_first: int
    min_revision: int = 0
    fetch_most: int = 0
    least_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found; ``loaded`` is `None` if that is nothing.

    ``fresh`` tells of each memory whether it may be shown, where the session was given some of them before.
    """

    loaded: Loaded | None
    evidence: Evidence
    degraded: tuple[str, ...]
    revision: int
    model_sha256: str
    fresh: Sequence[bool] | None = None

    @property
    def given_count(self) -> int:
        """How many may not be shown because the session was given them before."""
        if self.fresh is None or self.loaded is None:
            return 0
        eligible = self.loaded.located.eligible
        return sum(eligible or [True] * len(self.fresh)) - sum(self.fresh)


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
    codes: Codes = field(default_factory=no_codes)


@dataclass(frozen=True, slots=True)
class _ByWords:
    hits: WordHits | None = None
    failure: ServiceError | None = None


async def find(request: RetrievalRequest, peers: Peers) -> Retrieved:
    """Search both ways at once and fetch the best of the union with vectors and neighbours.

    Raises:
        StoreUnreachable: the store does not answer.
        RevisionNotReached: what answered is older than the wanted revision.
        ServiceError: the index has not reached the wanted revision, or the store refuses.
    """
    words, meaning = await _searched(request, peers)
    _raise_if_hopeless(words, meaning)
    revision = min(part.revision for part in (meaning.hits, words.hits) if part is not None)
    if revision < request.min_revision:
        raise RevisionNotReached(wanted=request.min_revision, applied=revision)
    dense = meaning.hits.scores if meaning.hits else {}
    evidence = Evidence(
        query=meaning.query,
        dense_ranks={name: rank for rank, name in enumerate(dense, start=1)},
        lexical=words.hits.scores if words.hits else None,
        tags=words.hits.tags if words.hits else {},
        query_codes=meaning.codes,
        question=request.query,
    )
    ids = provisional(dense, evidence.lexical or {}, evidence.tags, request.tuning)
    return Retrieved(
        loaded=await _load(ids, request, peers) if ids else None,
        evidence=evidence,
        degraded=tuple(part for part in (meaning.degraded, "lexical" if words.failure else "") if part),
        revision=revision,
        model_sha256=meaning.model_sha256,
    )


async def _searched(request: RetrievalRequest, peers: Peers) -> tuple[_ByWords, _ByMeaning]:
    if not request.lexical_depth:
        meaning = await _by_meaning(request, peers)
        if meaning.hits is not None or meaning.failure is not None:
            return _ByWords(), meaning
        return await _by_words(replace(request, lexical_depth=request.dense_depth), peers), meaning
    async with asyncio.TaskGroup() as group:
        meaning_search = group.create_task(_by_meaning(request, peers))
        # The longer way first: the question is with the model before anybody reads its words.
        await asyncio.sleep(0)
        word_search = group.create_task(_by_words(request, peers))
    return word_search.result(), meaning_search.result()


async def _by_words(request: RetrievalRequest, peers: Peers) -> _ByWords:
    try:
        with metrics.LEXICAL.time():
            hits = await peers.store.search_text(request.query, request.scope, limit=request.lexical_depth)
        return _ByWords(hits)
    except ServiceError as error:
        return _ByWords(failure=error)


async def _by_meaning(request: RetrievalRequest, peers: Peers) -> _ByMeaning:
    try:
        tuning = request.tuning
        texts = variants(request.query, expand=tuning.expansion, most=tuning.expansion_variants)
        with metrics.EMBED.time():
            embedded = await peers.embedder.embed_query(texts)
    except ServiceError:
        return _ByMeaning(degraded="embedder")
    wanted = replace(embedded, vectors=centroid(embedded.vectors)[None, :])
    try:
        with metrics.DENSE.time():
            hits = await peers.index.search(
                wanted, request.scope, limit=request.dense_depth, min_revision=request.min_revision
            )
    except ServiceError as error:
        if error.reason == _REVISION_NOT_REACHED:
            return _ByMeaning(failure=error)
        return await _by_exact_search(wanted, request, peers)
    return _found(wanted, hits, "index" if hits.degraded else "")


async def _by_exact_search(wanted: EmbeddedQuery, request: RetrievalRequest, peers: Peers) -> _ByMeaning:
    try:
        hits = await peers.store.search_vectors(wanted, request.scope, limit=request.dense_depth)
    except ServiceError as error:
        is_other = error.reason == _MODEL_MISMATCH
        return _ByMeaning(degraded="model" if is_other else "index")
    return _found(wanted, hits, "index")


def _found(wanted: EmbeddedQuery, hits: DenseHits, degraded: str) -> _ByMeaning:
    return _ByMeaning(wanted.vectors[0], hits, wanted.model_sha256, degraded, codes=wanted.codes)


def _raise_if_hopeless(words: _ByWords, meaning: _ByMeaning) -> None:
    if meaning.failure is not None:
        raise meaning.failure
    if words.failure is None or (meaning.hits and meaning.hits.scores):
        return
    if words.failure.code in {Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED}:
        raise StoreUnreachable from words.failure
    raise words.failure


async def _load(ids: list[str], request: RetrievalRequest, peers: Peers) -> Loaded:
    """Fetch the best, and more of the rest where their texts are too short for the budget."""
    loaded = await _fetch(ids[: request.fetch_limit], request, peers)
    found = loaded.showable_tokens
    known = set(loaded.located.ids)
    rest = [name for name in ids[request.fetch_limit : request.fetch_most] if name not in known]
    if found >= request.least_tokens or not rest:
        return loaded
    wanted = math.ceil((request.least_tokens - found) * max(len(known), 1) / max(found, 1))
    return loaded.joined(await _fetch(rest[:wanted], request, peers))


async def _fetch(ids: list[str], request: RetrievalRequest, peers: Peers) -> Loaded:
    with span("satchel.allocator.fetch", candidates=len(ids)), metrics.FETCH.time():
        try:
            return await peers.store.fetch(
                ids,
                request.scope,
                neighbors=request.neighbor_count,
                neighbors_of_first=request.neighbors_of_first,
            )
        except ServiceError as error:
            if error.code is Code.UNAVAILABLE:
                raise StoreUnreachable from error
            raise
