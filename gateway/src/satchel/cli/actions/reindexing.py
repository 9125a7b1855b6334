"""What the command reindex does."""

import asyncio
import time

from satchel.api.index.v1 import index_service_pb2 as pb
from satchel.cli.actions.progress import Progress, open_progress
from satchel.cli.exits import CommandError, Exit
from satchel.cli.output import tell, write_json
from satchel.cli.place import Place, Show
from satchel.cli.session import run
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec

_TIMEOUT_S = 15.0
_PAUSE_S = 0.1
_STALL_S = 60.0
_STEPS = 1000


def reindex(place: Place, show: Show) -> None:
    """Rebuild the index, and return when the new one answers.

    Raises:
        CommandError: the rebuild failed, or does not come on any more.
    """

    async def work(clients: Clients) -> pb.GetIndexStatusResponse:
        with open_progress("Indexing", _STEPS, show) as progress:
            await _until_current(clients, progress)  # so that a start is not taken for the rebuild
            await clients.index.RebuildIndex(pb.RebuildIndexRequest(), timeout=_TIMEOUT_S)
            return await _until_current(clients, progress)

    found = run(place, show, "reindex", work)
    if "It failed:" in found.rebuild_reason:
        raise CommandError(f"The index was not rebuilt. {found.rebuild_reason}")
    if show.as_json:
        write_json(codec.encode(found))
        return
    tell(
        f"The index is rebuilt: {found.passage_count:,} passages of {found.memory_count:,} memories, at "
        f"revision {found.applied_revision:,}."
    )


async def _until_current(clients: Clients, progress: Progress) -> pb.GetIndexStatusResponse:
    """Wait until no rebuild runs and the index follows the store."""
    shown, known, since = 0, (-1, -1.0), time.monotonic()
    while True:
        found = await clients.index.GetIndexStatus(pb.GetIndexStatusRequest(), timeout=_TIMEOUT_S)
        if found.state == pb.INDEX_STATE_READY:
            progress.advance(_STEPS - shown)
            return found
        done = round(found.rebuild_progress * _STEPS) if found.state == pb.INDEX_STATE_REBUILDING else 0
        progress.advance(max(0, done - shown))
        shown = max(shown, done)
        if known != (now := (found.applied_revision, found.rebuild_progress)):
            known, since = now, time.monotonic()
        elif time.monotonic() - since > _STALL_S:
            raise CommandError(
                f"The index has not come on for {_STALL_S:.0f} s. Run 'satchel doctor'.", Exit.UNAVAILABLE
            )
        await asyncio.sleep(_PAUSE_S)
