"""What the commands store, get and delete do."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence

import grpc

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1.memory_pb2 import EMBEDDING_STATE_PENDING, Memory
from satchel.cli.asking import require_agreement
from satchel.cli.exits import CommandError, Exit
from satchel.cli.output import tell, write_json, write_line, write_text
from satchel.cli.place import Place, Show
from satchel.cli.session import request, run
from satchel.gateway.clients import Clients
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.transcoder import codec
from satchel.runtime.errors import InvalidRequest
from satchel.runtime.validation import validate

_VECTORS_WITHIN_S = 30.0
_PAUSE_S = 0.1


def read_argument(text: str) -> str:
    """Return the argument itself, or all of stdin (as UTF-8) for ``-``."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise CommandError("The text on stdin is not UTF-8.", Exit.USAGE) from exc


def store(place: Place, show: Show, text: str, fields: Mapping[str, object]) -> None:
    """Store a memory and print its id."""
    check_metadata(str(fields.get("metadata") or ""))
    message = request(pb.StoreMemoryRequest, content=read_argument(text), project=place.project, **fields)

    async def work(clients: Clients) -> pb.StoreMemoryResponse:
        answer = await clients.memory.StoreMemory(message)
        return await _with_vectors(clients, answer, place.project) if _runs_alone(place) else answer

    stored = run(place, show, "store", work)
    if show.as_json:
        write_json(codec.encode(stored))
        return
    write_line(stored.id)
    what = codec.encode(stored)
    verb = "Already stored" if stored.duplicate else "Stored"
    pending = "; its vectors follow" if what["embedding"] == "pending" else ""
    tell(f"{verb}: {what['type']} in {stored.wing}/{stored.room}, {stored.token_count} tokens{pending}.")


def _runs_alone(place: Place) -> bool:
    """Tell whether the services run in this process and end with it."""
    owner = None if place.url else DataFolder(place.data_dir).owner()
    return owner is not None and owner.pid == os.getpid()


async def _with_vectors(
    clients: Clients, stored: pb.StoreMemoryResponse, project: str
) -> pb.StoreMemoryResponse:
    """Wait a while for the vectors of a long text: when this process ends, nobody may make them."""
    until = time.monotonic() + _VECTORS_WITHIN_S
    while stored.embedding == EMBEDDING_STATE_PENDING and time.monotonic() < until:
        await asyncio.sleep(_PAUSE_S)
        try:
            answer = await clients.memory.GetMemory(pb.GetMemoryRequest(id=stored.id, project=project))
        except grpc.aio.AioRpcError:
            break  # it is stored all the same
        stored.embedding = answer.memory.embedding
    return stored


def check_metadata(text: str) -> None:
    """Refuse metadata that is no JSON; what JSON it may be is for the contract to say.

    Raises:
        InvalidRequest: says where the JSON breaks.
    """
    try:
        json.loads(text or "{}")
    except (ValueError, RecursionError) as exc:
        remedy = """Give a JSON object, such as '{"ticket": 7}'."""
        raise InvalidRequest.of(
            "metadata",
            "ERROR_REASON_MALFORMED_MESSAGE",
            f"The option '--metadata' is malformed JSON: {exc}. {remedy}",
            remedy=remedy,
        ) from exc


def get(place: Place, show: Show, memory_id: str, *, raw: bool) -> None:
    """Print a memory, or its text alone."""
    message = request(pb.GetMemoryRequest, id=memory_id, project=place.project)

    async def work(clients: Clients) -> pb.GetMemoryResponse:
        return await clients.memory.GetMemory(message)

    memory = run(place, show, "get", work).memory
    if show.as_json:
        write_json(codec.encode(memory))
    elif raw:
        write_text(memory.content)
    else:
        write_line(format_memory(memory))


def format_memory(memory: Memory) -> str:
    """Return a memory for a person: what is known of it, a blank line, its text."""
    shown = codec.encode(memory)
    place = f"{memory.project}/{memory.wing}/{memory.room}"
    rows = {
        "id": memory.id,
        "place": place,
        "type": shown["type"],
        "title": memory.title,
        "path": memory.path,
        "session": f"{memory.session_id} (turn {memory.session_order})" if memory.session_id else "",
        "occurred": shown.get("occurred_at"),
        "created": shown.get("created_at"),
        "updated": shown.get("updated_at") if memory.version > 1 else "",
        "version": memory.version,
        "state": shown["state"] if shown["state"] != "active" else "",
        "tags": ", ".join(memory.tags),
        "tokens": memory.token_count,
        "metadata": codec.dumps(shown.get("metadata")) if memory.HasField("metadata") else "",
    }
    head = "\n".join(f"{name:<9} {value}" for name, value in rows.items() if value)
    return f"{head}\n\n{memory.content}"


def delete(place: Place, show: Show, memory_ids: Sequence[str], *, yes: bool) -> None:
    """Delete memories, each once, after asking when a person is there to answer.

    Raises:
        InvalidRequest: an id is none; nothing was asked or deleted.
        ServiceError: what kept the first one that was not deleted; the others are deleted.
    """
    distinct = {_bare_id(item): item for item in reversed(memory_ids)}
    messages = [request(pb.DeleteMemoryRequest, id=item, project=place.project) for item in distinct.values()]
    for message in messages:
        validate(message)
    what = next(iter(distinct)) if len(distinct) == 1 else f"these {len(distinct)} memories"
    require_agreement(f"Delete {what} for good?", yes=yes)
    failures: list[Exception] = []

    async def work(clients: Clients) -> list[pb.DeleteMemoryResponse]:
        return [item async for item in _deleted(clients, list(reversed(messages)), failures)]

    deleted = run(place, show, "delete", work)
    if show.as_json:
        write_json({"deleted": [codec.encode(item) for item in deleted]})
    else:
        for item in deleted:
            tell(f"Deleted {item.id}.")
    if failures:
        raise failures[0]


async def _deleted(
    clients: Clients, messages: Sequence[pb.DeleteMemoryRequest], failures: list[Exception]
) -> AsyncIterator[pb.DeleteMemoryResponse]:
    for message in messages:
        try:
            yield await clients.memory.DeleteMemory(message)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise
            failures.append(error)


def _bare_id(memory_id: str) -> str:
    """Return an id in the form in which two of the same memory are equal."""
    return memory_id.strip().lower().rpartition(":")[2]
