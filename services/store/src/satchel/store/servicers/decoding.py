"""The contract's messages as the store's nouns; refuses what no field option can say."""

import hashlib
import json
from collections.abc import Mapping

from google.protobuf import json_format, struct_pb2, timestamp_pb2
from google.protobuf.message import Message

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2, scope_pb2
from satchel.runtime.errors import InvalidRequest, Violation
from satchel.runtime.folding import fold
from satchel.runtime.value_checks import EARLIEST_SECONDS, LATEST_SECONDS, NANOS_PER_SECOND
from satchel.store.engine.writing import Update
from satchel.store.errors import UpdateMaskInvalid
from satchel.store.ids import canonical_id
from satchel.store.model import (
    Component,
    Link,
    MemoryState,
    MemoryType,
    NewMemory,
    Relation,
    RequestKey,
    Sensitivity,
)
from satchel.store.preparing import check_core
from satchel.store.scope import Scope

DEFAULT_PROJECT = "default"
_METADATA_BYTES = 65_536  # as JSON; as the contract says of `metadata`
UPDATABLE = (
    "content", "wing", "room", "type", "tags", "metadata", "title", "summary", "path", "component", "source",
    "sensitivity", "occurred_at",
)  # fmt: skip
_NEVER_EMPTY = frozenset({"content", "wing"})


def new_memory(request: pb.StoreMemoryRequest, prefix: str = "") -> NewMemory:
    """Decode a memory to store; ``prefix`` is the message's path in the request, such as ``memories[2].``.

    Raises:
        InvalidRequest: what no field option says is broken, such as the limit of a core block.
    """
    fields = component(request.component)
    check_core(content=request.content, component=fields, prefix=prefix)
    return NewMemory(
        content=request.content,
        wing=request.wing,
        room=request.room,
        type=memory_type(request.type),
        metadata=_metadata(request, prefix),
        project=request.project or DEFAULT_PROJECT,
        session_id=request.session_id,
        occurred_at=time(request, "occurred_at", prefix),
        tags=tuple(request.tags),
        title=request.title,
        summary=request.summary,
        path=request.path,
        component=fields,
        source=request.source,
        sensitivity=sensitivity(request.sensitivity),
        links=_links(request, prefix),
    )


def memory_type(number: int) -> MemoryType | None:
    """Return the type, or None where it is to be inferred."""
    return MemoryType(number) if number else None


def sensitivity(number: int) -> Sensitivity:
    """Return the sensitivity; low where none is given."""
    return Sensitivity(number) if number else Sensitivity.LOW


def component(message: memory_pb2.Component) -> Component | None:
    """Return the typed fields that are set, in the order of the contract; None for no component."""
    kind = message.WhichOneof("kind")
    if kind is None:
        return None
    fields: dict[str, str | int | tuple[str, ...]] = {}
    for field, value in getattr(message, kind).ListFields():
        fields[field.name] = tuple(value) if field.is_repeated else value
    return Component(kind, fields)


def json_text(message: struct_pb2.Struct) -> str:
    """Return an object as JSON with sorted keys; empty for an empty one."""
    if not message.fields:
        return ""
    return json.dumps(
        json_format.MessageToDict(message), ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )


def micros(message: timestamp_pb2.Timestamp, field: str) -> int:
    """Return a time in microseconds; finer parts are cut.

    Raises:
        InvalidRequest: the time lies outside the years 1 to 9999.
    """
    is_known = EARLIEST_SECONDS <= message.seconds <= LATEST_SECONDS
    if not (is_known and 0 <= message.nanos < NANOS_PER_SECOND):
        raise InvalidRequest.of(
            field,
            "ERROR_REASON_FIELD_OUT_OF_RANGE",
            f"The field '{field}' must lie in the years 1 to 9999.",
            limit="0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z",
            remedy="Send a time of those years in UTC.",
        )
    return message.seconds * 1_000_000 + message.nanos // 1000


def scope(message: scope_pb2.MemoryFilter, prefix: str = "filter.") -> Scope:
    """Decode what a search may see."""
    return Scope(
        project=message.project or DEFAULT_PROJECT,
        wings=tuple(message.wings),
        rooms=tuple(message.rooms),
        types=tuple(MemoryType(number) for number in message.types if number),
        states=tuple(MemoryState(number) for number in message.states if number) or (MemoryState.ACTIVE,),
        session_ids=tuple(message.session_ids),
        tags=tag_keys(tuple(message.tags)),
        since=time(message, "since", prefix),
        until=time(message, "until", prefix),
    )


