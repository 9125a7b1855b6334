"""Sends records to the store over one stream, and tells what became of each.

The stream is bounded: at most `_WINDOW` records wait for their answer. When the connection is lost, what was
not answered is sent again; the store recognises what it has.
"""

import asyncio
import hashlib
import json
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import grpc

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1.memory_pb2 import Memory
from satchel.cli.importing.records import Draft, Exported, Json, Record, Refused, Skipped, Turn
from satchel.gateway.transcoder import codec
from satchel.runtime.errors import MalformedMessage, ServiceError
from satchel.runtime.status import from_rpc_error, from_rpc_status

if TYPE_CHECKING:
    from satchel.api.store.v1.memory_service_pb2_grpc import MemoryServiceAsyncStub

SOURCE = "satchel-import"

_DEFAULT_WING = "general"
_DEFAULT_PROJECT = "default"
_ID_TAKEN = "ERROR_REASON_MEMORY_ID_TAKEN"
_OTHER_TURN = (
    "The store has another text for this turn of this session. If this is another conversation, give its "
    "file another name, or import it with another --wing or --project; if the turn was changed, delete the "
    "memory {memory_id} first."
)
_WINDOW = 512
_RECONNECTS = 5


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the command line says of every record; ``room``, ``type`` and ``tags`` are for new memories."""

    wing: str = ""
    room: str = ""
    type: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one record; ``reason`` and ``message`` say why it failed."""

    label: str
    kind: Literal["stored", "duplicate", "updated", "skipped", "failed"]
    reason: str = ""
    message: str = ""


def _ignore() -> None:
    """Take no notice."""


async def upload(
    memories: "MemoryServiceAsyncStub",
    records: Iterator[Record],
    defaults: Defaults,
    project: str,
    *,
    moved: Callable[[], None] = _ignore,
) -> AsyncIterator[Outcome]:
    """Import records in order and yield an outcome for each, in the order they are known.

    A document that changed since it was imported is updated: its path is taken by the older text. ``moved``
    is called for every record that is sent and every answer.

    Raises:
        grpc.aio.AioRpcError: the store cannot be reached, or was lost again and again.
    """
    job = _Job(records, defaults, project, moved)
    failures = 0
    while True:
        try:
            async for outcome in job.send(memories):
                failures = 0
                yield await _resolve(memories, outcome)
            break
        except grpc.aio.AioRpcError as error:
            failures += 1
            if error.code() is not grpc.StatusCode.UNAVAILABLE or failures > _RECONNECTS:
                raise
    for unsent in job.take_unsent():
        yield unsent


@dataclass(frozen=True, slots=True)
class _Sent:
    """A record on its way; ``request`` is sent again as it is after a lost connection."""

    record: Draft | Exported
    request: pb.ImportMemoriesRequest


@dataclass(frozen=True, slots=True)
class _Answer:
    """A record with the store's answer."""

    sent: _Sent
    outcome: Outcome
    taken_by: str = ""


