"""Records of an import as the store's nouns, each checked on its own so that a bad one fails alone."""

from dataclasses import replace

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2
from satchel.runtime.errors import InvalidRequest, ServiceError, Violation
from satchel.runtime.status import to_rpc_status
from satchel.runtime.validation import violations_of
from satchel.store.engine.importing import Answer, Record
from satchel.store.ids import canonical_id
from satchel.store.model import MemoryState, NewMemory
from satchel.store.servicers import decoding, encoding

_LAST = 2**63 - 1
_LONGEST_TAG = 1000
_MOST_TAGS = 1000
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
    match request.WhichOneof("record"):
        case "memory":
            return _exported(request.memory)
        case "new_memory":
            _check(request.new_memory, "new_memory.")
            return decoding.new_memory(request.new_memory, "new_memory.")
        case _:
            raise _refused("record", "REQUIRED", "Set 'memory' or 'new_memory'.")


def _exported(memory: memory_pb2.Memory) -> NewMemory:
    """Decode a memory as an export gave it, under the limits of a new one.

    One that names neither given tags nor a declared type may come from an export without these fields:
    the store then tells them from derived ones by the text, which gives the same where they were empty.
    """
    request = pb.StoreMemoryRequest(
        **{name: getattr(memory, name) for name in _COPIED},
        component=memory.component if memory.HasField("component") else None,
        metadata=memory.metadata if memory.HasField("metadata") else None,
        occurred_at=memory.occurred_at if memory.HasField("occurred_at") else None,
        causal_links=memory.causal_links,
    )
    _check(request, "memory.")
    if (memory_id := canonical_id(memory.id)) is None:
        raise _refused("memory.id", "PATTERN_MISMATCH", "Send the id of the memory, a UUID.")
    if memory.state == memory_pb2.MEMORY_STATE_DELETED:
        raise _refused("memory.state", "OUT_OF_RANGE", "Import active and archived memories only.")
    for name in ("session_order", "version"):
        if not 0 <= getattr(memory, name) < _LAST:
            raise _refused(f"memory.{name}", "OUT_OF_RANGE", f"Send a '{name}' of 0 or more.")
    new = decoding.new_memory(request, "memory.")
    tells_apart = memory.type_declared or bool(memory.given_tags)
    return replace(
        new,
        id=memory_id,
        type=new.type if memory.type_declared or not tells_apart else None,
        tags=_tags(memory, "given_tags" if tells_apart else "tags"),
        mixed=not tells_apart,
        created_at=decoding.time(memory, "created_at", "memory."),
        updated_at=decoding.time(memory, "updated_at", "memory."),
        session_order=memory.session_order,
        version=max(memory.version, 1),
        state=MemoryState(memory.state) if memory.state else MemoryState.ACTIVE,
    )


def _tags(memory: memory_pb2.Memory, name: str) -> tuple[str, ...]:
    """Return the tags of a field: more than a new memory may give, but each as short."""
    tags = tuple(getattr(memory, name))
    for place, tag in enumerate(tags):
        if len(tag) > _LONGEST_TAG or "\0" in tag:
            raise _refused(
                f"memory.{name}[{place}]", "TOO_LONG", f"Send tags of at most {_LONGEST_TAG} code points."
            )
    if len(tags) > _MOST_TAGS:
        raise _refused(f"memory.{name}", "TOO_LONG", f"Send at most {_MOST_TAGS} tags.")
    return tags


def _check(request: pb.StoreMemoryRequest, prefix: str) -> None:
    """Refuse what `StoreMemory` would refuse, with the field's path in the record."""
    if found := violations_of(request):
        raise InvalidRequest(
            [
                Violation(
                    prefix + one.field,
                    one.reason,
                    one.description.replace(f"'{one.field}'", f"'{prefix}{one.field}'"),
                    one.limit,
                    one.remedy,
                )
                for one in found
            ]
        )


def _refused(field: str, reason: str, remedy: str) -> InvalidRequest:
    return InvalidRequest.of(
        field,
        f"ERROR_REASON_FIELD_{reason}",
        f"The field '{field}' cannot be imported. {remedy}",
        remedy=remedy,
    )
