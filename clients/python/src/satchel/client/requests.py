"""Makes the request of every call, for the synchronous and the asynchronous client alike.

A client has a project and a wing for calls that name none. A write gets its request id here, before it is
sent, so that the store knows a repeat by gRPC as one.
"""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from google.protobuf import field_mask_pb2, wrappers_pb2

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.embedder.v1 import embedder_service_pb2 as embedder_pb
from satchel.api.store.v1 import change_service_pb2 as change_pb
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.types.v1.memory_pb2 import Memory
from satchel.client import rpcs
from satchel.client.fields import (
    AllocateFields,
    CandidateFields,
    ChangedFields,
    ExportFields,
    ListFields,
    MemoryFields,
    NewMemory,
    RecallFields,
    RoleLike,
    SearchFields,
    build,
    refuse_text,
)
from satchel.client.rpcs import Rpc
from satchel.client.vectors import pack

Q = TypeVar("Q")
A = TypeVar("A")

# What `remember_many` and `import_` take for a new memory: its text, its fields, or the contract's message.
NewMemoryLike: TypeAlias = str | NewMemory | memory_pb.StoreMemoryRequest
CandidateLike: TypeAlias = CandidateFields | allocator_pb.Candidate

_GENERAL_WING = "general"
# The client's timeout is meant for so many texts.
_TEXTS_IN_TIME = 50


@dataclass(frozen=True, slots=True)
class Call(Generic[Q, A]):
    """A call that is not made yet; it may take ``patience`` times the client's timeout."""

    rpc: Rpc[Q, A]
    request: Q
    patience: int = 1


