"""Memories as the store sent them, in columns, read as far as each stage needs them.

Ranking reads ids, sessions and vectors of all of them; the rest is read of those that survive.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.evidence import Located
from satchel.allocator.model import Candidate, Excerpt, Floats, MemoryType, Outline, Vectors
from satchel.allocator.vocabulary import TYPES
from satchel.api.store.v1 import search_service_pb2 as pb

_FLOAT32 = np.dtype("<f4")
_NO_LINKS: frozenset[str] = frozenset()
# The usual rule for English; used only where nobody counted.
_CODE_POINTS_PER_TOKEN = 4


class FetchedMemories:
    """`Loaded` over the replies of one fetch: all the memories, then their neighbours, each once."""

    def __init__(self, replies: Sequence[pb.FetchCandidatesResponse]) -> None:
        self._replies = replies
        self._places = _places(replies)
        self._texts = self._column("contents")
        self._sessions, self._orders = self._column("session_ids"), self._column("session_orders")
        self._tokens = self._column("token_counts")
        in_filter = self._column("in_filter")
        vectors, owners = self._rows()
        self._located = Located(
            ids=self._column("ids"),
            sessions=self._sessions,
            orders=self._orders,
            vectors=vectors,
            owners=owners,
            texts=self._texts,
            eligible=None if all(in_filter) else in_filter,
        )

    @property
    def located(self) -> Located:
        """What ranking needs of each memory."""
        return self._located

    @property
    def showable_tokens(self) -> int:
        """Tokens of all texts that may be shown."""
        eligible = self._located.eligible or [True] * len(self._texts)
        return sum(
            tokens or len(text) // _CODE_POINTS_PER_TOKEN
            for tokens, text, is_shown in zip(self._tokens, self._texts, eligible, strict=True)
            if is_shown
        )

    def joined(self, other: Self) -> Self:
        """Return these memories and those of another fetch in the same scope."""
        return type(self)([*self._replies, *other._replies])

    def outline(self, indices: Sequence[int], relevances: Floats) -> Outline:
        """Return what packing needs of every memory before it looks at one."""
        return Outline(
            ids=[self._located.ids[index] for index in indices],
            relevances=relevances,
            tokens=[self._tokens[index] or None for index in indices],
            wings=[self._wings[index] for index in indices],
            texts=[self._texts[index] for index in indices],
        )

    def candidate(self, index: int, passage: int) -> Candidate:
        """Return a memory whole."""
        number, row = self._places[index]
        reply = self._replies[number]
        # Positional, in the order of the fields: this runs some hundred times a recall.
        return Candidate(
            self._located.ids[index],
            self._texts[index],
            TYPES.get(reply.types[row], MemoryType.SESSION_NOTE),
            partial(facts_line, reply.fingerprints[row]),
            reply.fact_counts[row],
            self._wings[index],
            reply.rooms[row],
            self._sessions[index],
            self._orders[index],
            reply.effective_micros[row] if reply.occurred[row] else None,
            reply.created_micros[row],
            reply.versions[row],
            self._tokens[index] or None,
            self._links.get(self._located.ids[index], _NO_LINKS),
            self._excerpt(index, passage),
        )

    def _column(self, name: str) -> list[Any]:
        """Return a column over all replies."""
        if len(self._replies) == 1:
            return list(getattr(self._replies[0], name))
        columns = [getattr(reply, name) for reply in self._replies]
        return [columns[number][row] for number, row in self._places]

    def _rows(self) -> tuple[Vectors, NDArray[np.int64]]:
        """Return all passages as rows of one array, and the memory of each row."""
        at = {place: index for index, place in enumerate(self._places)}
        matrices, owners = [], []
        for number, reply in enumerate(self._replies):
            if reply.vectors and reply.dimension:
                counts = list(reply.passage_counts)
                own = np.repeat([at.get((number, row), -1) for row in range(len(counts))], counts)
                matrix = np.frombuffer(reply.vectors, dtype=_FLOAT32).reshape(-1, reply.dimension)
                matrices.append(matrix if own.min(initial=0) >= 0 else matrix[own >= 0])
                owners.append(own[own >= 0])
        if not matrices:
            return np.zeros((0, 0), dtype=np.float32), np.zeros(0, dtype=np.int64)
        return np.concatenate(matrices) if len(matrices) > 1 else matrices[0], np.concatenate(owners)

    def _excerpt(self, index: int, passage: int) -> Excerpt | None:
        """Return where the passage stands in the text; `None` where the text is a single passage."""
        number, row = self._places[index]
        reply = self._replies[number]
        count = reply.passage_counts[row]
        if count < 2 or not 0 <= passage < count:  # noqa: PLR2004  # one passage is the text itself
            return None
        at = self._first_passages[number][row] + passage
        start, end = reply.passage_starts[at], min(reply.passage_ends[at], len(self._texts[index]))
        return Excerpt(start, end) if start < end else None

    @cached_property
    def _wings(self) -> list[str]:
        return self._column("wings")

    @cached_property
    def _first_passages(self) -> Sequence[Sequence[int]]:
        return [[0, *accumulate(reply.passage_counts)] for reply in self._replies]

    @cached_property
    def _links(self) -> dict[str, frozenset[str]]:
        return {
            reply.ids[one.index]: frozenset(one.memory_ids) for reply in self._replies for one in reply.links
        }


def facts_line(fingerprint: str) -> str:
    """Return the facts of a fingerprint's JSON on one line, joined by bars; empty without any."""
    if not fingerprint:
        return ""
    facts = json.loads(fingerprint)
    parts = (
        ("decision: ", facts.get("decision")),
        ("rejected: ", ", ".join(facts.get("rejected", ()))),
        ("because: ", "; ".join(facts.get("reasons", ()))),
        ("approved: ", facts.get("validator")),
        ("@", facts.get("assignee")),
        ("due: ", facts.get("deadline")),
    )
    stated = [label + value for label, value in parts if value]
    subjects = ", ".join(facts.get("subjects") or facts.get("entities", ()))
    return " | ".join([subjects, *stated] if subjects else stated)


def _places(replies: Sequence[pb.FetchCandidatesResponse]) -> list[tuple[int, int]]:
    """Return reply and row of each memory: those asked for, then neighbours that nobody asked for."""
    if len(replies) == 1:
        return [(0, row) for row in range(len(replies[0].ids))]
    found: dict[str, tuple[int, int]] = {}
    for number, row in [*_each(replies, asked=True), *_each(replies, asked=False)]:
        found.setdefault(replies[number].ids[row], (number, row))
    return list(found.values())


def _each(replies: Sequence[pb.FetchCandidatesResponse], *, asked: bool) -> Iterable[tuple[int, int]]:
    for number, reply in enumerate(replies):
        rows = range(reply.asked_count) if asked else range(reply.asked_count, len(reply.ids))
        yield from ((number, row) for row in rows)
