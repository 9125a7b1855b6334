"""Vectors for texts that are about to be written, and for those that were stored without."""

import asyncio
import logging
import time
from collections.abc import Sequence

from satchel.runtime.deadlines import remaining_s
from satchel.runtime.errors import ServiceError
from satchel.store import metrics
from satchel.store.model import Embedded, Passages, Pending
from satchel.store.ports import Embedder, EmbedderRefused, EmbedderUnavailable, MemoryStore

log = logging.getLogger(__name__)

_SHARE = 0.7  # of the caller's time; the rest is for the write that must follow
_BATCH = 32


async def embed_or_none(
    embedder: Embedder, texts: Sequence[str], timeout_s: float
) -> tuple[Passages | None, ...]:
    """Return the passages of each text; None for those whose vectors have to come later.

    ``timeout_s`` is for all of it, and of a caller's deadline a share is taken, however many tries it needs.
    """
    allowed_s = min(timeout_s, _SHARE * remaining_s(timeout_s / _SHARE))
    return await _embed_until(embedder, texts, time.monotonic() + allowed_s)


async def _embed_until(embedder: Embedder, texts: Sequence[str], end: float) -> tuple[Passages | None, ...]:
    left_s = end - time.monotonic()
    if not texts or left_s <= 0:
        return (None,) * len(texts)
    try:
        return await embedder.embed(texts, timeout_s=left_s)
    except EmbedderUnavailable:
        return (None,) * len(texts)
    except EmbedderRefused:
        if len(texts) == 1:
            return (None,)
        alone = [await _embed_until(embedder, [text], end) for text in texts]
        return tuple(passages for one in alone for passages in one)


class PendingEmbedder:
    """Gives pending memories their vectors once the embedder answers again.

    Works when it is woken: at the start, when a memory was stored without vectors, and early again when
    the embedder answered somebody. Between failed tries it waits ``first_s``, doubling up to ``longest_s``.

    While the store refuses the embedder's model, one memory is tried at a time and the others wait: else
    every write would embed all of them again for nothing.
    """

    def __init__(
        self, store: MemoryStore, embedder: Embedder, *, timeout_s: float, first_s: float, longest_s: float
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._timeout_s = timeout_s
        self._first_s = first_s
        self._longest_s = longest_s
        self._work = asyncio.Event()
        self._answered = asyncio.Event()
        self._is_refused = False

    def wake(self) -> None:
        """Tell that there may be pending memories."""
        self._work.set()

    def model_accepted(self) -> None:
        """Tell that the store took vectors; if it refused their model before, the pending ones are due."""
        if self._is_refused:
            self._is_refused = False
            self.wake()

    def model_refused(self, sha256: str) -> None:
        """Tell that the store refused vectors because of their model."""
        if not self._is_refused:
            log.error("store.embedding_model_differs", extra={"model": sha256[:16]})
        self._is_refused = True

    def embedder_answered(self) -> None:
        """Tell that the embedder answers, which ends a wait between tries."""
        self._answered.set()

    async def run(self) -> None:
        """Work for ever; to be run as a task and cancelled."""
        self._work.set()
        while True:
            await self._work.wait()
            self._work.clear()
            await self._embed_all()

    async def _embed_all(self) -> None:
        skip: set[str] = set()
        wait_s, size = self._first_s, 1 if self._is_refused else _BATCH
        while True:
            try:
                batch = await self._store.pending(skip=frozenset(skip), limit=size)
                if not batch:
                    return
                if not await self._embed_batch(batch):
                    return
                wait_s, size = self._first_s, _BATCH
            except EmbedderRefused:
                if len(batch) == 1:
                    log.warning("store.embedding_refused", extra={"memory_id": batch[0].id})
                    skip.add(batch[0].id)
                size = 1
            except (EmbedderUnavailable, ServiceError):
                await self._pause(wait_s)
                wait_s = min(wait_s * 2, self._longest_s)

    async def _embed_batch(self, batch: Sequence[Pending]) -> bool:
        """Embed and attach; return whether the store takes vectors of the embedder's model."""
        passages = await self._embedder.embed([one.text for one in batch], timeout_s=self._timeout_s)
        attached = await self._store.attach(
            [Embedded(one.id, one.version, found) for one, found in zip(batch, passages, strict=True)]
        )
        metrics.EMBEDDED_LATER.inc(attached.count)
        if attached.refused:
            self.model_refused(passages[0].model.sha256)
        else:
            self._is_refused = False
        return not attached.refused

    async def _pause(self, seconds: float) -> None:
        self._answered.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._answered.wait()
        except TimeoutError:
            return
