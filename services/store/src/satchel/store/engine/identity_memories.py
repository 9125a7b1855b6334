"""Memories that go with an identity: those of the agent's own conversations."""

from satchel.store.engine.reading import Reading
from satchel.store.identity.model import Snapshot
from satchel.store.identity.prompts import Memory, memory_line
from satchel.store.ports import FetchQuery
from satchel.store.scope import Scope


class IdentityMemories:
    """Finds memories by words, in the project and in the sessions that were captured of the agent.

    At most ``limit`` are found; 0 switches it off.
    """

    def __init__(self, reading: Reading, *, limit: int) -> None:
        self._reading = reading
        self._limit = limit

    async def related(self, snapshot: Snapshot, context: str) -> tuple[Memory, ...]:
        """Return memories that go with a context, best first; none for a blank one. Secrets are left out."""
        if not self._limit or not context.strip() or not snapshot.sessions:
            return ()
        scope = Scope(project=snapshot.project, session_ids=snapshot.sessions)
        found = await self._reading.search_text(context, scope, self._limit)
        ids = tuple(hit.memory_id for hit in found.hits)
        if not ids:
            return ()
        query = FetchQuery(ids=ids, project=snapshot.project, with_details=False)
        fetched = await self._reading.fetch(query)
        return tuple(
            Memory(memory.id, memory_line(memory.id, memory.content))
            for memory in fetched.memories
            if memory.content.strip()
        )
