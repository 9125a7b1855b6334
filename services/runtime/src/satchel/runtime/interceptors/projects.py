"""Provides the bounds of a key that is limited to projects: its calls name one of them, and nothing else.

The project stands in every request that reaches memories, so it is checked there, before any service looks
at the request. What names no project is refused, unless it can reach no memory: a new RPC is closed to such
keys until somebody thinks about it.
"""

from collections.abc import AsyncIterable, AsyncIterator, Iterator
from functools import cache
from typing import Any, cast

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from satchel.runtime.errors import PermissionDenied
from satchel.runtime.keys import Principal
from satchel.runtime.methods import Method

PROJECT = "project"
_ALL_PROJECTS = "all_projects"
# These hold no memories, or only those that the caller sends along.
_WITHOUT_MEMORIES = (
    "/satchel.api.embedder.",
    "/satchel.api.index.v1.IndexService/GetIndexStatus",
    "/satchel.api.allocator.v1.AllocatorService/Allocate",
    "/grpc.reflection.",
)


def confined(request: Any, principal: Principal, method: Method) -> Any:  # noqa: ANN401  # a message or a stream
    """Return the request, within the projects of the caller; a stream of them is checked as it is read.

    Where neither a request nor its metadata names a project, that of a key with a single one stands in.

    Raises:
        PermissionDenied: it reaches further.
    """
    if not principal.projects or method.path.startswith(_WITHOUT_MEMORIES):
        return request
    if isinstance(request, Message):
        _confine(request, principal, method)
        return request
    return _confined_stream(request, principal, method)


async def _confined_stream(
    requests: AsyncIterable[Message], principal: Principal, method: Method
) -> AsyncIterator[Message]:
    async for request in requests:
        _confine(request, principal, method)
        yield request


def _confine(request: Message, principal: Principal, method: Method) -> None:
    if not names_project(_descriptor(request)):
        raise _refused(method, principal)
    for holder in holders(request):
        if wants_all(holder):
            raise _refused(method, principal)
        named = getattr(holder, PROJECT)
        if not named and len(principal.projects) == 1:
            setattr(holder, PROJECT, next(iter(principal.projects)))
        elif named not in principal.projects:
            raise _refused(method, principal)


def holders(message: Message) -> Iterator[Message]:
    """Yield the message and those in it that have a project, set or not; of a oneof only what is set."""
    descriptor = _descriptor(message)
    if PROJECT in descriptor.fields_by_name:
        yield message
    for field in descriptor.fields:
        if field.message_type is None or not names_project(field.message_type):
            continue
        inner = getattr(message, field.name)
        if field.is_repeated:
            for item in inner:
                yield from holders(item)
        elif field.containing_oneof is None or message.HasField(field.name):
            yield from holders(inner)


def wants_all(holder: Message) -> bool:
    """Say whether the message asks for every project, and so names none on purpose."""
    return bool(getattr(holder, _ALL_PROJECTS, False))


@cache
def names_project(descriptor: Descriptor) -> bool:
    """Say whether a message, or one in it at any depth, has a project."""
    seen: set[str] = set()
    waiting = [descriptor]
    while waiting:
        current = waiting.pop()
        if PROJECT in current.fields_by_name:
            return True
        seen.add(current.full_name)
        inner = (field.message_type for field in current.fields if field.message_type is not None)
        waiting += [one for one in inner if one.full_name not in seen]
    return False


def _descriptor(message: Message) -> Descriptor:
    return cast("Descriptor", message.DESCRIPTOR)


def _refused(method: Method, principal: Principal) -> PermissionDenied:
    names = ", ".join(f"'{name}'" for name in sorted(principal.projects))
    return PermissionDenied(
        f"The key is limited to the project {names}. Name it in the request, or call {method.label} with "
        "another key.",
        needed=f"project {names}",
    )
