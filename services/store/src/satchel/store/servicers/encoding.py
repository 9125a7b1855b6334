"""The store's nouns as the contract's messages."""

import json
from struct import unpack
from typing import Any

from google.protobuf import struct_pb2, timestamp_pb2

from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.types.v1 import memory_pb2, model_pb2
from satchel.store.lifecycle import TimelineItem
from satchel.store.model import (
    Change,
    Changes,
    Component,
    Fetched,
    Link,
    Memory,
    MemoryState,
    MemoryType,
    ModelIdentity,
    Status,
    Stored,
)
from satchel.store.scope import TextFound, VectorsFound

_HASH_DIGITS = 16
_MICROS = 1_000_000
_RULES = "rules"
_Type = memory_pb2.MemoryType.ValueType
_State = memory_pb2.MemoryState.ValueType
_Sensitivity = memory_pb2.Sensitivity.ValueType
_Relation = memory_pb2.CausalRelation.ValueType
_TYPES = {kind.name.lower(): _Type(kind) for kind in MemoryType}


def memory(found: Memory) -> memory_pb2.Memory:
    """Encode a memory, whole."""
    message = memory_pb2.Memory(**_plain(found))
    _fill(message, found)
    _fill_details(message, found)
    return message


def _plain(found: Memory) -> dict[str, Any]:
    """Return what a recall needs of a memory, but for the nested messages."""
    return {
        "id": found.id,
        "project": found.project,
        "wing": found.wing,
        "room": found.room,
        "type": found.type,
        "title": found.title,
        "summary": found.summary,
        "content": found.content,
        "tags": found.tags,
        "given_tags": found.given_tags,
        "type_declared": found.declared,
        "session_id": found.session_id,
        "session_order": found.session_order,
        "sensitivity": found.sensitivity,
        "state": found.state,
        "version": found.version,
        "revision": found.revision,
        "embedding": _embedding(embedded=found.passage_count > 0),
        "token_count": found.costs.verbatim,
        "archive_batch_id": found.archive_batch if found.state is MemoryState.ARCHIVED else "",
    }


def _fill(message: memory_pb2.Memory, found: Memory) -> None:
    """Set the nested messages that a recall needs; in place, which saves a copy of each."""
    _set_time(message.created_at, found.created_at)
    _set_time(message.updated_at, found.updated_at)
    for name in ("occurred_at", "archived_at", "unarchived_at"):
        if (at := getattr(found, name)) is not None:
            _set_time(getattr(message, name), at)
    costs, counted = message.token_costs, found.costs
    costs.verbatim, costs.fingerprint, costs.header = counted
    facts = message.fingerprint
    facts.fact_count = found.fact_count
    for name, value in json.loads(found.fingerprint).items():
        if name == "type":
            facts.type = _TYPES[value]
        elif isinstance(value, list):
            getattr(facts, name).extend(value)
        else:
            setattr(facts, name, value)
    facts.extracted_by = facts.extracted_by or _RULES
    if found.links:
        message.causal_links.extend(link(one) for one in found.links)


def _fill_details(message: memory_pb2.Memory, found: Memory) -> None:
    """Set what only a whole memory shows."""
    message.path = found.path
    message.source = found.source
    if found.metadata:
        message.metadata.CopyFrom(struct(found.metadata))
    if found.component is not None:
        message.component.CopyFrom(component(found.component))


def link(one: Link) -> memory_pb2.CausalLink:
    """Encode a causal link."""
    return memory_pb2.CausalLink(
        memory_id=one.memory_id,
        relation=_Relation(one.relation),
        outgoing=one.outgoing,
        phrase=one.phrase,
    )


def component(one: Component) -> memory_pb2.Component:
    """Encode typed fields."""
    message = memory_pb2.Component()
    kind = getattr(message, one.kind)
    kind.SetInParent()
    for name, value in one.fields.items():
        if isinstance(value, tuple):
            getattr(kind, name).extend(value)
        else:
            setattr(kind, name, value)
    return message


def struct(text: str) -> struct_pb2.Struct:
    """Encode a JSON object."""
    message = struct_pb2.Struct()
    message.update(json.loads(text))
    return message


def timestamp(at: int) -> timestamp_pb2.Timestamp:
    """Encode microseconds since 1970."""
    message = timestamp_pb2.Timestamp()
    _set_time(message, at)
    return message


def _set_time(message: timestamp_pb2.Timestamp, at: int) -> None:
    seconds, rest = divmod(at, _MICROS)
    message.seconds = seconds
    message.nanos = rest * 1000


def model(identity: ModelIdentity | None) -> model_pb2.ModelIdentity | None:
    """Encode a model's identity; None stays None, which leaves the field absent."""
    if identity is None:
        return None
    return model_pb2.ModelIdentity(
        name=identity.name,
        revision=identity.revision,
        sha256=identity.sha256,
        dimension=identity.dimension,
        max_tokens=identity.max_tokens,
    )


