"""Memories as the store sent them, in columns, read as far as each stage needs them.

Ranking reads ids, sessions and vectors of all of them; the rest is read of those that survive.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from satchel.allocator.evidence import Located
from satchel.allocator.late_interaction import Codes, Counts, no_codes, unpacked
from satchel.allocator.model import Candidate, Excerpt, Floats, MemoryType, Outline, Vectors
from satchel.allocator.vocabulary import TYPES
from satchel.api.store.v1 import search_service_pb2 as pb

N = TypeVar("N", bound=np.generic)

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
        vectors, owners, codes, code_counts = self._rows()
        self._located = Located(
            ids=self._column("ids"),
            sessions=self._sessions,
            orders=self._orders,
            vectors=vectors,
            owners=owners,
            texts=self._texts,
            eligible=None if all(in_filter) else in_filter,
            codes=codes,
            code_counts=code_counts,
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

    def _rows(self) -> tuple[Vectors, NDArray[np.int64], Codes, Counts]:
        """Return all passages as rows of one array, the memory and codes of each, and how many it has."""
        at = {place: index for index, place in enumerate(self._places)}
        # Replies of two models differ in it while one takes the other's place.
        dimension = next((reply.dimension for reply in self._replies if reply.vectors), 0)
        parts = [
            _reply_rows(reply, [at.get((number, row), -1) for row in range(len(reply.ids))])
            for number, reply in enumerate(self._replies)
            if reply.vectors and reply.dimension and reply.dimension == dimension
        ]
        if not parts:
            nothing = np.zeros(0, dtype=np.int64)
            return np.zeros((0, 0), dtype=np.float32), nothing, no_codes(), nothing
        vectors, owners, codes, counts = zip(*parts, strict=True)
        return (
            _joined(vectors),
            _joined(owners),
            _joined([one for one in codes if len(one)] or [no_codes()]),
            _joined(counts),
        )

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


def _reply_rows(
    reply: pb.FetchCandidatesResponse, indices: Sequence[int]
) -> tuple[Vectors, NDArray[np.int64], Codes, Counts]:
    """Return the rows of a reply; ``indices`` say which memory each of its memories is, -1 for none."""
    owners = np.repeat(np.asarray(indices, dtype=np.int64), reply.passage_counts)
    vectors = np.frombuffer(reply.vectors, dtype=_FLOAT32).reshape(-1, reply.dimension)
    codes = unpacked(reply.token_codes.codes, reply.token_codes.bytes_per_token)
    counts = np.array(reply.token_codes.counts or [0] * len(owners), dtype=np.int64)
    is_kept = owners >= 0
    if is_kept.all():
        return vectors, owners, codes, counts
    own_codes = codes[np.repeat(is_kept, counts)] if len(codes) else codes
    return vectors[is_kept], owners[is_kept], own_codes, counts[is_kept]


def _joined(parts: Sequence[NDArray[N]]) -> NDArray[N]:
    """Return arrays as one; a single one is not copied."""
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


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
