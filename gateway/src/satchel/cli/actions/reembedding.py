"""What the command reembed does, and what other commands say of a change of the model."""

from collections.abc import AsyncIterator
from enum import Enum

from satchel.api.store.v1 import maintenance_service_pb2 as pb
from satchel.cli.actions.progress import Progress, open_progress
from satchel.cli.exits import CommandError, Exit
from satchel.cli.output import tell, write_json
from satchel.cli.place import Place, Show
from satchel.cli.session import run
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec

_TIMEOUT_S = 15.0
_DAY_S = 86_400.0


class Wish(Enum):
    """What is asked for."""

    WORK = "work"
    STATUS = "status"
    CANCEL = "cancel"


def wish_of(*, only_status: bool, cancel: bool) -> Wish:
    """Return what the options ask for.

    Raises:
        CommandError: for two things.
    """
    if only_status and cancel:
        raise CommandError("Give --status or --cancel, not both.", Exit.USAGE)
    if cancel:
        return Wish.CANCEL
    return Wish.STATUS if only_status else Wish.WORK


def reembed(place: Place, show: Show, wish: Wish) -> bool:
    """Do as asked and show the progress; tell whether nothing is left to do, or it was cancelled."""

    async def work(clients: Clients) -> pb.Reembedding:
        if wish is Wish.STATUS:
            return await ask_reembedding(clients)
        if wish is Wish.CANCEL:
            request = pb.CancelReembeddingRequest()
            return (await clients.maintenance.CancelReembedding(request, timeout=_TIMEOUT_S)).reembedding
        with open_progress("Embedding", None, show) as progress:
            return await _followed(_told(clients), progress)

    found = run(place, show, "reembed", work)
    if show.as_json:
        write_json(codec.encode(found))
    else:
        tell(format_reembedding(found))
    return wish is Wish.CANCEL or found.state == pb.REEMBEDDING_STATE_DONE


async def ask_reembedding(clients: Clients) -> pb.Reembedding:
    """Return how the stored vectors stand to the embedder's model."""
    answer = await clients.maintenance.GetReembedding(pb.GetReembeddingRequest(), timeout=_TIMEOUT_S)
    return answer.reembedding


def format_reembedding(found: pb.Reembedding) -> str:
    """Return the state for a person."""
    if found.state == pb.REEMBEDDING_STATE_RUNNING:
        return f"{found.done_count:,} of {found.total_count:,} done. {found.detail}"
    return found.detail


async def _told(clients: Clients) -> AsyncIterator[pb.Reembedding]:
    async for answer in clients.maintenance.ReembedMemories(pb.ReembedMemoriesRequest(), timeout=_DAY_S):
        yield answer.reembedding


async def _followed(told: AsyncIterator[pb.Reembedding], progress: Progress) -> pb.Reembedding:
    """Show what is told, and return the last of it."""
    last, shown = pb.Reembedding(), 0
    async for last in told:
        progress.set_total(last.total_count)
        progress.advance(max(0, last.done_count - shown))
        shown = max(shown, last.done_count)
    return last
