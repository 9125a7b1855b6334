"""The messages of `LifecycleService` as the store's nouns and back; refuses what no field option can say."""

from satchel.api.store.v1 import lifecycle_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2
from satchel.runtime.errors import InvalidRequest
from satchel.store.engine.archiving import Archived
from satchel.store.lifecycle import Moved, Version
from satchel.store.model import MemoryState, MemoryType
from satchel.store.scope import Scope
from satchel.store.servicers import encoding
from satchel.store.servicers.decoding import DEFAULT_PROJECT, memory_id, tag_keys

_WHOLE_PROJECT = (pb.CLEAR_MODE_GLOBAL, pb.CLEAR_MODE_ALL)


def archive_scope(request: pb.ArchiveMemoriesRequest) -> Scope:
    """Decode where to archive by age; with ids the project alone, which may be empty for any.

    Raises:
        InvalidRequest: a wing or a room is named beside ids.
    """
    if request.ids:
        _refuse(request.wing, "wing", "'ids'")
        _refuse(request.room, "room", "'ids'")
    return Scope(
        project=request.project or ("" if request.ids else DEFAULT_PROJECT),
        wings=_one(request.wing),
        rooms=_one(request.room),
    )


def ids_of(request: pb.ArchiveMemoriesRequest | pb.UnarchiveMemoriesRequest) -> tuple[str, ...]:
    """Decode the ids."""
    return tuple(map(memory_id, request.ids))


def batch_of(request: pb.UnarchiveMemoriesRequest) -> str:
    """Decode the id of a batch; empty where memories are named.

    Raises:
        InvalidRequest: both are named, or nothing is.
    """
    if request.ids:
        _refuse(request.batch_id, "batch_id", "'ids'")
    elif not request.batch_id:
        remedy = "Set 'batch_id' or 'ids'."
        raise InvalidRequest.of(
            "batch_id",
            "ERROR_REASON_FIELD_REQUIRED",
            f"The field 'batch_id' is required where 'ids' is empty. {remedy}",
            limit="required without 'ids'",
            remedy=remedy,
        )
    return request.batch_id.lower()


def clear_scope(request: pb.ClearMemoriesRequest) -> Scope:
    """Decode what to clear, archived memories included.

    Raises:
        InvalidRequest: the wing is missing, or a wing or a room is named that the mode does not take.
    """
    mode = f"the mode '{pb.ClearMode.Name(request.mode).removeprefix('CLEAR_MODE_').lower()}'"
    if request.mode in _WHOLE_PROJECT:
        _refuse(request.wing, "wing", mode)
    elif not request.wing:
        remedy = "Set 'wing', or clear the whole project with the mode 'global'."
        raise InvalidRequest.of(
            "wing",
            "ERROR_REASON_FIELD_REQUIRED",
            f"The field 'wing' is required with {mode}. {remedy}",
            limit=f"required with {mode}",
            remedy=remedy,
        )
    if request.mode != pb.CLEAR_MODE_ROOM:
        _refuse(request.room, "room", mode)
    return Scope(
        project=request.project or DEFAULT_PROJECT,
        wings=_one(request.wing),
        rooms=_one(request.room),
        states=(MemoryState.ACTIVE, MemoryState.ARCHIVED),
        tags=tag_keys(tuple(request.tags)),
    )


def archived(found: Archived) -> pb.ArchiveMemoriesResponse:
    """Encode what was archived, or would be."""
    moved = found.moved
    return pb.ArchiveMemoriesResponse(
        batch_id=found.batch,
        result=pb.ArchiveResult(
            session_notes=moved.count_of(MemoryType.SESSION_NOTE),
            debug_logs=moved.count_of(MemoryType.DEBUG_LOG),
            tokens_freed=moved.tokens,
        ),
        archived_ids=moved.ids,
        archived_count=moved.count,
        revision=moved.revision,
    )


def unarchived(moved: Moved) -> pb.UnarchiveMemoriesResponse:
    """Encode what was brought back."""
    return pb.UnarchiveMemoriesResponse(
        unarchived_count=moved.count, unarchived_ids=moved.ids, revision=moved.revision
    )


def version(one: Version) -> pb.MemoryVersion:
    """Encode a version."""
    replaced_at = None if one.replaced_at is None else encoding.timestamp(one.replaced_at)
    memory: memory_pb2.Memory = encoding.memory(one.memory)
    return pb.MemoryVersion(version=one.memory.version, replaced_at=replaced_at, memory=memory)


def _refuse(value: str, field: str, what: str) -> None:
    """Refuse a field that contradicts another."""
    if value:
        remedy = f"Leave out '{field}' or {what}."
        raise InvalidRequest.of(
            field,
            "ERROR_REASON_FIELDS_CONFLICT",
            f"The field '{field}' must be empty with {what}. {remedy}",
            limit=f"empty with {what}",
            remedy=remedy,
        )


def _one(value: str) -> tuple[str, ...]:
    return (value,) if value else ()
