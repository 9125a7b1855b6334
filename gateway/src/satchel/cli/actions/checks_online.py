"""Checks that ask the services: the running Satchel, or one that is started for the check."""

import grpc

from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.api.store.v1 import maintenance_service_pb2 as maintenance_pb
from satchel.cli.actions.checks import Check, Findings, fail, ok, warn
from satchel.cli.actions.reembedding import format_reembedding
from satchel.cli.actions.status import known_reembedding, settled_status
from satchel.cli.connect import named_error, open_clients
from satchel.cli.failures import describe_os_error
from satchel.cli.place import Place
from satchel.gateway.transcoder.words import word_of
from satchel.runtime.errors import ServiceError

_MUCH_LAG = 1000
_OTHER_MODEL = {
    maintenance_pb.REEMBEDDING_STATE_NEEDED: "Run 'satchel reembed', or set the model as it was before.",
    maintenance_pb.REEMBEDDING_STATE_RUNNING: "Wait: 'satchel reembed --status' says how far it is.",
    maintenance_pb.REEMBEDDING_STATE_WAITING: "Start the embedder: the work goes on by itself.",
    maintenance_pb.REEMBEDDING_STATE_CANCELLED: "Run 'satchel reembed' to go on.",
    maintenance_pb.REEMBEDDING_STATE_INCOMPLETE: "Run 'satchel reembed'; everything is found meanwhile.",
}


async def check_services(place: Place) -> Findings:
    """Start or join Satchel and check what its parts say of themselves."""
    try:
        async with open_clients(place) as clients:
            request = pb.GetStatusRequest(project=place.project)
            status = await settled_status(clients, request)
            reembedding = await known_reembedding(clients)
    except (ServiceError, grpc.aio.AioRpcError, OSError) as error:
        if isinstance(error, OSError):
            message = describe_os_error(error)
        else:
            message = named_error(error, place).message
        remedy = "Run 'satchel up' and read its log; set SATCHEL_LOG_LEVEL=DEBUG for more of it."
        return Findings([fail("services", message, remedy)])
    vectors = _check_models(reembedding) or _check_pending(status)
    return Findings([*(_check_part(part) for part in status.parts), _check_index(status), vectors], status)


def _check_part(part: pb.PartStatus) -> Check:
    name = word_of(part, "name")
    if part.healthy:
        return ok(name, part.detail)
    return fail(name, part.detail, "Read the service's log; restart Satchel if it does not recover.")


def _check_index(status: pb.GetStatusResponse) -> Check:
    index = status.index
    detail = f"{word_of(index, 'state')}, {index.passage_count:,} passages, {index.lag:,} changes behind"
    if index.lag > _MUCH_LAG:
        remedy = "Wait: the index catches up by itself, and the store answers meanwhile."
        return warn("index lag", detail, remedy)
    return ok("index lag", detail)


def _check_models(reembedding: maintenance_pb.Reembedding | None) -> Check | None:
    """Check that the vectors are of the embedder's model and whole; nothing where nothing is to be said."""
    if reembedding is None or reembedding.state not in _OTHER_MODEL:
        return None
    return warn("vectors", format_reembedding(reembedding), _OTHER_MODEL[reembedding.state])


def _check_pending(status: pb.GetStatusResponse) -> Check:
    pending = status.stats.pending_embedding_count
    if pending:
        remedy = "Wait: they are embedded by themselves, and are found by their words meanwhile."
        return warn("vectors", f"{pending:,} memories wait for their vectors.", remedy)
    return ok("vectors", f"all {status.stats.embedding_count:,} are stored")
