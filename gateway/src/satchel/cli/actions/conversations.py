"""What the command ingest does."""

import sys
from collections.abc import Mapping
from pathlib import Path

from satchel.api.store.v1 import ingest_service_pb2 as pb
from satchel.cli.exits import CommandError, Exit
from satchel.cli.importing.messages import in_requests, load_conversation, to_turns
from satchel.cli.output import write_json, write_line
from satchel.cli.place import Place, Show
from satchel.cli.session import request, run
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec

_LONG_S = 600.0  # for a thousand turns and a slow embedder


def read_input(path: Path) -> bytes:
    """Return the bytes of a file, or of stdin for ``-``.

    Raises:
        CommandError: there is no such file.
        OSError: it cannot be read.
    """
    if str(path) == "-":
        return sys.stdin.buffer.read()
    if not path.is_file():
        raise CommandError(f"There is no file {path}.", Exit.USAGE)
    return path.read_bytes()


def ingest(place: Place, show: Show, path: Path, fields: Mapping[str, object]) -> None:
    """Store the turns of a conversation, and print how many were stored, there already, and passed over.

    Raises:
        CommandError: there is no such file.
        ImportFormatError: the file holds no conversation.
    """
    session, messages = load_conversation(path, read_input(path))
    chosen = {**fields, "session_id": fields.get("session_id") or session, "project": place.project}
    template = request(pb.IngestMessagesRequest, **chosen)
    done = pb.IngestMessagesResponse()

    async def work(clients: Clients) -> None:
        for turns in in_requests(to_turns(messages)):
            message = pb.IngestMessagesRequest(messages=turns)
            message.MergeFrom(template)
            _add(done, await clients.ingest.IngestMessages(message, timeout=_LONG_S))

    run(place, show, "ingest", work)
    if show.as_json:
        write_json(codec.encode(done))
        return
    kinds = f"{done.stored_count} stored, {done.duplicate_count} duplicate, {done.skipped_count} skipped"
    write_line(f"{kinds}; nothing was changed" if template.dry_run else kinds)


def _add(done: pb.IngestMessagesResponse, part: pb.IngestMessagesResponse) -> None:
    """Add what became of further turns of the same conversation."""
    before = len(done.results)
    done.stored_count += part.stored_count
    done.skipped_count += part.skipped_count
    done.duplicate_count += part.duplicate_count
    done.revision = max(done.revision, part.revision)
    done.results.extend(part.results)
    for place in range(before, len(done.results)):
        done.results[place].index = place
