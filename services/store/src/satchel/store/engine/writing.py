"""Store, update and delete: everything is made before the write, and the write is one transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from satchel.runtime.errors import ServiceError
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.metrics.measuring import measured
from satchel.runtime.telemetry import span
from satchel.store import metrics
from satchel.store.causality import Lookback, clues_of
from satchel.store.engine.embedding import PendingEmbedder, embed_or_none
from satchel.store.errors import MemoryNotFound, VersionMismatch
from satchel.store.ids import Stamp, Stamps
from satchel.store.model import Deleted, Memory, NewMemory, Passages, Prepared, RequestKey, Stored
from satchel.store.ports import Embedder, FetchQuery, MemoryStore
from satchel.store.preparing import as_new, check_core, prepare, searchable_text

_LONG = 4000  # code points; preparing a longer text takes milliseconds and must not stop the event loop
_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """A change of a memory: ``fields`` maps names of `NewMemory` to new values; an empty value clears."""

    id: str
    project: str
    fields: Mapping[str, object]
    expected_version: int


class Writing:
    """Use cases that write one memory or a batch."""

    def __init__(
        self,
        store: MemoryStore,
        embedder: Embedder,
        stamps: Stamps,
        *,
        preparer: BoundedExecutor,
        pending: PendingEmbedder,
        embed_timeout_s: float,
        lookback: Lookback,
        clock: Callable[[], int],
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._stamps = stamps
        self._preparer = preparer
        self._pending = pending
        self._embed_timeout_s = embed_timeout_s
        self._lookback = lookback
        self._clock = clock

    async def store(self, batch: Sequence[NewMemory], key: RequestKey | None) -> tuple[Stored, ...]:
        """Store memories in order, all or none.

        Raises:
            PathTaken, LinkTargetNotFound, RequestIdReused: nothing was stored.
        """
        with measured(metrics.STORES, metrics.STORE_SECONDS, count=len(batch)):
            return await self._store_all(batch, key)

    async def _store_all(self, batch: Sequence[NewMemory], key: RequestKey | None) -> tuple[Stored, ...]:
        now = self._clock()
        if key is not None and (answer := await self._store.stored_answer(key, now)) is not None:
            return answer
        prepared = await self.prepare_all(batch)
        ready = await self.with_passages(prepared, self._embed_timeout_s)
        stored = await self._store.add(ready, key=key, now=now)
        self.note_stored(ready, stored)
        return stored

    async def update(self, update: Update, key: RequestKey | None) -> Memory:
        """Change a memory and return it; a change that changes nothing gives no new version.

        A change by somebody else between reading and writing is taken in, unless a version was expected.

        Raises:
            MemoryNotFound, VersionMismatch, PathTaken, RequestIdReused: nothing was changed.
            InvalidRequest: the text is longer than its core block allows.
        """
        now = self._clock()
        if key is not None and (answer := await self._store.updated_answer(key, now)) is not None:
            return answer
        for attempt in range(_TRIES):
            try:
                return await self._update_once(update, key, now)
            except VersionMismatch:
                if update.expected_version or attempt == _TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    async def delete(
        self, memory_id: str, *, project: str, expected_version: int, key: RequestKey | None
    ) -> Deleted:
        """Delete a memory for good.

        Raises:
            MemoryNotFound, VersionMismatch, RequestIdReused: nothing was deleted.
        """
        return await self._store.delete(
            memory_id, project=project, expected_version=expected_version, key=key, now=self._clock()
        )

    async def prepare_all(self, batch: Sequence[NewMemory]) -> list[Prepared]:
        """Derive what can be derived without the embedder; long work runs beside the event loop."""
        with span("satchel.store.prepare", **{"satchel.store.memories": len(batch)}):
            stamped = [(new, self._stamps.next()) for new in batch]
            if sum(len(new.content) for new in batch) > _LONG:
                return await self._preparer.run(_prepare_each, stamped, self._lookback)
            return _prepare_each(stamped, self._lookback)

    async def with_passages(self, prepared: Sequence[Prepared], timeout_s: float) -> list[Prepared]:
        """Add the passages to all that are not stored yet; those that cannot be had now stay out."""
        known = await self._store.are_stored(prepared)
        new = [memory for memory, is_known in zip(prepared, known, strict=True) if not is_known]
        found = iter(await self._embed([_text_of(memory) for memory in new], timeout_s))
        return [
            memory if is_known else replace(memory, passages=next(found))
            for memory, is_known in zip(prepared, known, strict=True)
        ]

    def note_stored(self, ready: Sequence[Prepared], stored: Sequence[Stored | ServiceError]) -> None:
        """Count what was stored, and tell those who embed later what became of the vectors."""
        for memory, one in zip(ready, stored, strict=True):
            if not isinstance(one, Stored):
                continue
            if one.duplicate:
                metrics.DUPLICATE.inc()
                continue
            metrics.NEW.inc()
            metrics.FACTS.inc(one.fact_count)
            self._note(memory.passages, embedded=one.embedded)

    def _note(self, passages: Passages | None, *, embedded: bool) -> None:
        if passages is None:
            self._pending.wake()
        elif embedded:
            self._pending.model_accepted()
        else:
            self._pending.model_refused(passages.model.sha256)

    async def _embed(self, texts: Sequence[str], timeout_s: float) -> tuple[Passages | None, ...]:
        found = await embed_or_none(self._embedder, texts, timeout_s)
        if any(found):
            self._pending.embedder_answered()
        return found

    async def _update_once(self, update: Update, key: RequestKey | None, now: int) -> Memory:
        current = await self._current(update)
        base = as_new(current)
        wanted = replace(base, **update.fields)  # type: ignore[arg-type]  # decoding typed the values
        if wanted == base:
            return await self._unchanged(current, key, now)
        check_core(content=wanted.content, component=wanted.component)
        stamp = Stamp(now, current.id)
        wanted = replace(wanted, updated_at=max(now, current.created_at))
        prepared = await self._preparer.run(_prepare_changed, wanted, stamp, self._lookback)
        keep = _text_of(prepared) == searchable_text(
            title=current.title, content=current.content, component=current.component
        )
        if not keep:
            passages = (await self._embed([_text_of(prepared)], self._embed_timeout_s))[0]
            prepared = replace(prepared, passages=passages)
        changed = await self._store.replace(
            prepared, base_version=current.version, keep_passages=keep, key=key, now=now
        )
        if not keep:
            self._note(prepared.passages, embedded=changed.passage_count > 0)
        return changed

    async def _unchanged(self, current: Memory, key: RequestKey | None, now: int) -> Memory:
        """Return the memory as it is; a retry with the same request id gets the same again."""
        if key is None:
            return current
        return await self._store.keep_unchanged(current.id, base_version=current.version, key=key, now=now)

    async def _current(self, update: Update) -> Memory:
        fetched = await self._store.fetch(FetchQuery(ids=(update.id,), project=update.project))
        if not fetched.memories:
            raise MemoryNotFound(update.id)
        current = fetched.memories[0]
        if update.expected_version not in (0, current.version):
            raise VersionMismatch(
                memory_id=update.id, expected=update.expected_version, actual=current.version
            )
        return current


def _prepare_each(stamped: Sequence[tuple[NewMemory, Stamp]], lookback: Lookback) -> list[Prepared]:
    return [_prepare_one(new, stamp, lookback) for new, stamp in stamped]


def _prepare_one(new: NewMemory, stamp: Stamp, lookback: Lookback) -> Prepared:
    """Prepare a memory that finds its cause; one that an export brings has its links already."""
    return prepare(new, stamp) if new.id else _prepare_changed(new, stamp, lookback)


def _prepare_changed(new: NewMemory, stamp: Stamp, lookback: Lookback) -> Prepared:
    prepared = prepare(new, stamp)
    clues = clues_of(prepared, lookback)
    return prepared if clues is None else replace(prepared, clues=clues)


def _text_of(memory: Prepared) -> str:
    new = memory.new
    return searchable_text(title=new.title, content=new.content, component=new.component)
