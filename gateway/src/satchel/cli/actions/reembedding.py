"""What the command reembed does, and what other commands say of a change of the model."""

from collections.abc import AsyncIterator

from satchel.api.store.v1 import maintenance_service_pb2 as pb
from satchel.cli.actions.progress import Progress, open_progress
from satchel.cli.output import tell, write_json
from satchel.cli.place import Place, Show
from satchel.cli.session import run
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec

_TIMEOUT_S = 15.0
_DAY_S = 86_400.0


def reembed(place: Place, show: Show, *, only_status: bool) -> bool:
    """Re-embed and show the progress; tell whether every vector is of the embedder's model then."""

    async def work(clients: Clients) -> pb.Reembedding:
        if only_status:
            return await ask_reembedding(clients)
        with open_progress("Embedding", None, show) as progress:
            return await _followed(_told(clients), progress)

    found = run(place, show, "reembed", work)
    if show.as_json:
        write_json(codec.encode(found))
    else:
        tell(format_reembedding(found))
    return found.state == pb.REEMBEDDING_STATE_DONE


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
