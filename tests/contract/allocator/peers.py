"""Small stand-ins for embedder, index and store, served over the in-process transport."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from typing import Any

import grpc
import numpy as np
from google.protobuf.json_format import MessageToDict

from satchel.api.embedder.v1 import embedder_service_pb2 as embedder_pb
from satchel.api.embedder.v1 import embedder_service_pb2_grpc as embedder_rpc
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.index.v1 import index_service_pb2_grpc as index_rpc
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.store.v1 import memory_service_pb2_grpc as memory_rpc
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.store.v1 import search_service_pb2_grpc as search_rpc
from satchel.api.types.v1 import memory_pb2, model_pb2, scope_pb2
from satchel.runtime.errors import PeerUnavailable, ServiceError
from satchel.runtime.folding import fold
from satchel.runtime.tokens import count_tokens

DIMENSION = 64
MODEL = model_pb2.ModelIdentity(name="bag-of-words", sha256="a" * 64, dimension=DIMENSION, max_tokens=64)


def embed(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """A bag of words, hashed: equal words make texts similar."""
    vector = np.full(DIMENSION, 0.01, dtype=np.float32)
    for word in text.lower().replace("?", " ").replace(".", " ").split():
        vector[sum(word.encode()) % DIMENSION] += 1
    normal: np.ndarray[tuple[int], np.dtype[np.float32]] = vector / np.linalg.norm(vector)
    return normal


def codes_of(*texts: str) -> model_pb2.TokenCodes:
    """The codes of the words of each text: eight bytes of a digest, for 64 numbers."""
    codes = [[sha256(word.encode()).digest()[:8] for word in text.lower().split()] for text in texts]
    return model_pb2.TokenCodes(
        codes=b"".join(chain(*codes)), counts=map(len, codes), bytes_per_token=DIMENSION // 8
    )


def memory_id(number: int) -> str:
    return f"018f3b1c-7a2e-7b1a-9c3d-{number:012d}"


def memory(number: int, content: str, *, wing: str = "w1", day: int = 0, **fields: Any) -> memory_pb2.Memory:  # noqa: ANN401
    built = memory_pb2.Memory(
        id=memory_id(number),
        project="default",
        wing=wing,
        room="session",
        type=memory_pb2.MEMORY_TYPE_SESSION_NOTE,
        content=content,
        version=1,
        **fields,
    )
    built.created_at.FromSeconds(1_700_000_000 + 86_400 * day)
    built.token_costs.verbatim = count_tokens(content)
    return built


@dataclass
class World:
    """Memories, what fails, and what was asked."""

    memories: list[memory_pb2.Memory] = field(default_factory=list)
    pending: set[str] = field(default_factory=set)
    failing: dict[str, ServiceError] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    index_degraded: bool = False
    has_codes: bool = True
    memories_per_reply: int = 1000
    calls: list[str] = field(default_factory=list)
    requests: dict[str, Any] = field(default_factory=dict)

    def called(self, name: str, request: Any) -> None:  # noqa: ANN401
        self.calls.append(name)
        self.requests[name] = request
        for part in (name, name.split(".", maxsplit=1)[0]):
            if part in self.failing:
                raise self.failing[part]

    def break_down(self, *parts: str) -> None:
        self.failing |= {part: PeerUnavailable() for part in parts}

    def visible(self, condition: scope_pb2.MemoryFilter) -> Iterator[memory_pb2.Memory]:
        for one in self.memories:
            if condition.wings and one.wing not in condition.wings:
                continue
            if condition.types and one.type not in condition.types:
                continue
            if one.id in self.hidden:
                continue
            yield one

    def nearest(
        self, vector: bytes, condition: scope_pb2.MemoryFilter, limit: int
    ) -> list[tuple[str, float]]:
        query = np.frombuffer(vector, dtype="<f4")
        found = [
            (one.id, float(embed(one.content) @ query))
            for one in self.visible(condition)
            if one.id not in self.pending
        ]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]


class Embedder(embedder_rpc.EmbedderServiceServicer):
    def __init__(self, world: World) -> None:
        self.world = world

    async def EmbedTexts(self, request: Any, context: Any) -> embedder_pb.EmbedTextsResponse:  # noqa: ANN401, ARG002, N802
        self.world.called("embedder.EmbedTexts", request)
        rows = np.stack([embed(text) for text in request.texts])
        return embedder_pb.EmbedTextsResponse(
            model=MODEL,
            vectors=rows.astype("<f4").tobytes(),
            count=len(rows),
            dimension=DIMENSION,
            token_codes=codes_of(*request.texts) if self.world.has_codes else None,
        )

    async def ListModels(self, request: Any, context: Any) -> embedder_pb.ListModelsResponse:  # noqa: ANN401, ARG002, N802
        self.world.called("embedder.ListModels", request)
        return embedder_pb.ListModelsResponse(models=[MODEL])


class Index(index_rpc.IndexServiceServicer):
    def __init__(self, world: World) -> None:
        self.world = world

    async def SearchVectors(self, request: Any, context: Any) -> index_pb.SearchVectorsResponse:  # noqa: ANN401, ARG002, N802
        self.world.called("index.SearchVectors", request)
        hits = self.world.nearest(request.vector, request.filter, request.top_k)
        return index_pb.SearchVectorsResponse(
            hits=[index_pb.VectorHit(memory_id=name, score=score) for name, score in hits],
            applied_revision=7,
            degraded=self.world.index_degraded,
            model=MODEL,
        )

    async def GetIndexStatus(self, request: Any, context: Any) -> index_pb.GetIndexStatusResponse:  # noqa: ANN401, ARG002, N802
        self.world.called("index.GetIndexStatus", request)
        return index_pb.GetIndexStatusResponse(
            state=index_pb.INDEX_STATE_READY, applied_revision=7, lag=1, passage_count=3
        )


class Searches(search_rpc.SearchServiceServicer):
    def __init__(self, world: World) -> None:
        self.world = world

    async def SearchText(self, request: Any, context: Any) -> search_pb.SearchTextResponse:  # noqa: ANN401, ARG002, N802
        self.world.called("store.SearchText", request)
        words = set(request.query.lower().replace("?", "").split())
        scored = [
            (one.id, len(words & set(one.content.lower().replace(".", "").split())))
            for one in self.world.visible(request.filter)
        ]
        hits = sorted((hit for hit in scored if hit[1]), key=lambda hit: (-hit[1], hit[0]))[: request.top_k]
        return search_pb.SearchTextResponse(
            hits=[search_pb.TextHit(memory_id=name, score=float(score)) for name, score in hits],
            tag_hits=[
                search_pb.TagHit(memory_id=one.id, matches=1)
                for one in self.world.visible(request.filter)
                if words & set(one.tags)
            ],
            revision=8,
        )

    async def SearchStoredVectors(self, request: Any, context: Any) -> search_pb.SearchStoredVectorsResponse:  # noqa: ANN401, ARG002, N802
        self.world.called("store.SearchStoredVectors", request)
        hits = self.world.nearest(request.vector, request.filter, request.top_k)
        return search_pb.SearchStoredVectorsResponse(
            hits=[search_pb.StoredVectorHit(memory_id=name, score=score) for name, score in hits], revision=8
        )

    async def FetchCandidates(self, request: Any, context: Any) -> search_pb.FetchCandidatesResponse:  # noqa: ANN401, ARG002, N802
        self.world.called("store.FetchCandidates", request)
        known = {one.id: one for one in self.world.memories}
        asked = request.ids[: self.world.memories_per_reply]
        found = [known[name] for name in asked if name in known]
        leading = found[: request.neighbors_of_first or None]
        beside = _neighbors(self.world.memories, leading, request.neighbor_count)
        beside = [one for one in beside if one.id not in {name.id for name in found}]
        reply = columns(found, beside, self.world.pending)
        reply.in_filter[:] = [
            one.id in {name.id for name in found} or within(one, request.filter) for one in [*found, *beside]
        ]
        reply.remaining_ids[:] = request.ids[len(asked) :]
        if self.world.has_codes:
            reply.token_codes.CopyFrom(codes_of(*passages_of(found, beside, self.world.pending)))
        return reply


class Memories(memory_rpc.MemoryServiceServicer):
    def __init__(self, world: World) -> None:
        self.world = world

    async def GetStoreStatus(self, request: Any, context: Any) -> memory_pb.GetStoreStatusResponse:  # noqa: ANN401, ARG002, N802
        self.world.called("store.GetStoreStatus", request)
        stats = memory_pb.StoreStats(
            verbatim_count=len(self.world.memories), type_counts={"session_note": len(self.world.memories)}
        )
        return memory_pb.GetStoreStatusResponse(stats=stats, head_revision=8, database_bytes=4096)


def columns(
    found: Sequence[memory_pb2.Memory], beside: Sequence[memory_pb2.Memory], pending: set[str]
) -> search_pb.FetchCandidatesResponse:
    every = [*found, *beside]
    passages = [None if one.id in pending else vectors_of(one) for one in every]
    return search_pb.FetchCandidatesResponse(
        asked_count=len(found),
        ids=[one.id for one in every],
        contents=[one.content for one in every],
        fingerprints=[facts_of(one) for one in every],
        wings=[one.wing for one in every],
        rooms=[one.room for one in every],
        session_ids=[one.session_id for one in every],
        session_orders=[one.session_order for one in every],
        types=[one.type for one in every],
        created_micros=[one.created_at.ToMicroseconds() for one in every],
        effective_micros=[effective(one) for one in every],
        occurred=[one.HasField("occurred_at") for one in every],
        versions=[one.version for one in every],
        token_counts=[one.token_costs.verbatim for one in every],
        fact_counts=[one.fingerprint.fact_count for one in every],
        passage_counts=[len(one.starts) if one else 0 for one in passages],
        passage_starts=[start for one in passages if one for start in one.starts],
        passage_ends=[end for one in passages if one for end in one.ends],
        vectors=b"".join(one.vectors for one in passages if one),
        dimension=DIMENSION,
        links=[
            search_pb.CandidateLinks(index=at, memory_ids=[link.memory_id for link in one.causal_links])
            for at, one in enumerate(every)
            if one.causal_links
        ],
    )


def effective(one: memory_pb2.Memory) -> int:
    return (one.occurred_at if one.HasField("occurred_at") else one.created_at).ToMicroseconds()


def facts_of(one: memory_pb2.Memory) -> str:
    """The facts as canonical JSON; none for a secret, as the store has it."""
    facts = MessageToDict(one.fingerprint, preserving_proto_field_name=True) if one.content else {}
    return json.dumps(facts) if facts else ""


def within(one: memory_pb2.Memory, condition: scope_pb2.MemoryFilter) -> bool:
    """Tell whether a memory meets the conditions that the tests set."""
    time = effective(one)
    return (
        (not condition.wings or one.wing in condition.wings)
        and (not condition.rooms or one.room in condition.rooms)
        and (not condition.types or one.type in condition.types)
        and ({fold(tag) for tag in condition.tags} <= {fold(tag) for tag in one.tags})
        and (not condition.HasField("since") or time >= condition.since.ToMicroseconds())
        and (not condition.HasField("until") or time < condition.until.ToMicroseconds())
    )


def vectors_of(one: memory_pb2.Memory) -> memory_pb.MemoryVectors:
    """One passage a text; with the title ``passages``, the last sentence is a passage of its own."""
    border = one.content.rindex(". ") + 2 if one.title == "passages" else len(one.content)
    spans = [(0, border)] + [(border, len(one.content))] * (border < len(one.content))
    return memory_pb.MemoryVectors(
        memory_id=one.id,
        starts=[start for start, _ in spans],
        ends=[end for _, end in spans],
        vectors=b"".join(embed(one.content[start:end]).astype("<f4").tobytes() for start, end in spans),
        dimension=DIMENSION,
    )


def passages_of(
    found: Sequence[memory_pb2.Memory], beside: Sequence[memory_pb2.Memory], pending: set[str]
) -> Iterator[str]:
    """The texts of all passages, in order."""
    for one in (*found, *beside):
        if one.id not in pending:
            spans = vectors_of(one)
            yield from (one.content[start:end] for start, end in zip(spans.starts, spans.ends, strict=True))


def _neighbors(
    memories: Sequence[memory_pb2.Memory], found: Sequence[memory_pb2.Memory], count: int
) -> list[memory_pb2.Memory]:
    asked = {one.id for one in found}
    places = {
        (one.session_id, one.session_order + step) for one in found for step in range(-count, count + 1)
    }
    return [
        one
        for one in memories
        if one.session_id and one.id not in asked and (one.session_id, one.session_order) in places
    ]


def register(world: World, server: grpc.aio.Server) -> None:
    # The other methods stay unimplemented, which the generated classes allow and their stubs do not.
    embedder_rpc.add_EmbedderServiceServicer_to_server(Embedder(world), server)  # type: ignore[abstract]
    index_rpc.add_IndexServiceServicer_to_server(Index(world), server)  # type: ignore[abstract]
    search_rpc.add_SearchServiceServicer_to_server(Searches(world), server)
    memory_rpc.add_MemoryServiceServicer_to_server(Memories(world), server)  # type: ignore[abstract]
