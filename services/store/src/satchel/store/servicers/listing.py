"""What an export and a listing may see, and what binds a page token to its listing."""

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.runtime.errors import InvalidRequest
from satchel.store.model import MemoryState
from satchel.store.scope import Scope
from satchel.store.servicers.decoding import DEFAULT_PROJECT, memory_type, tag_keys

_DEFAULT_PAGE = 100
_LARGEST_PAGE = 1000


def export_scope(request: pb.ExportMemoriesRequest) -> Scope:
    """Decode which memories to export.

    Raises:
        InvalidRequest: a project is named beside ``all_projects``.
    """
    if request.all_projects and request.project:
        remedy = "Leave out 'project' or 'all_projects'."
        raise InvalidRequest.of(
            "project",
            "ERROR_REASON_FIELDS_CONFLICT",
            f"The field 'project' names one project while 'all_projects' asks for every one. {remedy}",
            limit="empty with 'all_projects'",
            remedy=remedy,
        )
    states = tuple(MemoryState(number) for number in request.states if number)
    return Scope(
        project="" if request.all_projects else request.project or DEFAULT_PROJECT,
        wings=_one(request.wing),
        rooms=_one(request.room),
        states=states or (MemoryState.ACTIVE, MemoryState.ARCHIVED),
    )


def list_scope(request: pb.ListMemoriesRequest) -> Scope:
    """Decode which memories to list."""
    kind = memory_type(request.type)
    return Scope(
        project=request.project or DEFAULT_PROJECT,
        wings=_one(request.wing),
        rooms=_one(request.room),
        types=() if kind is None else (kind,),
        states=(MemoryState(request.state) if request.state else MemoryState.ACTIVE,),
        session_ids=_one(request.session_id),
        tags=tag_keys(_one(request.tag)),
    )


def page_size(request: pb.ListMemoriesRequest) -> int:
    """Return how many memories go on a page."""
    return min(request.page_size or _DEFAULT_PAGE, _LARGEST_PAGE)


def arguments(request: pb.ListMemoriesRequest) -> bytes:
    """Return the bytes that say which listing it is: every field but the token."""
    bare = pb.ListMemoriesRequest()
    bare.CopyFrom(request)
    bare.ClearField("page_token")
    return bare.SerializeToString(deterministic=True)


def _one(value: str) -> tuple[str, ...]:
    return (value,) if value else ()