def tag_keys(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return tags as they are compared."""
    return tuple(fold(" ".join(tag.split())) for tag in tags)


def memory_id(text: str) -> str:
    """Return a memory's id without prefix and in lower case; the contract's check has seen it."""
    return canonical_id(text) or text


def request_key(request: Message, request_id: str) -> RequestKey | None:
    """Return what tells a retry from another request; None without a request id."""
    if not request_id:
        return None
    digest = hashlib.sha256(
        request.DESCRIPTOR.full_name.encode() + b"\0" + request.SerializeToString(deterministic=True)
    )
    return RequestKey(request_id.lower(), digest.digest())


def update(request: pb.UpdateMemoryRequest) -> Update:
    """Decode an update: the fields of the mask, or without one the fields that are set.

    Raises:
        UpdateMaskInvalid: the mask names what cannot be updated.
        InvalidRequest: the mask would clear the text or the wing.
    """
    named = tuple(dict.fromkeys(request.update_mask.paths))
    for path in named:
        if path not in UPDATABLE:
            raise UpdateMaskInvalid(path=path, known=UPDATABLE)
    wanted = named or tuple(name for name in UPDATABLE if _is_set(request, name))
    for name in wanted:
        if name in _NEVER_EMPTY and not getattr(request, name):
            raise _required(name, f"The field '{name}' cannot be cleared.")
    values = _values(request)
    return Update(
        id=memory_id(request.id),
        project=request.project,
        fields={name: values[name] for name in wanted},
        expected_version=request.expected_version,
    )


def _values(request: pb.UpdateMemoryRequest) -> Mapping[str, object]:
    """Return every field that can be updated under its name in `NewMemory`."""
    return {
        "content": request.content,
        "wing": request.wing,
        "room": request.room,
        "type": memory_type(request.type),
        "tags": tuple(sorted({" ".join(tag.lower().split()) for tag in request.tags})),
        "metadata": json_text(request.metadata),
        "title": request.title,
        "summary": request.summary,
        "path": request.path,
        "component": component(request.component),
        "source": request.source,
        "sensitivity": sensitivity(request.sensitivity),
        "occurred_at": time(request, "occurred_at", ""),
    }


def _is_set(request: Message, name: str) -> bool:
    field = request.DESCRIPTOR.fields_by_name[name]
    return request.HasField(name) if field.has_presence else bool(getattr(request, name))


def time(message: Message, name: str, prefix: str) -> int | None:
    """Return a time that may be absent, in microseconds; ``prefix`` is the path of the message."""
    return micros(getattr(message, name), prefix + name) if message.HasField(name) else None


def _metadata(request: pb.StoreMemoryRequest, prefix: str) -> str:
    """Return the metadata with the metrics as JSON; together they have the limit of the metadata alone."""
    if not request.HasField("metrics"):
        return json_text(request.metadata)
    merged = struct_pb2.Struct()
    merged.CopyFrom(request.metadata)
    merged.fields["metrics"].struct_value.CopyFrom(request.metrics)
    text = json_text(merged)
    if (size := len(text.encode("utf-8", "replace"))) > _METADATA_BYTES:
        raise _metadata_too_long(prefix + "metadata", size)
    return text


def _metadata_too_long(field: str, size: int) -> InvalidRequest:
    remedy = "Shorten 'metadata' or 'metrics'."
    text = f"The field '{field}' has {size} bytes as JSON with 'metrics'; at most {_METADATA_BYTES} are kept."
    return InvalidRequest(
        [
            Violation(
                field,
                "ERROR_REASON_FIELD_TOO_LONG",
                f"{text} {remedy}",
                limit=str(_METADATA_BYTES),
                remedy=remedy,
                actual=str(size),
            )
        ]
    )


def _links(request: pb.StoreMemoryRequest, prefix: str) -> tuple[Link, ...]:
    links = []
    for place, link in enumerate(request.causal_links):
        for name in ("memory_id", "relation"):
            if not getattr(link, name):
                field = f"{prefix}causal_links[{place}].{name}"
                raise _required(field, f"The field '{field}' is required.")
        links.append(Link(memory_id(link.memory_id), Relation(link.relation), link.outgoing))
    return tuple(links)


def _required(field: str, description: str) -> InvalidRequest:
    remedy = f"Set '{field}'."
    return InvalidRequest.of(
        field, "ERROR_REASON_FIELD_REQUIRED", f"{description} {remedy}", limit="required", remedy=remedy
    )
