"""Memories as the store sent them, read as far as each stage needs them.

Ranking reads ids, sessions and vectors of all of them; the rest is read of those that survive.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.model import Candidate, Excerpt, Floats, MemoryType, Outline, Vectors
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
        self._reply = reply
        self._texts = [memory.content for memory in self._memories]
        ids = [memory.id for memory in self._memories]
        vectors, owners = _rows(reply.vectors, {name: index for index, name in enumerate(ids)})
        self._located = Located(
            ids=ids,
            sessions=[memory.session_id for memory in self._memories],
            orders=[memory.session_order for memory in self._memories],
            vectors=vectors,
            owners=owners,
            eligible=self._eligible(len(reply.memories), scope) if has_conditions(scope) else None,
        )

    @property
    def located(self) -> Located:
        """What ranking needs of each memory."""
        return self._located

    def outline(self, indices: Sequence[int], relevances: Floats) -> Outline:
        """Return what packing needs of every memory before it looks at one."""
        memories = [self._memories[index] for index in indices]
        return Outline(
            ids=[self._located.ids[index] for index in indices],
            relevances=relevances,
            tokens=[memory.token_costs.verbatim or None for memory in memories],
            wings=[memory.wing for memory in memories],
            texts=[self._texts[index] for index in indices],
        )

    def candidate(self, index: int, passage: int) -> Candidate:
        """Return a memory whole."""
        memory = self._memories[index]
        links = memory.causal_links
        # Positional, in the order of the fields: this runs some hundred times a recall.
        return Candidate(
            self._located.ids[index],
            self._texts[index],
            TYPES.get(memory.type, MemoryType.SESSION_NOTE),
            partial(_facts, memory),
            memory.fingerprint.fact_count,
            memory.wing,
            memory.room,
            self._located.sessions[index],
            self._located.orders[index],
            microseconds(memory.occurred_at) if memory.HasField("occurred_at") else None,
            microseconds(memory.created_at) if memory.HasField("created_at") else None,
            memory.version,
            memory.token_costs.verbatim or None,
            frozenset(link.memory_id for link in links) if links else _NO_LINKS,
            self._excerpt(index, passage),
        )

    def _eligible(self, asked: int, scope: Scope) -> list[bool]:
        return [index < asked or is_in_scope(memory, scope) for index, memory in enumerate(self._memories)]

    def _excerpt(self, index: int, passage: int) -> Excerpt | None:
        """Return where the passage stands in the text; `None` where the text is a single passage."""
        vectors = self._long_texts.get(self._located.ids[index])
        if vectors is None or not 0 <= passage < len(vectors.starts):
            return None
        start, end = vectors.starts[passage], min(vectors.ends[passage], len(self._texts[index]))
        return Excerpt(start, end) if start < end else None

    @cached_property
    def _long_texts(self) -> Mapping[str, pb.MemoryVectors]:
        """The vectors of texts with several passages, by id."""
        return {one.memory_id: one for one in self._reply.vectors if len(one.starts) > 1}


def has_conditions(scope: Scope) -> bool:
    """Tell whether a scope leaves out anything of its project."""
    return scope != Scope(project=scope.project)


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


def _rows(vectors: Sequence[pb.MemoryVectors], at: Mapping[str, int]) -> tuple[Vectors, NDArray[np.int64]]:
    """Return all passages as rows of one array, and the memory of each row.

    Those of another width, or of no memory that came, are left out.
    """
    width = next((one.dimension for one in vectors if one.dimension), 0)
    whole = [
        (at[one.memory_id], part)
        for one in vectors
        if one.dimension == width and (part := one.vectors) and one.memory_id in at
    ]
    if not whole:
        return np.zeros((0, 0), dtype=np.float32), np.zeros(0, dtype=np.int64)
    matrix = np.frombuffer(b"".join([part for _, part in whole]), dtype=_FLOAT32).reshape(-1, width)
    sizes = [len(part) // (4 * width) for _, part in whole]
    return matrix, np.repeat(np.array([owner for owner, _ in whole], dtype=np.int64), sizes)
