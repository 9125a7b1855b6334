"""What the command status does."""

import asyncio
import time
from collections.abc import Mapping

import grpc

from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.store.v1 import maintenance_service_pb2 as maintenance_pb
from satchel.cli.actions.reembedding import ask_reembedding, format_reembedding
from satchel.cli.output import write_json, write_line
from satchel.cli.place import Place, Show
from satchel.cli.session import request, run
from satchel.gateway.clients import Clients
from satchel.gateway.data_folder import DataFolder, Owner
from satchel.gateway.transcoder import codec
from satchel.gateway.transcoder.words import word_of

_TIMEOUT_S = 15.0
_SETTLE_S = 5.0
_PAUSE_S = 0.1


def status(place: Place, show: Show) -> None:
    """Print what Satchel holds and how its parts are."""
    message = request(pb.GetStatusRequest, project=place.project)
    folder = DataFolder(place.data_dir)
    owner = folder.owner() if not place.url and folder.path.is_dir() and folder.is_owned() else None

    async def work(clients: Clients) -> tuple[pb.GetStatusResponse, maintenance_pb.Reembedding | None]:
        return await settled_status(clients, message), await known_reembedding(clients)

    answer, reembedding = run(place, show, "status", work)
    configuration = place.configuration
    if show.as_json:
        file = str(configuration.file) if configuration.file else None
        shown = None if reembedding is None else codec.encode(reembedding)
        write_json({**encoded(answer), "reembedding": shown, "config_file": file})
    else:
        write_line(format_status(answer, _where(place, folder, owner), place.project))
        if reembedding is not None and reembedding.state != maintenance_pb.REEMBEDDING_STATE_DONE:
            write_line(f"{'! vectors':<9} {format_reembedding(reembedding)}")
        write_line(f"{'config':<9} {configuration.described}")


def encoded(answer: pb.GetStatusResponse) -> Mapping[str, codec.Json]:
    """Return the status as the REST door shows it."""
    found = codec.encode(answer)
    return found if isinstance(found, dict) else {}


async def known_reembedding(clients: Clients) -> maintenance_pb.Reembedding | None:
    """Return how the vectors stand to the embedder's model; nothing where the store does not say."""
    try:
        return await ask_reembedding(clients)
    except grpc.aio.AioRpcError:
        return None


async def settled_status(clients: Clients, message: pb.GetStatusRequest) -> pb.GetStatusResponse:
    """Return the status; of a Satchel that has just started, once its index follows the store.

    Waits at most `_SETTLE_S`: an index that rebuilds itself takes longer, and that is worth telling.
    """
    deadline = time.monotonic() + _SETTLE_S
    while True:
        answer = await clients.allocator.GetStatus(message, timeout=_TIMEOUT_S)
        if (
            answer.index.state == index_pb.INDEX_STATE_READY
            or answer.uptime > _SETTLE_S
            or time.monotonic() > deadline
        ):
            return answer
        await asyncio.sleep(_PAUSE_S)


def _where(place: Place, folder: DataFolder, owner: Owner | None) -> str:
    if place.url:
        return place.url
    if owner is None:
        return f"{folder.path}, nobody else is running on it"
    http = f", HTTP at {owner.http}" if owner.http else ""
    return f"{folder.path}, {owner.describe()}{http}"


def format_status(answer: pb.GetStatusResponse, where: str, project: str) -> str:
    """Return the status for a person; without a project it counts all of them."""
    stats, index = answer.stats, answer.index
    types = ", ".join(f"{count} {name}" for name, count in sorted(stats.type_counts.items()) if count)
    rows = {
        "Satchel": f"{answer.version} at {where}",
        "project": project or "all (--project counts one)",
        "memories": f"{stats.verbatim_count:,} ({types or 'none'}), {stats.archived_count:,} archived",
        "tokens": f"{stats.total_tokens:,}",
        "wings": ", ".join(stats.active_wings) or "none",
        "vectors": f"{stats.embedding_count:,}, {stats.pending_embedding_count:,} memories wait for theirs",
        "index": f"{word_of(index, 'state')}, revision {index.applied_revision:,}, lag {index.lag:,}",
        "database": f"{answer.database_bytes / 2**20:,.1f} MiB, revision {answer.revision:,}",
        "models": ", ".join(answer.models) or "none",
    }
    rows.update({f"! {word_of(part, 'name')}": part.detail for part in answer.parts if not part.healthy})
    return "\n".join(f"{name:<9} {value}" for name, value in rows.items())
