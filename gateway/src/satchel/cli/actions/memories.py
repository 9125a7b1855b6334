"""What the commands store, get and delete do."""

import sys
from collections.abc import Mapping, Sequence

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1.memory_pb2 import Memory
from satchel.cli.exits import CommandError, Exit
from satchel.cli.output import tell, write_json, write_line, write_text
from satchel.cli.place import Place, Show
from satchel.cli.session import request, run
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec


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
    message = request(pb.StoreMemoryRequest, content=read_argument(text), project=place.project, **fields)

    async def work(clients: Clients) -> pb.StoreMemoryResponse:
        return await clients.memory.StoreMemory(message)

    stored = run(place, show, "store", work)
    if show.as_json:
        write_json(codec.encode(stored))
        return
    write_line(stored.id)
    what = codec.encode(stored)
    verb = "Already stored" if stored.duplicate else "Stored"
    pending = "; its vectors follow" if what["embedding"] == "pending" else ""
    tell(f"{verb}: {what['type']} in {stored.wing}/{stored.room}, {stored.token_count} tokens{pending}.")


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
    """Delete memories, after asking when a person is there to answer."""
    messages = [request(pb.DeleteMemoryRequest, id=item, project=place.project) for item in memory_ids]
    if not yes and not _agreed(memory_ids):
        tell("Nothing was deleted.")
        raise CommandError("The answer was no.", Exit.FAILED)

    async def work(clients: Clients) -> list[pb.DeleteMemoryResponse]:
        return [await clients.memory.DeleteMemory(message) for message in messages]

    deleted = run(place, show, "delete", work)
    if show.as_json:
        write_json({"deleted": [codec.encode(item) for item in deleted]})
    else:
        for item in deleted:
            tell(f"Deleted {item.id}.")


def _agreed(memory_ids: Sequence[str]) -> bool:
    if not sys.stdin.isatty():
        raise CommandError("Nobody is there to confirm the deletion. Add --yes to delete.", Exit.USAGE)
    what = memory_ids[0] if len(memory_ids) == 1 else f"these {len(memory_ids)} memories"
    sys.stderr.write(f"Delete {what} for good? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
