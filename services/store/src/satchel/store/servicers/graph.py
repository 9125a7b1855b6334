"""The door `GraphService`."""

import grpc

from satchel.api.store.v1 import graph_service_pb2 as pb
from satchel.api.store.v1 import graph_service_pb2_grpc as rpc
from satchel.api.types.v1 import memory_pb2
from satchel.store.engine.graph import Graphs
from satchel.store.graph import CauseAndEffect, Edge, Node, TraceQuery
from satchel.store.model import Relation
from satchel.store.servicers import decoding, encoding, listing

_DEFAULT_DEPTH = 5
_Relation = memory_pb2.CausalRelation.ValueType
_Type = memory_pb2.MemoryType.ValueType
_State = memory_pb2.MemoryState.ValueType


class GraphServicer(rpc.GraphServiceServicer):
    """Answers `GraphService` with the store's use cases."""

    def __init__(self, graphs: Graphs) -> None:
        self._graphs = graphs

    async def LinkMemories(  # the contract's name
        self,
        request: pb.LinkMemoriesRequest,
        context: grpc.aio.ServicerContext[pb.LinkMemoriesRequest, pb.LinkMemoriesResponse],  # noqa: ARG002
    ) -> pb.LinkMemoriesResponse:
        """Link two memories."""
        linked = await self._graphs.link(_pair(request), Relation(request.relation), project=request.project)
        return pb.LinkMemoriesResponse(link=_edge(linked.edge), created=linked.created)

    async def UnlinkMemories(  # the contract's name
        self,
        request: pb.UnlinkMemoriesRequest,
        context: grpc.aio.ServicerContext[pb.UnlinkMemoriesRequest, pb.UnlinkMemoriesResponse],  # noqa: ARG002
    ) -> pb.UnlinkMemoriesResponse:
        """Remove links."""
        relation = Relation(request.relation) if request.relation else None
        removed = await self._graphs.unlink(_pair(request), relation, project=request.project)
        return pb.UnlinkMemoriesResponse(removed_count=removed)

    async def ListCausalLinks(  # the contract's name
        self,
        request: pb.ListCausalLinksRequest,
        context: grpc.aio.ServicerContext[pb.ListCausalLinksRequest, pb.ListCausalLinksResponse],  # noqa: ARG002
    ) -> pb.ListCausalLinksResponse:
        """Return a page of links."""
        page = await self._graphs.links(
            decoding.memory_id(request.id),
            project=request.project,
            size=listing.page_size(request.page_size),
            token=request.page_token,
            arguments=listing.arguments(request),
        )
        return pb.ListCausalLinksResponse(
            links=[_edge(one) for one in page.edges], next_page_token=page.next_token
        )

    async def TraceCausalChain(  # the contract's name
        self,
        request: pb.TraceCausalChainRequest,
        context: grpc.aio.ServicerContext[pb.TraceCausalChainRequest, pb.TraceCausalChainResponse],  # noqa: ARG002
    ) -> pb.TraceCausalChainResponse:
        """Follow links."""
        query = TraceQuery(
            memory_id=decoding.memory_id(request.id),
            project=request.project,
            max_depth=request.max_depth or _DEFAULT_DEPTH,
            with_consequences=request.include_consequences,
            relations=frozenset(map(Relation, request.relations)),
        )
        found = await self._graphs.trace(query)
        return pb.TraceCausalChainResponse(
            chain=[_node(one) for one in found.causes],
            consequences=[_node(one) for one in found.consequences],
            truncated=found.truncated,
        )


def _pair(request: pb.LinkMemoriesRequest | pb.UnlinkMemoriesRequest) -> CauseAndEffect:
    return CauseAndEffect(decoding.memory_id(request.cause_id), decoding.memory_id(request.effect_id))


def _edge(one: Edge) -> pb.CausalEdge:
    return pb.CausalEdge(
        cause_id=one.cause,
        effect_id=one.effect,
        relation=_Relation(one.relation),
        detected=bool(one.phrase),
        phrase=one.phrase,
    )


def _node(one: Node) -> pb.CausalNode:
    return pb.CausalNode(
        id=one.id,
        type=_Type(one.type),
        summary=one.summary,
        timestamp=encoding.timestamp(one.at),
        wing=one.wing,
        room=one.room,
        depth=one.depth,
        relation=_Relation(one.relation),
        via_id=one.via,
        state=_State(one.state),
    )
