"""Turns the contracts' messages into the index's nouns, and back."""

from google.protobuf.timestamp_pb2 import Timestamp

from satchel.api.store.v1 import change_service_pb2
from satchel.api.types.v1 import memory_pb2, model_pb2, scope_pb2
from satchel.index.model import DELETED, Change, Filter, Model
from satchel.index.vectors import unpack_changed_rows
from satchel.runtime.folding import fold

_MICROSECONDS = 1_000_000
_DEFAULT_PROJECT = "default"


def decode_model(message: model_pb2.ModelIdentity) -> Model | None:
    """Return the model, or `None` if the message names none."""
    if not message.sha256 or not message.dimension:
        return None
    return Model(message.sha256, message.dimension, message.name, message.revision, message.max_tokens)


def encode_model(model: Model | None) -> model_pb2.ModelIdentity | None:
    """Return the message of a model; `None` leaves the field absent."""
    if model is None:
        return None
    return model_pb2.ModelIdentity(
        name=model.name,
        revision=model.revision,
        sha256=model.sha256,
        dimension=model.dimension,
        max_tokens=model.max_tokens,
    )


def decode_change(message: change_service_pb2.Change, field: str) -> Change:
    """Return the change; ``field`` is its path in the request, for errors.

    Raises:
        VectorMalformed: the vectors are not whole, finite rows of unit norm.
        DimensionMismatch: there are not as many rows as passages.
    """
    is_gone = message.kind == change_service_pb2.CHANGE_KIND_DELETE or message.state == DELETED
    return Change(
        revision=message.revision,
        memory_id=message.memory_id,
        deleted=is_gone,
        project=message.project or _DEFAULT_PROJECT,
        wing=message.wing,
        room=message.room,
        type=message.type,
        state=message.state or memory_pb2.MEMORY_STATE_ACTIVE,
        vectors=None
        if is_gone
        else unpack_changed_rows(
            message.vectors,
            dimension=message.dimension,
            count=message.passage_count,
            field=f"{field}.vectors",
        ),
        model_sha256=message.model_sha256,
        effective_us=_microseconds(message.effective_at),
        session_id=message.session_id,
        tags=tuple(message.tags),
    )


def decode_filter(message: scope_pb2.MemoryFilter) -> Filter:
    """Return the filter; an empty project is ``default``."""
    return Filter(
        project=message.project or _DEFAULT_PROJECT,
        wings=tuple(message.wings),
        rooms=tuple(message.rooms),
        types=tuple(message.types),
        states=tuple(message.states),
        session_ids=tuple(message.session_ids),
        tags=tuple(sorted({fold(tag) for tag in message.tags})),
        since_us=_microseconds(message.since) if message.HasField("since") else None,
        until_us=_microseconds(message.until) if message.HasField("until") else None,
    )


def encode_filter(wanted: Filter) -> scope_pb2.MemoryFilter:
    """Return the message of a filter."""
    return scope_pb2.MemoryFilter(
        project=wanted.project,
        wings=wanted.wings,
        rooms=wanted.rooms,
        types=[memory_pb2.MemoryType.ValueType(number) for number in wanted.types],
        states=[memory_pb2.MemoryState.ValueType(number) for number in wanted.states],
        session_ids=wanted.session_ids,
        tags=wanted.tags,
        since=_timestamp(wanted.since_us),
        until=_timestamp(wanted.until_us),
    )


def _microseconds(time: Timestamp) -> int:
    return time.seconds * _MICROSECONDS + time.nanos // 1_000


def _timestamp(microseconds: int | None) -> Timestamp | None:
    if microseconds is None:
        return None
    seconds, rest = divmod(microseconds, _MICROSECONDS)
    return Timestamp(seconds=seconds, nanos=rest * 1_000)
