"""Makes the vectors of all memories anew when the embedder has another model, while the store serves."""

import asyncio
import enum
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from satchel.runtime.errors import PeerUnavailable, ServiceError
from satchel.store import metrics
from satchel.store.engine.embedding import PendingEmbedder
from satchel.store.model import Embedded, ModelIdentity, Passages, Pending
from satchel.store.ports import Embedder, EmbedderRefused, EmbedderUnavailable, MemoryStore
from satchel.store.reembedding_ports import VectorCounts

log = logging.getLogger(__name__)

_BATCH = 8  # so that a write waits for no more than the embedding of so few texts
_BATCH_CODE_POINTS = 20_000  # or of one long text
_MODEL_TIMEOUT_S = 2.0
_CODES_TIMEOUT_S = 10.0  # it waits behind what is being embedded
_REPORT_S = 1.0
_OTHER_MODEL = "The embedder has another model than the one in use."


class State(enum.Enum):
    """How the stored vectors stand to the embedder's model; see ``ReembeddingState`` of the contract."""

    DONE = "done"
    NEEDED = "needed"
    RUNNING = "running"
    WAITING = "waiting"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Progress:
    """The counts, and the embedder's model; `None` while it does not answer.

    ``gives_codes`` is asked only where it matters: memories lack codes, and nothing is being done.
    """

    counts: VectorCounts
    embedder_model: ModelIdentity | None
    gives_codes: bool = False

    @property
    def state(self) -> State:
        """How they stand to each other."""
        counts, model = self.counts, self.embedder_model
        if model is None:
            return State.WAITING if counts.is_open else State.UNKNOWN
        if counts.model is not None and counts.model.sha256 != model.sha256:
            return State.NEEDED
        if counts.is_open:
            return State.RUNNING
        if counts.outdated:
            return State.CANCELLED
        return State.INCOMPLETE if counts.uncoded and self.gives_codes else State.DONE


class Reembedding:
    """Use cases of a change of the model, and the work behind them.

    What is outdated is in the database, so nothing is lost by a restart: the work goes on by itself where the
    embedder has the model in use. Between failed tries it waits ``first_s``, doubling up to ``longest_s``.
    """

    def __init__(
        self,
        store: MemoryStore,
        embedder: Embedder,
        *,
        pending: PendingEmbedder,
        timeout_s: float,
        first_s: float,
        longest_s: float,
        clock: Callable[[], int],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._pending = pending
        self._timeout_s = timeout_s
        self._first_s = first_s
        self._longest_s = longest_s
        self._clock = clock
        self._work = asyncio.Event()
        self._settled = asyncio.Event()

    async def progress(self, project: str = "") -> Progress:
        """Return how far it is, with the counts of a project; an empty one means every one."""
        counts = await self._store.reembedding.counts(project)
        try:
            model = await self._embedder.loaded_model(timeout_s=_MODEL_TIMEOUT_S)
            matters = counts.uncoded > 0 and not counts.is_open
            return Progress(counts, model, matters and await self._gives_codes())
        except EmbedderUnavailable:
            return Progress(counts, None)

    async def begin(self) -> Progress:
        """Put the embedder's model to use, and return while the work goes on.

        Raises:
            PeerUnavailable: the embedder does not answer.
        """
        await self._begin()
        return await self.progress()

    async def cancel(self) -> Progress:
        """End the work before its time; who watches it learns of that at once."""
        await self._store.reembedding.cancel(now=self._clock())
        self._work.set()
        self._tell()
        return await self.progress()

    async def reembed(self) -> AsyncIterator[Progress]:
        """Put the embedder's model to use, and yield the progress until the work is done.

        Raises:
            PeerUnavailable: the embedder does not answer at the beginning.
        """
        await self._begin()
        while True:
            settled = self._settled
            progress = await self.progress()
            yield progress
            if progress.state not in {State.RUNNING, State.WAITING}:
                return
            await _wait(settled, _REPORT_S)

    async def run(self) -> None:
        """Work for ever; to be run as a task and cancelled."""
        while True:
            self._work.clear()
            await self._renew_all()
            await self._work.wait()

    async def _begin(self) -> None:
        try:
            model = await self._embedder.loaded_model(timeout_s=_MODEL_TIMEOUT_S)
            with_codes = await self._gives_codes()
        except EmbedderUnavailable as error:
            raise PeerUnavailable(
                f"The embedder does not answer: {error} Start it, then try again.", peer="embedder"
            ) from error
        await self._store.reembedding.begin(model, with_codes=with_codes, now=self._clock())
        self._pending.model_accepted()
        self._work.set()

    async def _renew_all(self) -> None:
        """Renew what is outdated, until nothing is."""
        wait_s, size, is_sure = self._first_s, _BATCH, False
        while True:
            self._work.clear()
            try:
                if await self._store.reembedding.finish(now=self._clock()):
                    self._tell()
                    return
                if not is_sure:
                    await self._require_model()
                size = await self._renew_some(size)
                wait_s, is_sure = self._first_s, True
            except (EmbedderUnavailable, ServiceError) as error:
                log.warning("store.reembedding_waits", extra={"cause": str(error), "wait_s": wait_s})
                self._tell()
                await _wait(self._work, wait_s)
                wait_s, is_sure = min(wait_s * 2, self._longest_s), False

    async def _renew_some(self, size: int) -> int:
        """Renew one batch, and return how many memories the next one should have.

        Raises:
            EmbedderUnavailable: it does not answer, or has not the model in use.
        """
        batch = await self._store.reembedding.outdated(limit=size, max_code_points=_BATCH_CODE_POINTS)
        if not batch:
            return size
        try:
            passages = await self._embedder.embed([one.text for one in batch], timeout_s=self._timeout_s)
        except EmbedderRefused:
            if len(batch) > 1:
                return 1
            log.warning("store.embedding_refused", extra={"memory_id": batch[0].id})
            await self._store.reembedding.give_up(batch[0].id, version=batch[0].version)
            return size
        await self._keep(batch, passages)
        return _BATCH

    async def _keep(self, batch: Sequence[Pending], passages: Sequence[Passages]) -> None:
        embedded = [Embedded(one.id, one.version, found) for one, found in zip(batch, passages, strict=True)]
        if not await self._store.reembedding.renew(embedded):
            raise EmbedderUnavailable(_OTHER_MODEL)
        metrics.REEMBEDDED.inc(len(embedded))

    async def _gives_codes(self) -> bool:
        try:
            return await self._embedder.gives_codes(timeout_s=_CODES_TIMEOUT_S)
        except EmbedderRefused as error:
            raise EmbedderUnavailable(str(error)) from error

    async def _require_model(self) -> None:
        model = await self._embedder.loaded_model(timeout_s=_MODEL_TIMEOUT_S)
        counts = await self._store.reembedding.counts()
        if counts.model is not None and counts.model.sha256 != model.sha256:
            raise EmbedderUnavailable(_OTHER_MODEL)

    def _tell(self) -> None:
        """Let those who watch the progress know that it is done, or stopped."""
        self._settled.set()
        self._settled = asyncio.Event()


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
