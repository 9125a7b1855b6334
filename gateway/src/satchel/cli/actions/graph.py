"""What the commands chain, link, unlink and consolidate do."""

from collections.abc import Iterable, Mapping

from satchel.api.store.v1 import consolidation_service_pb2 as consolidation_pb
from satchel.api.store.v1 import graph_service_pb2 as pb
from satchel.cli.output import tell, write_json, write_line
from satchel.cli.place import Place, Show
from satchel.cli.session import request, run
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec

_LONG_S = 600.0  # for the comparison of very many memories


def chain(place: Place, show: Show, memory_id: str, fields: Mapping[str, object]) -> bool:
    """Print causes, and consequences below; tell whether there are any."""
    message = request(pb.TraceCausalChainRequest, id=memory_id, project=place.project, **fields)

    async def work(clients: Clients) -> pb.TraceCausalChainResponse:
        return await clients.graph.TraceCausalChain(message)

    found = run(place, show, "chain", work)
    is_any = bool(found.chain or found.consequences)
    if show.as_json:
        write_json(codec.encode(found))
        return is_any
    for line in format_trace(found, with_consequences=message.include_consequences):
        write_line(line)
    if not is_any:
        tell("Nothing is linked to this memory.")
    if found.truncated:
        tell("There are more than the 500 memories that are shown; lower --depth or name a --relation.")
    return is_any


def format_trace(found: pb.TraceCausalChainResponse, *, with_consequences: bool) -> Iterable[str]:
    """Return one line for each memory, indented by its depth, under a heading where there are two lists."""
    if with_consequences:
        yield "Causes:"
    yield from map(_format_node, found.chain)
    if with_consequences:
        yield "Consequences:"
    yield from map(_format_node, found.consequences)


def _format_node(node: pb.CausalNode) -> str:
    shown = codec.encode(node)
    indent = "  " * (node.depth - 1)
    when = str(shown["timestamp"])[:10]
    state = " (archived)" if shown["state"] == "archived" else ""
    return f"{indent}{shown['relation']}  {node.id}  {when}  {shown['type']}  {node.summary}{state}"


def link(place: Place, show: Show, cause_id: str, effect_id: str, relation: str) -> None:
    """Link two memories."""
    message = request(
        pb.LinkMemoriesRequest,
        cause_id=cause_id,
        effect_id=effect_id,
        relation=relation,
        project=place.project,
    )

    async def work(clients: Clients) -> pb.LinkMemoriesResponse:
        return await clients.graph.LinkMemories(message)

    linked = run(place, show, "link", work)
    if show.as_json:
        write_json(codec.encode(linked))
        return
    verb = "Linked" if linked.created else "Already linked"
    tell(f"{verb}: {linked.link.cause_id} -> {linked.link.effect_id} ({relation}).")


def unlink(place: Place, show: Show, cause_id: str, effect_id: str, relation: str) -> None:
    """Remove links."""
    message = request(
        pb.UnlinkMemoriesRequest,
        cause_id=cause_id,
        effect_id=effect_id,
        relation=relation,
        project=place.project,
    )

    async def work(clients: Clients) -> pb.UnlinkMemoriesResponse:
        return await clients.graph.UnlinkMemories(message)

    answer = run(place, show, "unlink", work)
    if show.as_json:
        write_json(codec.encode(answer))
    else:
        tell(f"Removed {_counted(answer.removed_count, 'link')}.")


def consolidate(place: Place, show: Show, fields: Mapping[str, object]) -> None:
    """Merge similar memories, and print the id of the run on stdout."""
    message = request(consolidation_pb.ConsolidateMemoriesRequest, project=place.project, **fields)

    async def work(clients: Clients) -> consolidation_pb.ConsolidateMemoriesResponse:
        return await clients.consolidation.ConsolidateMemories(message, timeout=_LONG_S)

    done = run(place, show, "consolidate", work)
    if show.as_json:
        write_json(codec.encode(done))
        return
    if done.batch_id:
        write_line(done.batch_id)
    for line in format_consolidated(done, dry_run=message.dry_run):
        tell(line)


def format_consolidated(
    done: consolidation_pb.ConsolidateMemoriesResponse, *, dry_run: bool
) -> Iterable[str]:
    """Return what became what, how much that is, and how to undo it."""
    for cluster in done.clusters:
        made = f" -> {cluster.id}" if cluster.id else ""
        yield f"{len(cluster.source_ids)} memories, similarity {cluster.similarity:.3f}{made}"
        yield from (f"    {source_id}" for source_id in cluster.source_ids)
    verb = "Would merge" if dry_run else "Merged"
    yield f"{verb} {_counted(done.removed_count, 'memory', 'memories')} into {done.consolidated_count:,}."
    if done.has_more:
        yield "There is more to merge: run the command again."
    if done.batch_id:
        yield f"Undo it with: satchel unarchive --batch {done.batch_id}"


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
