"""Records of an import as the store's nouns, each checked on its own so that a bad one fails alone."""

from dataclasses import replace
from typing import Any

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2
from satchel.runtime.errors import InvalidRequest, ServiceError
from satchel.runtime.status import to_rpc_status
from satchel.runtime.validation import violations_of
from satchel.store.engine.importing import Answer, Record
from satchel.store.ids import canonical_id
from satchel.store.model import MemoryState, NewMemory
from satchel.store.servicers import decoding, encoding

_LAST = 2**63 - 1
_COPIED = (
    "content", "wing", "room", "type", "project", "session_id", "title", "summary", "path", "source",
    "sensitivity",
)  # fmt: skip


def decode_record(request: pb.ImportMemoriesRequest) -> Record:
    """Decode one record; a bad one carries its error."""
    try:
        return Record(request.sequence, _content(request))
    except ServiceError as error:
        return Record(request.sequence, error)


def encode_answer(answer: Answer) -> pb.ImportMemoriesResponse:
    """Encode the answer to one record."""
    if isinstance(answer.result, ServiceError):
        return pb.ImportMemoriesResponse(sequence=answer.sequence, error=to_rpc_status(answer.result))
    return pb.ImportMemoriesResponse(sequence=answer.sequence, stored=encoding.stored(answer.result))


def _content(request: pb.ImportMemoriesRequest) -> NewMemory:
    if found := violations_of(request):
        raise InvalidRequest(found)
    match request.WhichOneof("record"):
        case "memory":
            return _exported(request.memory)
        case "new_memory":
            return decoding.new_memory(request.new_memory, "new_memory.")
        case _:
            raise _refused("record", "REQUIRED", "Set 'memory' or 'new_memory'.")


def _exported(memory: memory_pb2.Memory) -> NewMemory:
    """Decode a memory as an export gave it, which was checked under its own limits and not a new one's.

    One that names neither given tags nor a declared type may come from an export without these fields:
    the store then tells them from derived ones by the text, which gives the same where they were empty.
    """
    if (memory_id := canonical_id(memory.id)) is None:
        raise _refused("memory.id", "REQUIRED", "Send the id of the memory, a UUID.")
    if memory.state == memory_pb2.MEMORY_STATE_DELETED:
        raise _refused("memory.state", "OUT_OF_RANGE", "Import active and archived memories only.")
    for name in ("session_order", "version"):
        if getattr(memory, name) == _LAST:
            raise _refused(f"memory.{name}", "OUT_OF_RANGE", f"Send a '{name}' below 2^63 - 1.")
    request = pb.StoreMemoryRequest(
        **{name: getattr(memory, name) for name in _COPIED},
        component=memory.component if memory.HasField("component") else None,
        metadata=memory.metadata if memory.HasField("metadata") else None,
        occurred_at=memory.occurred_at if memory.HasField("occurred_at") else None,
        causal_links=memory.causal_links,
    )
    new = decoding.new_memory(request, "memory.")
    tells_apart = memory.type_declared or bool(memory.given_tags)
    return replace(
        new,
        id=memory_id,
        type=new.type if memory.type_declared or not tells_apart else None,
        tags=tuple(memory.given_tags if tells_apart else memory.tags),
        mixed=not tells_apart,
        links=tuple(
            link._replace(phrase=one.phrase) for link, one in zip(new.links, memory.causal_links, strict=True)
        ),
        created_at=decoding.time(memory, "created_at", "memory."),
        updated_at=decoding.time(memory, "updated_at", "memory."),
        session_order=memory.session_order,
        version=max(memory.version, 1),
        unarchived_at=decoding.time(memory, "unarchived_at", "memory."),
        **_state(memory),
    )


def _state(memory: memory_pb2.Memory) -> dict[str, Any]:
    """Return the state, and of an archived memory when and by which run it was archived."""
    archived_at = decoding.time(memory, "archived_at", "memory.")
    batch = canonical_id(memory.archive_batch_id) or ""
    if memory.archive_batch_id and not batch:
        raise _refused(
            "memory.archive_batch_id", "PATTERN_MISMATCH", "Send the id of a run, a UUID, or none."
        )
    if memory.state != memory_pb2.MEMORY_STATE_ARCHIVED:
        return {"state": MemoryState.ACTIVE}
    return {"state": MemoryState.ARCHIVED, "archived_at": archived_at, "archive_batch": batch}


def _refused(field: str, reason: str, remedy: str) -> InvalidRequest:
    return InvalidRequest.of(
        field,
        f"ERROR_REASON_FIELD_{reason}",
        f"The field '{field}' cannot be imported. {remedy}",
        remedy=remedy,
    )
