"""What the commands timeline, archive, unarchive, clear, versions and restore do."""

from collections.abc import Iterable, Mapping, Sequence

from satchel.api.store.v1 import lifecycle_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.cli.asking import require_agreement
from satchel.cli.exits import CommandError, Exit
from satchel.cli.output import tell, write_json, write_line
from satchel.cli.place import Place, Show
from satchel.cli.session import request, run
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec

_LONG_S = 3600.0  # for what may move or delete very many memories
_INDENT = "    "


def timeline(place: Place, show: Show, fields: Mapping[str, object]) -> bool:
    """Print what happened when; tell whether anything did."""
    message = request(memory_pb.ListTimelineRequest, project=place.project, **fields)

    async def work(clients: Clients) -> memory_pb.ListTimelineResponse:
        return await clients.memory.ListTimeline(message)

    page = run(place, show, "timeline", work)
    if show.as_json:
        write_json(codec.encode(page))
        return bool(page.items)
    for item in page.items:
        write_line(format_item(item))
    if page.next_cursor:
        tell(f"There is more: --cursor {page.next_cursor}")
    return bool(page.items)


def format_item(item: memory_pb.TimelineItem) -> str:
    """Return a memory in the order of time as one line, with its time to the second."""
    shown = codec.encode(item)
    when = str(shown["timestamp"])[:19].replace("T", " ")
    return f"{when}  {item.id}  {item.wing}/{item.room}  {shown['type']}  {item.summary}"


def archive(place: Place, show: Show, memory_ids: Sequence[str], fields: Mapping[str, object]) -> None:
    """Archive memories, and print the id of the run on stdout."""
    message = request(pb.ArchiveMemoriesRequest, ids=list(memory_ids), project=place.project, **fields)

    async def work(clients: Clients) -> pb.ArchiveMemoriesResponse:
        return await clients.lifecycle.ArchiveMemories(message, timeout=_LONG_S)

    answer = run(place, show, "archive", work)
    if show.as_json:
        write_json(codec.encode(answer))
        return
    if answer.batch_id:
        write_line(answer.batch_id)
    for line in format_archived(answer, dry_run=message.dry_run):
        tell(line)


def format_archived(answer: pb.ArchiveMemoriesResponse, *, dry_run: bool) -> Iterable[str]:
    """Return what was archived, or would be, and how to undo it."""
    result = answer.result
    verb = "Would archive" if dry_run else "Archived"
    yield (
        f"{verb} {_memories(answer.archived_count)} ({result.session_notes:,} session notes, "
        f"{result.debug_logs:,} debug logs), {result.tokens_freed:,} tokens."
    )
    if answer.batch_id:
        yield f"Undo it with: satchel unarchive --batch {answer.batch_id}"


def unarchive(place: Place, show: Show, memory_ids: Sequence[str], batch: str) -> None:
    """Bring memories back, and print their ids."""
    message = request(
        pb.UnarchiveMemoriesRequest, ids=list(memory_ids), batch_id=batch, project=place.project
    )

    async def work(clients: Clients) -> pb.UnarchiveMemoriesResponse:
        return await clients.lifecycle.UnarchiveMemories(message, timeout=_LONG_S)

    answer = run(place, show, "unarchive", work)
    if show.as_json:
        write_json(codec.encode(answer))
        return
    for memory_id in answer.unarchived_ids:
        write_line(memory_id)
    tell(f"Brought {_memories(answer.unarchived_count)} back.")


def clear(place: Place, show: Show, asked: Mapping[str, object], *, dry_run: bool, yes: bool) -> None:
    """Count, ask, and delete what was counted; ``asked`` are mode, wing, room and tags.

    Raises:
        CommandError: neither a wing nor the whole project is named, or the answer was no.
    """
    if (asked["mode"] == "global") == bool(asked["wing"]):
        raise CommandError("Name --wing (and --room), or --global for the whole project.", Exit.USAGE)
    fields = {**asked, "project": place.project}
    wanted = request(pb.ClearMemoriesRequest, **fields)
    wanted.dry_run = True
    counted = _clear(place, show, wanted)
    where = "/".join(filter(None, (place.project or "default", wanted.wing, wanted.room)))
    where += f" with {', '.join(wanted.tags)}" if wanted.tags else ""
    if not dry_run and counted.deleted_count:
        require_agreement(f"Delete {_memories(counted.deleted_count)} of {where} for good?", yes=yes)
    wanted.dry_run = False
    wanted.expected_count = counted.deleted_count
    answer = counted if dry_run else _clear(place, show, wanted)
    if show.as_json:
        write_json(codec.encode(answer))
    else:
        tell(f"{'Would delete' if dry_run else 'Deleted'} {_memories(answer.deleted_count)} of {where}.")


def _clear(place: Place, show: Show, message: pb.ClearMemoriesRequest) -> pb.ClearMemoriesResponse:
    async def work(clients: Clients) -> pb.ClearMemoriesResponse:
        return await clients.lifecycle.ClearMemories(message, timeout=_LONG_S)

    return run(place, show, "clear", work)


def versions(place: Place, show: Show, memory_id: str) -> None:
    """Print the versions of a memory, newest first."""
    message = request(pb.ListVersionsRequest, id=memory_id, project=place.project)

    async def work(clients: Clients) -> list[pb.MemoryVersion]:
        found: list[pb.MemoryVersion] = []
        while True:
            page = await clients.lifecycle.ListVersions(message)
            found += page.versions
            message.page_token = page.next_page_token
            if not page.next_page_token:
                return found

    found = run(place, show, "versions", work)
    if show.as_json:
        write_json({"versions": [codec.encode(one) for one in found]})
        return
    for one in found:
        write_line(format_version(one))


def format_version(one: pb.MemoryVersion) -> str:
    """Return a version for a person: one line about it, then its text, indented."""
    shown = codec.encode(one)
    memory = one.memory
    until = (
        f"until {str(shown['replaced_at'])[:19].replace('T', ' ')}" if one.HasField("replaced_at") else "now"
    )
    head = f"version {one.version}  {until}  {memory.wing}/{memory.room}  {codec.encode(memory)['type']}"
    return "\n".join([head, *(_INDENT + line for line in memory.content.splitlines())])


def restore(place: Place, show: Show, memory_id: str, version: int, fields: Mapping[str, object]) -> None:
    """Restore a version, and tell which one the memory has now."""
    message = request(
        pb.RestoreVersionRequest, id=memory_id, version=version, project=place.project, **fields
    )

    async def work(clients: Clients) -> pb.RestoreVersionResponse:
        return await clients.lifecycle.RestoreVersion(message)

    memory = run(place, show, "restore", work).memory
    if show.as_json:
        write_json(codec.encode(memory))
    else:
        tell(f"{memory.id} says what version {version} said; it is version {memory.version} now.")


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count:,} memories"
