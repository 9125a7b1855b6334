"""What a memory was, page by page, and how it becomes that again."""

from collections.abc import Callable
from dataclasses import dataclass

from satchel.store.cursors import decode_token, encode_token
from satchel.store.engine.writing import Update, Writing
from satchel.store.errors import MemoryNotFound
from satchel.store.lifecycle import Version, said_by
from satchel.store.model import Memory, RequestKey
from satchel.store.ports import FetchQuery, MemoryStore
from satchel.store.scope import Place


@dataclass(frozen=True, slots=True)
class VersionsPage:
    """Versions of one page, and the token of the next; empty at the end, and only there."""

    versions: tuple[Version, ...]
    next_token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoration:
    """Which version of a memory to restore; ``expected_version`` is the one it has now, 0 for any."""

    id: str
    version: int
    project: str
    expected_version: int


class Versioning:
    """Use cases of older versions."""

    def __init__(
        self, store: MemoryStore, writing: Writing, *, message_bytes: int, clock: Callable[[], int]
    ) -> None:
        self._store = store
        self._writing = writing
        self._message_bytes = message_bytes
        self._clock = clock

    async def page(
        self, memory_id: str, *, project: str, size: int, token: str, arguments: bytes
    ) -> VersionsPage:
        """Return the page after ``token``, newest first; large versions make it shorter than ``size``.

        Raises:
            MemoryNotFound: there is none with this id in the project; an empty one means any.
            PageTokenMismatch: the token is damaged or of another list.
        """
        below = decode_token(token, arguments).created_at if token else None
        found = await self._store.lifecycle.versions(
            memory_id, project=project, below=below, limit=size, max_bytes=self._message_bytes
        )
        if not found.has_more:
            return VersionsPage(found.versions, "")
        last = found.versions[-1].memory
        return VersionsPage(found.versions, encode_token(Place(last.version, last.id), arguments))

    async def restore(self, wanted: Restoration, key: RequestKey | None) -> Memory:
        """Make a new version that says what an older one said, and return the memory.

        Raises:
            MemoryNotFound, VersionNotFound, VersionMismatch, PathTaken, RequestIdReused: nothing was changed.
        """
        if key is not None and (answer := await self._store.updated_answer(key, self._clock())) is not None:
            return answer
        old = await self._old(wanted)
        update = Update(
            id=wanted.id,
            project=wanted.project,
            fields=said_by(old),
            expected_version=wanted.expected_version,
        )
        return await self._writing.update(update, key)

    async def _old(self, wanted: Restoration) -> Memory:
        fetched = await self._store.fetch(FetchQuery(ids=(wanted.id,), project=wanted.project))
        if not fetched.memories:
            raise MemoryNotFound(wanted.id)
        current = fetched.memories[0]
        if current.version == wanted.version:
            return current
        return await self._store.lifecycle.version(wanted.id, wanted.version)
