"""What an export and a listing may see, and what binds a page token to its listing."""

from google.protobuf.message import Message

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.runtime.errors import InvalidRequest
from satchel.store.model import MemoryState
from satchel.store.scope import Scope
from satchel.store.servicers.decoding import DEFAULT_PROJECT, memory_type, tag_keys, time

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


def timeline_scope(request: pb.ListTimelineRequest) -> Scope:
    """Decode which memories to put in the order of time."""
    kind = memory_type(request.type)
    return Scope(
        project=request.project or DEFAULT_PROJECT,
        wings=_one(request.wing),
        rooms=_one(request.room),
        types=() if kind is None else (kind,),
        since=time(request, "since", ""),
        until=time(request, "until", ""),
    )


def page_size(asked: int) -> int:
    """Return how many memories go on a page; 0 asks for as many as is usual."""
    return min(asked or _DEFAULT_PAGE, _LARGEST_PAGE)


def arguments(request: Message, token: str = "page_token") -> bytes:  # noqa: S107  # the name of a field
    """Return the bytes that say which listing it is: every field but the token."""
    bare = type(request)()
    bare.CopyFrom(request)
    bare.ClearField(token)
    return bare.SerializeToString(deterministic=True)


def _one(value: str) -> tuple[str, ...]:
    return (value,) if value else ()
