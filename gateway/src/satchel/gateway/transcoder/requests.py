"""JSON members to the request of an RPC: a message, and what a JSON door leaves unsaid."""

from functools import cache
from typing import Any, TypeVar, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from satchel.gateway.transcoder.decoding import decode
from satchel.gateway.transcoder.json_text import Json

_MASK = "update_mask"
# Fields that say which memory, and how, but never what is to be changed.
_ABOUT_THE_REQUEST = frozenset({_MASK, "id", "project", "request_id", "expected_version"})

M = TypeVar("M", bound=Message)


def decode_request(message_type: type[M], members: Json) -> M:
    """Make a request of a JSON object.

    Where an RPC takes an ``update_mask`` and the object has none, the mask names the members that are there:
    an empty text or list is there as well, and clears its field.

    Raises:
        InvalidRequest: lists faults, in the order of the members.
        MalformedJson: the object nests deeper than a message can hold.
    """
    message = decode(message_type, members)
    names = updatable(cast("Descriptor", message.DESCRIPTOR))
    if names and isinstance(members, dict):
        mask = cast("Any", message).update_mask
        if not mask.paths:
            mask.paths.extend(name for name in names if members.get(name) is not None)
    return message


@cache
def updatable(descriptor: Descriptor) -> tuple[str, ...]:
    """Return the fields that the ``update_mask`` of a request may name; empty for one without a mask."""
    mask = descriptor.fields_by_name.get(_MASK)
    if mask is None or not _is_mask(mask):
        return ()
    return tuple(field.name for field in descriptor.fields if field.name not in _ABOUT_THE_REQUEST)


def _is_mask(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.full_name == "google.protobuf.FieldMask"
