"""Read, list, search and count."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from satchel.store.candidates import CandidateQuery, Candidates
from satchel.store.cursors import decode_token, encode_token
from satchel.store.errors import MemoryNotFound
from satchel.store.model import Fetched, Memory, Status
from satchel.store.ports import Export, FetchQuery, MemoryStore, Term, TextQuery, VectorQuery
from satchel.store.scope import Place, Scope, TextFound, VectorsFound
from satchel.store.words import QueryTerm, query_terms

# Candidates are fetched by the allocator alone, which takes large messages and wants few of them.
_CANDIDATE_MESSAGES = 10


@dataclass(frozen=True, slots=True)
class Page:
    """Memories of one page, and the token of the next; empty at the end, and only there."""

    memories: tuple[Memory, ...]
    next_token: str


class Reading:
    """Use cases that change nothing."""

    def __init__(self, store: MemoryStore, *, message_bytes: int) -> None:
        self._store = store
        self._message_bytes = message_bytes

    async def get(self, memory_id: str, project: str) -> Memory:
        """Return one memory; an empty project means any.

        Raises:
            MemoryNotFound: there is none with this id in the project.
        """
        found = await self._store.fetch(FetchQuery(ids=(memory_id,), project=project))
        if not found.memories:
            raise MemoryNotFound(memory_id)
        return found.memories[0]

    async def fetch(self, query: FetchQuery) -> Fetched:
        """Return memories by id, as many as an answer holds."""
        return await self._store.fetch(replace(query, max_bytes=self._message_bytes))

    async def fetch_candidates(
        self,
        ids: Sequence[str],
        scope: Scope,
        *,
        neighbors: int,
        neighbors_of_first: int,
        with_codes: bool = False,
    ) -> Candidates:
        """Return what a recall needs of memories and their neighbours, as many as an answer holds."""
        most = _CANDIDATE_MESSAGES * self._message_bytes
        query = CandidateQuery(tuple(ids), scope, neighbors, neighbors_of_first, most, with_codes)
        return await self._store.fetch_candidates(query)

    async def page(self, scope: Scope, size: int, token: str, arguments: bytes) -> Page:
        """Return the page after ``token``; ``arguments`` say which listing it is.

        Large memories make it shorter than ``size``.

        Raises:
            PageTokenMismatch: the token is damaged or of another listing.
        """
        after = decode_token(token, arguments) if token else None
        found = await self._store.page(scope, after=after, limit=size, max_bytes=self._message_bytes)
        if not found.has_more:
            return Page(found.memories, "")
        last = found.memories[-1]
        return Page(found.memories, encode_token(Place(last.created_at, last.id), arguments))

    def export(self, scope: Scope) -> AbstractAsyncContextManager[Export]:
        """Open an export of everything in the scope."""
        return self._store.export(scope, max_bytes=self._message_bytes)

    async def search_text(self, text: str, scope: Scope, top_k: int) -> TextFound:
        """Find memories by the words of a text."""
        asked = query_terms(text)
        return await self._store.search_text(
            TextQuery(
                terms=tuple(map(_term, asked.terms)),
                parts=tuple(map(_term, asked.parts)),
                scope=scope,
                top_k=top_k,
            )
        )

    async def search_vectors(self, query: VectorQuery) -> VectorsFound:
        """Find memories by a vector.

        Raises:
            DimensionMismatch, ModelMismatch: the query does not go with the stored vectors.
        """
        return await self._store.search_vectors(query)

    async def status(self, project: str) -> Status:
        """Count what the store holds."""
        return await self._store.status(project)


def _term(term: QueryTerm) -> Term:
    return Term(term.text, term.token, term.prefix)
