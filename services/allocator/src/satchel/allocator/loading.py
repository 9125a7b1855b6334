"""Memories as the store sent them, read as far as each stage needs them.

Ranking reads ids, sessions and vectors of all of them; the rest is read of those that survive.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from satchel.allocator.model import Candidate, Excerpt, MemoryType, Vectors
from satchel.allocator.ports import Scope
from satchel.allocator.ranking import Located
from satchel.allocator.vocabulary import TYPE_NUMBERS, TYPES, microseconds
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2

_FLOAT32 = np.dtype("<f4")
_NO_LINKS: frozenset[str] = frozenset()


class FetchedMemories:
    """`Loaded` over a reply: the memories, then their neighbours."""

    def __init__(self, reply: pb.BatchGetMemoriesResponse, scope: Scope) -> None:
        self._memories = [*reply.memories, *reply.neighbors]
        self._vectors = {one.memory_id: one for one in reply.vectors}
        asked = len(reply.memories)
        rows = _rows(reply.vectors)
        self._located = [
            Located(
                memory.id,
                memory.session_id,
                memory.session_order,
                rows.get(memory.id),
                index < asked or is_in_scope(memory, scope),
            )
            for index, memory in enumerate(self._memories)
        ]

    @property
    def located(self) -> Sequence[Located]:
        """What ranking needs of each memory."""
        return self._located

    def candidate(self, index: int, passage: int) -> Candidate:
        """Return a memory whole."""
        memory = self._memories[index]
        links = memory.causal_links
        return Candidate(
            id=memory.id,
            text=memory.content,
            type=TYPES.get(memory.type, MemoryType.SESSION_NOTE),
            fingerprint=partial(_facts, memory),
            fact_count=memory.fingerprint.fact_count,
            wing=memory.wing,
            room=memory.room,
            session_id=memory.session_id,
            session_order=memory.session_order,
            occurred_us=microseconds(memory.occurred_at) if memory.HasField("occurred_at") else None,
            created_us=microseconds(memory.created_at) if memory.HasField("created_at") else None,
            version=memory.version,
            verbatim_tokens=memory.token_costs.verbatim or None,
            links=frozenset(link.memory_id for link in links) if links else _NO_LINKS,
            excerpt=self._excerpt(memory, passage),
        )

    def _excerpt(self, memory: memory_pb2.Memory, passage: int) -> Excerpt | None:
        """Return where the passage stands in the text; `None` where the text is a single passage."""
        vectors = self._vectors.get(memory.id)
        if vectors is None or not 0 <= passage < len(vectors.starts) or len(vectors.starts) == 1:
            return None
        start, end = vectors.starts[passage], min(vectors.ends[passage], len(memory.content))
        return Excerpt(start, end) if start < end else None


def is_in_scope(memory: memory_pb2.Memory, scope: Scope) -> bool:
    """Tell whether a neighbour, which no search has filtered, may be shown."""
    time = microseconds(memory.occurred_at if memory.HasField("occurred_at") else memory.created_at)
    return (
        (not scope.wing or memory.wing == scope.wing)
        and (not scope.room or memory.room == scope.room)
        and (not scope.types or memory.type in {TYPE_NUMBERS[one] for one in scope.types})
        and (not scope.tags or {tag.lower() for tag in scope.tags} <= set(memory.tags))
        and (scope.since_us is None or time >= scope.since_us)
        and (scope.until_us is None or time < scope.until_us)
    )


def facts_line(fingerprint: memory_pb2.Fingerprint) -> str:
    """Return the facts on one line, joined by bars; empty without any."""
    facts = (
        ("decision: ", fingerprint.decision),
        ("rejected: ", ", ".join(fingerprint.rejected)),
        ("because: ", "; ".join(fingerprint.reasons)),
        ("approved: ", fingerprint.validator),
        ("@", fingerprint.assignee),
        ("due: ", fingerprint.deadline),
    )
    stated = [label + value for label, value in facts if value]
    subjects = ", ".join(fingerprint.subjects or fingerprint.entities)
    return " | ".join([subjects, *stated] if subjects else stated)


def _facts(memory: memory_pb2.Memory) -> str:
    return facts_line(memory.fingerprint)


def _rows(vectors: Sequence[pb.MemoryVectors]) -> Mapping[str, Vectors]:
    """Return the passages of each memory as rows of one array; those of another width are left out."""
    width = next((one.dimension for one in vectors if one.dimension), 0)
    whole = [one for one in vectors if one.dimension == width and one.vectors]
    if not whole:
        return {}
    parts = [one.vectors for one in whole]
    matrix = np.frombuffer(b"".join(parts), dtype=_FLOAT32).reshape(-1, width)
    rows: dict[str, Vectors] = {}
    start = 0
    for one, part in zip(whole, parts, strict=True):
        end = start + len(part) // (4 * width)
        rows[one.memory_id] = matrix[start:end]
        start = end
    return rows
