"""The allocator's door: decode, call the engine, encode; nothing else."""

from collections.abc import Callable

import grpc

from satchel.allocator.decoding import allocate_order, recall_query, search_query
from satchel.allocator.encoding import allocate_response, recall_response, search_response, status_response
from satchel.allocator.engine import Engine
from satchel.allocator.settings import AllocatorSettings
from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.api.allocator.v1 import allocator_service_pb2_grpc as rpc

Clock = Callable[[], int]
"""Returns the time in microseconds since 1970."""


class AllocatorServicer(rpc.AllocatorServiceServicer):
    """Answers `AllocatorService` with one engine."""

    def __init__(self, engine: Engine, settings: AllocatorSettings, clock: Clock, *, version: str) -> None:
        self._engine, self._settings, self._clock, self._version = engine, settings, clock, version
        self._started_us = clock()

    async def Recall(  # the contract's name
        self,
        request: pb.RecallRequest,
        context: grpc.aio.ServicerContext[pb.RecallRequest, pb.RecallResponse],  # noqa: ARG002
    ) -> pb.RecallResponse:
        """Answer a question within a budget."""
        query = recall_query(request, self._settings, self._clock())
        return recall_response(await self._engine.recall(query), query.now_us)

    async def SearchMemories(  # the contract's name
        self,
        request: pb.SearchMemoriesRequest,
        context: grpc.aio.ServicerContext[pb.SearchMemoriesRequest, pb.SearchMemoriesResponse],  # noqa: ARG002
    ) -> pb.SearchMemoriesResponse:
        """Find memories, best first."""
        found = await self._engine.search(search_query(request, self._settings))
        return search_response(found, request.max_content_length)

    async def Allocate(  # the contract's name
        self,
        request: pb.AllocateRequest,
        context: grpc.aio.ServicerContext[pb.AllocateRequest, pb.AllocateResponse],  # noqa: ARG002
    ) -> pb.AllocateResponse:
        """Pack the caller's own candidates."""
        candidates, order = allocate_order(request, self._settings)
        return allocate_response(await self._engine.allocate(candidates, order), order.terms.now_us)

    async def GetStatus(  # the contract's name
        self,
        request: pb.GetStatusRequest,
        context: grpc.aio.ServicerContext[pb.GetStatusRequest, pb.GetStatusResponse],  # noqa: ARG002
    ) -> pb.GetStatusResponse:
        """Report what Satchel holds and how its parts are."""
        state = await self._engine.report(request.project)
        uptime_s = (self._clock() - self._started_us) / 1e6
        return status_response(state, version=self._version, uptime_s=uptime_s)