def stored(answer: Stored) -> pb.StoreMemoryResponse:
    """Encode what storing a memory gave."""
    return pb.StoreMemoryResponse(
        id=answer.id,
        fingerprint_id=answer.id,
        type=_Type(answer.type),
        fact_count=answer.fact_count,
        token_count=answer.token_count,
        model_hash=answer.model_sha256[:_HASH_DIGITS],
        embedding=_embedding(embedded=answer.embedded),
        duplicate=answer.duplicate,
        revision=answer.revision,
        created_at=timestamp(answer.created_at),
        wing=answer.wing,
        room=answer.room,
        version=answer.version,
    )


def timeline_item(item: TimelineItem) -> pb.TimelineItem:
    """Encode a memory in the order of time."""
    return pb.TimelineItem(
        id=item.id,
        timestamp=timestamp(item.at),
        type=_Type(item.type),
        summary=item.summary,
        wing=item.wing,
        room=item.room,
    )


def fetched(found: Fetched, *, whole: bool) -> pb.BatchGetMemoriesResponse:
    """Encode memories by id, whole or without component, metadata, source and path."""
    response = pb.BatchGetMemoriesResponse(missing_ids=found.missing, remaining_ids=found.remaining)
    for memories, into in ((found.memories, response.memories), (found.neighbors, response.neighbors)):
        for one in memories:
            message = into.add(**_plain(one))
            _fill(message, one)
            if whole:
                _fill_details(message, one)
    for passages in found.vectors:
        edges = unpack(f"<{len(passages.spans) // 4}i", passages.spans)
        response.vectors.add(
            memory_id=passages.memory_id,
            starts=edges[::2],
            ends=edges[1::2],
            vectors=passages.vectors,
            dimension=found.dimension,
        )
    return response


def changes(found: Changes, *, with_vectors: bool) -> changes_pb.WatchChangesResponse:
    """Encode a part of the change feed."""
    dimension = found.model.dimension if found.model is not None and with_vectors else 0
    sha256 = "" if found.model is None else found.model.sha256
    return changes_pb.WatchChangesResponse(
        changes=[_change(one, dimension, sha256) for one in found.changes],
        head_revision=found.head,
        model=model(found.model),
        through_revision=found.through,
        store_id=found.store_id,
        reembedding=found.reembedding,
    )


def text_found(found: TextFound) -> search_pb.SearchTextResponse:
    """Encode hits by words and tags."""
    response = search_pb.SearchTextResponse(revision=found.revision)
    # In place, which saves a message and its copy for each.
    for hit in found.hits:
        response.hits.add(memory_id=hit.memory_id, score=hit.score, all_words=hit.all_words)
    for one in found.tag_hits:
        response.tag_hits.add(memory_id=one.memory_id, matches=one.matches)
    return response


def vectors_found(found: VectorsFound) -> search_pb.SearchStoredVectorsResponse:
    """Encode hits by vectors."""
    return search_pb.SearchStoredVectorsResponse(
        hits=[
            search_pb.StoredVectorHit(memory_id=hit.memory_id, score=hit.score, passage=hit.passage)
            for hit in found.hits
        ],
        revision=found.revision,
        model=model(found.model),
    )


def status(found: Status, *, unread: int) -> pb.GetStoreStatusResponse:
    """Encode the store's counts; ``unread`` is how many memories wait for a language model."""
    return pb.GetStoreStatusResponse(
        stats=pb.StoreStats(
            verbatim_count=found.memories,
            fingerprint_count=found.memories,
            embedding_count=found.passages,
            causal_node_count=found.linked_memories,
            causal_edge_count=found.links,
            total_tokens=found.tokens,
            type_counts={kind.name.lower(): number for kind, number in found.by_type.items()},
            active_wings=found.wings,
            archived_count=found.archived,
            pending_embedding_count=found.pending,
            pending_enrichment_count=unread,
            outdated_embedding_count=found.outdated,
        ),
        head_revision=found.head,
        schema_version=found.schema_version,
        database_bytes=found.database_bytes,
        model=model(found.model),
    )


def _change(one: Change, dimension: int, sha256: str) -> changes_pb.Change:
    if one.state is MemoryState.DELETED:
        return changes_pb.Change(
            revision=one.revision,
            kind=changes_pb.CHANGE_KIND_DELETE,
            memory_id=one.memory_id,
            project=one.project,
            state=_State(one.state),
            changed_at=timestamp(one.changed_at),
        )
    return changes_pb.Change(
        revision=one.revision,
        kind=changes_pb.CHANGE_KIND_UPSERT,
        memory_id=one.memory_id,
        project=one.project,
        wing=one.wing,
        room=one.room,
        type=_Type(one.type or 0),
        state=_State(one.state),
        passage_count=one.passage_count,
        vectors=one.vectors,
        dimension=dimension if one.vectors else 0,
        model_sha256=sha256 if one.passage_count else "",
        changed_at=timestamp(one.changed_at),
        effective_at=None if one.effective_at is None else timestamp(one.effective_at),
        session_id=one.session_id,
        tags=one.tags,
    )


def _embedding(*, embedded: bool) -> memory_pb2.EmbeddingState.ValueType:
    return memory_pb2.EMBEDDING_STATE_EMBEDDED if embedded else memory_pb2.EMBEDDING_STATE_PENDING
