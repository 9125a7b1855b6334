"""Memories as the store sent them, read as far as each stage needs them.

Ranking reads ids, sessions and vectors of all of them; the rest is read of those that survive.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.evidence import Located
from satchel.allocator.folding import tag_key
from satchel.allocator.model import Candidate, Excerpt, Floats, MemoryType, Outline, Vectors
from satchel.allocator.ports import Scope
from satchel.allocator.vocabulary import TYPE_NUMBERS, TYPES, microseconds
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2

_FLOAT32 = np.dtype("<f4")
_NO_LINKS: frozenset[str] = frozenset()
# The usual rule for English; used only where nobody counted.
_CODE_POINTS_PER_TOKEN = 4


class FetchedMemories:
    """`Loaded` over the replies of one fetch: all the memories, then their neighbours."""

    def __init__(self, replies: Sequence[pb.BatchGetMemoriesResponse], scope: Scope) -> None:
        self._replies, self._scope = replies, scope
        asked = [memory for reply in replies for memory in reply.memories]
        self._memories = [*asked, *_neighbors(replies, asked)]
        self._vectors = _vectors(replies)
        self._texts = [memory.content for memory in self._memories]
        ids = [memory.id for memory in self._memories]
        vectors, owners = _rows(self._vectors, {name: index for index, name in enumerate(ids)})
        self._located = Located(
            ids=ids,
            sessions=[memory.session_id for memory in self._memories],
            orders=[memory.session_order for memory in self._memories],
            vectors=vectors,
            owners=owners,
            texts=self._texts,
            eligible=self._eligible(len(asked), scope) if has_conditions(scope) else None,
        )

    @property
    def located(self) -> Located:
        """What ranking needs of each memory."""
        return self._located

    @property
    def showable_tokens(self) -> int:
        """Tokens of all texts that may be shown."""
        eligible = self._located.eligible or [True] * len(self._memories)
        return sum(
            memory.token_costs.verbatim or len(text) // _CODE_POINTS_PER_TOKEN
            for memory, text, is_shown in zip(self._memories, self._texts, eligible, strict=True)
            if is_shown
        )

    def joined(self, other: Self) -> Self:
        """Return these memories and those of another fetch in the same scope."""
        return type(self)([*self._replies, *other._replies], self._scope)

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
        return {one.memory_id: one for one in self._vectors if len(one.starts) > 1}


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
        and (not scope.tags or set(map(tag_key, scope.tags)) <= set(map(tag_key, memory.tags)))
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


def _neighbors(
    replies: Sequence[pb.BatchGetMemoriesResponse], asked: Sequence[memory_pb2.Memory]
) -> Sequence[memory_pb2.Memory]:
    """Return the neighbours that no other request of the fetch asked for, each once."""
    if len(replies) == 1:
        return replies[0].neighbors
    found = {memory.id: memory for reply in reversed(replies) for memory in reversed(reply.neighbors)}
    names = {memory.id for memory in asked}
    return [memory for name, memory in reversed(found.items()) if name not in names]


def _vectors(replies: Sequence[pb.BatchGetMemoriesResponse]) -> Sequence[pb.MemoryVectors]:
    """Return the vectors of each memory once."""
    if len(replies) == 1:
        return replies[0].vectors
    return list({one.memory_id: one for reply in replies for one in reply.vectors}.values())


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