class _Window:
    """Places for records on their way; nobody waits for one any more once it is closed."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(_WINDOW)
        self._closed = False

    async def take(self) -> bool:
        """Wait for a place; false when the window is closed."""
        await self._places.acquire()
        return not self._closed

    def give_back(self) -> None:
        """Free a place."""
        self._places.release()

    def close(self) -> None:
        """Wake who waits and let nobody take a place."""
        self._closed = True
        self._places.release()


class _Job:
    """The state of an import that outlives a connection."""

    def __init__(
        self, records: Iterator[Record], defaults: Defaults, project: str, moved: Callable[[], None]
    ) -> None:
        self._records = records
        self._moved = moved
        self._defaults = defaults
        self._project = project
        self._sequence = 0
        self._waiting: dict[int, _Sent] = {}
        self._unsent: list[Outcome] = []
        self._error: Exception | None = None

    async def send(self, memories: "MemoryServiceAsyncStub") -> AsyncIterator[_Answer]:
        """Send what waits for an answer and what is left, and yield the answers."""
        window = _Window()
        try:
            async for response in memories.ImportMemories(self._requests(window)):
                self._moved()
                sent = self._waiting.pop(response.sequence)
                window.give_back()
                yield _answer(sent, response)
        finally:
            window.close()  # lets the generator of requests end, which a lost connection leaves waiting
        if self._error is not None:
            raise self._error

    def take_unsent(self) -> list[Outcome]:
        """Return the records that were never sent."""
        return self._unsent

    async def _requests(self, window: "_Window") -> AsyncIterator[pb.ImportMemoriesRequest]:
        again = iter(list(self._waiting.values()))
        while await window.take():
            sent = next(again, None) or self._next()
            self._moved()  # reading the input, such as a slow pipe, is no stall of the store
            if sent is None:
                return
            yield sent.request

    def _next(self) -> _Sent | None:
        # What is raised in here would only cancel the call: it is kept for `send`.
        try:
            for record in self._records:
                sent = self._prepare(record)
                if sent is not None:
                    self._waiting[self._sequence] = sent
                    return sent
        except Exception as error:  # noqa: BLE001  # raised again by send
            self._error = error
        return None

    def _prepare(self, record: Record) -> _Sent | None:
        if isinstance(record, Skipped):
            self._unsent.append(Outcome(record.label, "skipped"))
            return None
        if isinstance(record, Refused):
            self._refuse(record.label, MalformedMessage.reason, record.reason)
            return None
        try:
            request = to_request(record, self._defaults, self._project)
        except ServiceError as error:
            self._refuse(record.label, error.reason, error.message)
            return None
        self._sequence += 1
        request.sequence = self._sequence
        return _Sent(record, request)

    def _refuse(self, label: str, reason: str, message: str) -> None:
        self._unsent.append(Outcome(label, "failed", reason, message))


def to_request(record: Draft | Exported, defaults: Defaults, project: str) -> pb.ImportMemoriesRequest:
    """Make the request of a record; the sequence is for the caller to set.

    Raises:
        InvalidRequest: the record has a field that the contract does not know, or a wrong value.
    """
    if isinstance(record, Draft):
        return _of_draft(record, defaults, project)
    fields = dict(record.fields)
    if defaults.wing:
        fields["wing"] = defaults.wing
    if project:
        fields["project"] = project
    fields.setdefault("wing", _DEFAULT_WING)
    if "id" in fields:
        return pb.ImportMemoriesRequest(memory=codec.decode(Memory, fields))
    return pb.ImportMemoriesRequest(new_memory=codec.decode(pb.StoreMemoryRequest, fields))


def turn_id(project: str, wing: str, session: str, turn: Turn) -> str:
    """Return the id of a turn's memory: a UUID of version 8 (RFC 9562) of the SHA-256 of where it was said.

    The same turn has the same id in every import, and two turns of the same words have two.
    """
    place = json.dumps([project or _DEFAULT_PROJECT, wing, session, turn.number, turn.part])
    digest = int.from_bytes(hashlib.sha256(place.encode()).digest()[:16], "big")
    versioned = digest & ~(0xF << 76) & ~(0b11 << 62) | 8 << 76 | 0b10 << 62
    return str(uuid.UUID(int=versioned))


def _of_draft(draft: Draft, defaults: Defaults, project: str) -> pb.ImportMemoriesRequest:
    fields: dict[str, Json] = {
        "content": draft.content,
        "wing": defaults.wing or draft.wing or _DEFAULT_WING,
        "room": defaults.room,
        "project": project,
        "title": draft.title,
        "path": draft.path,
        "session_id": draft.session_id,
        "source": SOURCE,
        "type": defaults.type,
        "tags": list(defaults.tags),
        "metadata": dict(draft.metadata),
    }
    if draft.occurred_at is not None:
        fields["occurred_at"] = draft.occurred_at.isoformat()
    given: dict[str, Json] = {key: value for key, value in fields.items() if value}
    if draft.turn is None:
        return pb.ImportMemoriesRequest(new_memory=codec.decode(pb.StoreMemoryRequest, _as_json(given)))
    given["id"] = turn_id(project, str(given["wing"]), draft.session_id, draft.turn)
    given["session_order"] = draft.turn.order
    given["given_tags"] = list(defaults.tags)
    given["type_declared"] = bool(defaults.type)
    return pb.ImportMemoriesRequest(memory=codec.decode(Memory, _as_json(given)))


def _as_json(fields: Mapping[str, Json]) -> codec.Json:
    return dict(fields)


def _answer(sent: _Sent, response: pb.ImportMemoriesResponse) -> _Answer:
    label = sent.record.label
    if response.WhichOneof("result") == "stored":
        return _Answer(sent, Outcome(label, "duplicate" if response.stored.duplicate else "stored"))
    error = from_rpc_status(response.error)
    if error is None:
        return _Answer(sent, Outcome(label, "failed", "ERROR_REASON_INTERNAL", response.error.message))
    if error.reason == _ID_TAKEN and isinstance(sent.record, Draft):
        message = _OTHER_TURN.format(memory_id=sent.request.memory.id)
        return _Answer(sent, Outcome(label, "failed", error.reason, message))
    taken = error.metadata.get("memory_id", "") if error.reason == "ERROR_REASON_PATH_TAKEN" else ""
    return _Answer(sent, Outcome(label, "failed", error.reason, error.message), taken)


async def _resolve(memories: "MemoryServiceAsyncStub", answer: _Answer) -> Outcome:
    """Update the older text of a document, if an import stored it; anything else stays as it is."""
    record = answer.sent.record
    if not answer.taken_by or not isinstance(record, Draft):
        return answer.outcome
    try:
        return await _replace(memories, answer, record)
    except grpc.aio.AioRpcError as error:
        found = from_rpc_error(error)  # such as of a memory that somebody else changes at the same time
        return Outcome(record.label, "failed", found.reason, found.message)


async def _replace(memories: "MemoryServiceAsyncStub", answer: _Answer, record: Draft) -> Outcome:
    old = (await memories.GetMemory(pb.GetMemoryRequest(id=answer.taken_by))).memory
    new = answer.sent.request.new_memory
    if old.source != SOURCE or old.wing != new.wing:
        return answer.outcome
    if (old.content, old.title) == (new.content, new.title):
        return Outcome(record.label, "duplicate")
    change = pb.UpdateMemoryRequest(
        id=old.id, content=new.content, title=new.title, metadata=new.metadata, expected_version=old.version
    )
    await memories.UpdateMemory(change)
    return Outcome(record.label, "updated")