@dataclass(frozen=True, slots=True)
class Requests:
    """Makes calls with a project and a wing for those that name none; empty means none."""

    project: str = ""
    wing: str = ""

    def check(self, service: str) -> Call[wrappers_pb2.StringValue, wrappers_pb2.Int32Value]:
        """Ask for the health of a server, or of one of its services."""
        return Call(rpcs.CHECK, wrappers_pb2.StringValue(value=service))

    def remember(
        self, content: str, fields: MemoryFields
    ) -> Call[memory_pb.StoreMemoryRequest, memory_pb.StoreMemoryResponse]:
        """Store one memory."""
        request = self._new_memory(content, fields)
        request.request_id = request.request_id or str(uuid.uuid4())
        return Call(rpcs.STORE, request)

    def remember_many(
        self, memories: Iterable[NewMemoryLike], fields: MemoryFields
    ) -> Call[memory_pb.BatchStoreMemoriesRequest, memory_pb.BatchStoreMemoriesResponse]:
        """Store several memories at once; ``fields`` are for those that do not have them."""
        refuse_text(memories, "memories")
        shared: MemoryFields = {**fields}
        request_id = str(shared.pop("request_id", None) or uuid.uuid4())
        request = memory_pb.BatchStoreMemoriesRequest(
            memories=[self._new_memory(one, shared) for one in memories], request_id=request_id
        )
        return Call(rpcs.STORE_BATCH, request, _patience(len(request.memories)))

    def import_(self, sequence: int, record: NewMemoryLike | Memory) -> memory_pb.ImportMemoriesRequest:
        """Make one record of an import; exported memories keep their project unless the client has one."""
        if not isinstance(record, Memory):
            return memory_pb.ImportMemoriesRequest(
                sequence=sequence, new_memory=self._new_memory(record, MemoryFields())
            )
        request = memory_pb.ImportMemoriesRequest(sequence=sequence, memory=record)
        if self.project:
            request.memory.project = self.project
        return request

    def export(
        self, fields: ExportFields
    ) -> Call[memory_pb.ExportMemoriesRequest, memory_pb.ExportMemoriesResponse]:
        """Read all memories."""
        project = "" if fields.get("all_projects") else self.project
        return Call(
            rpcs.EXPORT,
            build(memory_pb.ExportMemoriesRequest, {"project": project, "wing": self.wing, **fields}),
        )

    def get(
        self, memory_id: str, project: str | None
    ) -> Call[memory_pb.GetMemoryRequest, memory_pb.GetMemoryResponse]:
        """Read one memory."""
        return Call(rpcs.GET, memory_pb.GetMemoryRequest(id=memory_id, project=self._or_own(project)))

    def get_many(self, project: str | None) -> memory_pb.BatchGetMemoriesRequest:
        """Make a request for several memories; the ids are for the caller to add."""
        return memory_pb.BatchGetMemoriesRequest(project=self._or_own(project))

    def list(self, fields: ListFields) -> memory_pb.ListMemoriesRequest:
        """Make a request for the first page of a list."""
        return build(memory_pb.ListMemoriesRequest, self._scoped(fields))

    def update(
        self,
        memory_id: str,
        changes: ChangedFields,
        *,
        expected_version: int,
        project: str | None,
    ) -> Call[memory_pb.UpdateMemoryRequest, memory_pb.UpdateMemoryResponse]:
        """Change the fields that are given; `None` clears."""
        request = build(memory_pb.UpdateMemoryRequest, changes)
        request.id, request.project = memory_id, self._or_own(project)
        request.expected_version, request.request_id = expected_version, str(uuid.uuid4())
        request.update_mask.CopyFrom(field_mask_pb2.FieldMask(paths=list(changes)))
        return Call(rpcs.UPDATE, request)

    def delete(
        self, memory_id: str, *, expected_version: int, project: str | None
    ) -> Call[memory_pb.DeleteMemoryRequest, memory_pb.DeleteMemoryResponse]:
        """Delete one memory."""
        request = memory_pb.DeleteMemoryRequest(
            id=memory_id,
            project=self._or_own(project),
            expected_version=expected_version,
            request_id=str(uuid.uuid4()),
        )
        return Call(rpcs.DELETE, request)

    def head(
        self, project: str | None
    ) -> Call[memory_pb.GetStoreStatusRequest, memory_pb.GetStoreStatusResponse]:
        """Ask for the newest revision of the store."""
        return Call(rpcs.STORE_STATUS, memory_pb.GetStoreStatusRequest(project=self._or_own(project)))

    def watch(
        self, after_revision: int, *, include_vectors: bool, stop_at_head: bool, project: str | None
    ) -> Call[change_pb.WatchChangesRequest, change_pb.WatchChangesResponse]:
        """Follow the changes after a revision."""
        request = change_pb.WatchChangesRequest(
            after_revision=after_revision,
            include_vectors=include_vectors,
            stop_at_head=stop_at_head,
            project=self._or_own(project),
        )
        return Call(rpcs.WATCH, request)

    def recall(
        self, query: str, budget: int, fields: RecallFields
    ) -> Call[allocator_pb.RecallRequest, allocator_pb.RecallResponse]:
        """Fill a budget for a question."""
        scoped = {**self._scoped(fields), "query": query, "budget": budget}
        return Call(rpcs.RECALL, build(allocator_pb.RecallRequest, scoped))

    def search(
        self, query: str, top_k: int, fields: SearchFields
    ) -> Call[allocator_pb.SearchMemoriesRequest, allocator_pb.SearchMemoriesResponse]:
        """Find memories, best first."""
        scoped = {**self._scoped(fields), "query": query, "top_k": top_k}
        return Call(rpcs.SEARCH, build(allocator_pb.SearchMemoriesRequest, scoped))

    def allocate(
        self, candidates: Iterable[CandidateLike], budget: int, fields: AllocateFields
    ) -> Call[allocator_pb.AllocateRequest, allocator_pb.AllocateResponse]:
        """Pack the caller's own candidates."""
        given = {**fields, "candidates": [_candidate(one) for one in candidates], "budget": budget}
        return Call(rpcs.ALLOCATE, build(allocator_pb.AllocateRequest, given))

    def status(
        self, project: str | None
    ) -> Call[allocator_pb.GetStatusRequest, allocator_pb.GetStatusResponse]:
        """Ask what Satchel holds."""
        return Call(rpcs.STATUS, allocator_pb.GetStatusRequest(project=self._or_own(project)))

    def embed(
        self, texts: Iterable[str], role: RoleLike, *, split_passages: bool
    ) -> Call[embedder_pb.EmbedTextsRequest, embedder_pb.EmbedTextsResponse]:
        """Turn texts into vectors."""
        given = {"texts": texts, "role": role, "split_passages": split_passages}
        request = build(embedder_pb.EmbedTextsRequest, given)
        return Call(rpcs.EMBED, request, _patience(len(request.texts)))

    def _new_memory(self, memory: NewMemoryLike, fields: MemoryFields) -> memory_pb.StoreMemoryRequest:
        defaults = {"project": self.project, "wing": self.wing or _GENERAL_WING}
        if isinstance(memory, memory_pb.StoreMemoryRequest):
            whole = build(memory_pb.StoreMemoryRequest, {**defaults, **fields})
            for field, _ in memory.ListFields():
                whole.ClearField(field.name)  # type: ignore[arg-type]  # a name of its own fields
            whole.MergeFrom(memory)
            return whole
        own: Mapping[str, object] = {"content": memory} if isinstance(memory, str) else memory
        return build(memory_pb.StoreMemoryRequest, {**defaults, **fields, **own})

    def _scoped(self, fields: Mapping[str, object]) -> Mapping[str, object]:
        return {"project": self.project, "wing": self.wing, **fields}

    def _or_own(self, project: str | None) -> str:
        return self.project if project is None else project


def _candidate(candidate: CandidateLike) -> allocator_pb.Candidate:
    if isinstance(candidate, allocator_pb.Candidate):
        return candidate
    vector = candidate.get("vector")
    packed = vector if vector is None or isinstance(vector, bytes) else pack(vector)
    return build(allocator_pb.Candidate, {**candidate, "vector": packed})


def _patience(text_count: int) -> int:
    return max(1, -(-text_count // _TEXTS_IN_TIME))
