"""Texts to vectors: cache, tokenise, two lanes of batches, and the vectors back in the order of the texts."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np

from satchel.embedder import metrics
from satchel.embedder.cache import Kept, VectorCache
from satchel.embedder.coding import bytes_per_token, joined
from satchel.embedder.errors import QueueFull
from satchel.embedder.gate import Gate
from satchel.embedder.lane import Lane
from satchel.embedder.model import (
    Embeddings,
    ModelIdentity,
    Priority,
    Reading,
    Role,
    Span,
    TokenCodes,
)
from satchel.embedder.pooling import merge_passages, sum_by_owner
from satchel.embedder.ports import Session, Tokenizer
from satchel.embedder.reading import read, whole_text_spans
from satchel.embedder.settings import EmbedderSettings
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.metrics.measuring import measured
from satchel.runtime.metrics.queues import count_rejection, watch_queue
from satchel.runtime.telemetry import span

# Reading fewer code points than this takes less time (some 0.3 ms) than it is worth to change threads for.
_READ_AT_ONCE_CODE_POINTS = 2_000

# By whether it is for queries.
_LANES = {True: "queries", False: "passages"}


class Engine:
    """One model at work. `run` serves until it is cancelled; `embed` may be called any number of times.

    Queries have a lane of their own: while bulk work runs, they share the processor with it but never wait
    for its batches. ``readers`` runs the tokenizer for anything longer than a query, on one thread.
    """

    def __init__(
        self,
        identity: ModelIdentity,
        *,
        tokenizer: Tokenizer,
        session: Session,
        readers: BoundedExecutor,
        settings: EmbedderSettings,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.identity = identity
        self._tokenizer = tokenizer
        self._has_codes = session.has_token_states
        self._code_bytes = bytes_per_token(identity.dimension)
        self._readers = readers
        self._overlap = settings.overlap_tokens
        self._cache = VectorCache(settings.cache_queries)
        self._lanes: dict[bool, Lane] = {
            is_query: Lane(
                session,
                budget_tokens=settings.batch_tokens,
                most_rows=settings.batch_texts,
                pad_id=tokenizer.pad_id,
                dimension=identity.dimension,
                clock=clock,
                workers=settings.threads,
            )
            for is_query in (True, False)
        }
        self._gates: dict[bool, Gate] = {
            is_query: Gate(
                f"embedder.{_LANES[is_query]}",
                max_texts=settings.queue_texts,
                max_code_points=settings.queue_code_points,
            )
            for is_query in (True, False)
        }
        for is_query, lane in _LANES.items():
            watch_queue(
                self,
                f"embedder.{lane}",
                limit=settings.queue_texts,
                depth=partial(Engine.waiting_texts, is_query=is_query),
            )

    def waiting_texts(self, *, is_query: bool) -> int:
        """Return how many texts are in the lane of queries, or in the other."""
        return self._gates[is_query].texts

    async def run(self) -> None:
        """Serve both lanes until cancelled."""
        async with asyncio.TaskGroup() as group:
            for lane in self._lanes.values():
                group.create_task(lane.run())

    async def embed(
        self,
        texts: Sequence[str],
        *,
        role: Role,
        split: bool = False,
        priority: Priority = Priority.NORMAL,
        with_codes: bool = False,
    ) -> Embeddings:
        """Embed texts; rows in the order of the texts, and of the passages inside a text.

        With ``split`` a text longer than the model reads has one row for each passage; without, one row
        that is the mean of its passages. Whole queries come from the cache if they were asked before; they
        have codes there, whether these are wanted or not, for they cost next to nothing.
        A caller that is cancelled takes its waiting texts with it.

        Raises:
            QueueFull: too much waits.
            ShuttingDown: the engine is stopping.
        """
        metrics.TEXTS.labels(role.value).inc(len(texts))
        with measured(None, metrics.EMBED_SECONDS):
            if role is not Role.QUERY or split:
                return await self._embed_fresh(texts, role, priority, split=split, with_codes=with_codes)
            found = await self._embed_queries(texts, role, priority)
            return found if with_codes else replace(found, codes=None)

    async def _embed_queries(self, texts: Sequence[str], role: Role, priority: Priority) -> Embeddings:
        known = {index: hit for index, text in enumerate(texts) if (hit := self._cache.get(role, text))}
        missing = [index for index in range(len(texts)) if index not in known]
        metrics.HITS.inc(len(known))
        metrics.MISSES.inc(len(missing))
        fresh = await self._embed_fresh(
            [texts[index] for index in missing], role, priority, split=False, with_codes=True
        )
        for index, kept in zip(missing, self._kept(fresh), strict=True):
            known[index] = kept
            self._cache.put(role, texts[index], kept)
        ordered = [known[index] for index in range(len(texts))]
        return Embeddings(
            vectors=np.stack([kept.vector for kept in ordered]),
            spans=tuple(Span(i, 0, len(texts[i]), kept.token_count) for i, kept in enumerate(ordered)),
            queue_s=fresh.queue_s,
            inference_s=fresh.inference_s,
            cached_count=len(texts) - len(missing),
            codes=joined([kept.codes for kept in ordered], self._code_bytes) if self._has_codes else None,
        )

    def _kept(self, fresh: Embeddings) -> Iterator[Kept]:
        """Yield what is kept of each query, in arrays of their own: a view would keep the whole batch."""
        codes = fresh.codes or joined([], self._code_bytes)
        ends = np.cumsum(codes.counts)
        parts = np.split(codes.codes, ends[:-1]) if len(ends) else [codes.codes] * len(fresh.spans)
        for vector, one, own in zip(fresh.vectors, fresh.spans, parts, strict=True):
            yield Kept(vector.copy(), one.token_count, own.copy())

    async def _embed_fresh(
        self, texts: Sequence[str], role: Role, priority: Priority, *, split: bool, with_codes: bool
    ) -> Embeddings:
        if not texts:
            return Embeddings(np.empty((0, self.identity.dimension), np.float32), (), 0.0, 0.0, 0)
        with_codes = with_codes and self._has_codes
        is_query = priority is Priority.QUERY
        code_points = sum(map(len, texts))
        with self._inside(len(texts), code_points, is_query=is_query):
            reading = await self._read(texts, role, code_points, with_codes=with_codes)
            with span("satchel.embedder.infer", texts=len(texts), rows=len(reading.rows)) as current:
                job = await self._lanes[is_query].embed(
                    reading.rows, bulk=priority is Priority.BULK, coded=reading.coded
                )
                current.set(queue_ms=job.queue_s * 1e3, inference_ms=job.inference_s * 1e3)
            metrics.QUEUE_SECONDS.labels(_LANES[is_query]).observe(job.queue_s)
        codes = job.codes.whole if with_codes else None
        found = Embeddings(job.vectors, reading.spans, job.queue_s, job.inference_s, 0, codes)
        return found if split else _whole(texts, found)

    @contextmanager
    def _inside(self, texts: int, code_points: int, *, is_query: bool) -> Iterator[None]:
        try:
            with self._gates[is_query].hold(texts, code_points):
                yield
        except QueueFull:
            count_rejection(f"embedder.{_LANES[is_query]}")
            raise

    async def _read(self, texts: Sequence[str], role: Role, code_points: int, *, with_codes: bool) -> Reading:
        read_all = partial(
            read, max_tokens=self.identity.max_tokens, overlap=self._overlap, with_codes=with_codes
        )
        with span("satchel.embedder.tokenise", texts=len(texts), code_points=code_points):
            if code_points <= _READ_AT_ONCE_CODE_POINTS:
                return read_all(texts, role, self._tokenizer)
            return await self._readers.run(read_all, texts, role, self._tokenizer)


def _whole(texts: Sequence[str], parts: Embeddings) -> Embeddings:
    """Return one row and one span for each text; the codes of its passages stay one after the other."""
    owners = np.fromiter((part.text_index for part in parts.spans), dtype=np.intp)
    codes = parts.codes
    if codes is not None:
        codes = TokenCodes(codes.codes, sum_by_owner(codes.counts, owners))
    return replace(
        parts,
        vectors=merge_passages(parts.vectors, owners),
        spans=whole_text_spans(texts, parts.spans),
        codes=codes,
    )
