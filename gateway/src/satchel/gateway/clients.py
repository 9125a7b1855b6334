"""Channels to the services: typed stubs for code that knows its RPC, a dynamic call for the doors."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import grpc
from google.protobuf.message import Message

from satchel.api.allocator.v1 import allocator_service_pb2_grpc
from satchel.api.embedder.v1 import embedder_service_pb2_grpc
from satchel.api.index.v1 import index_service_pb2_grpc
from satchel.api.store.v1 import (
    change_service_pb2_grpc,
    consolidation_service_pb2_grpc,
    graph_service_pb2_grpc,
    ingest_service_pb2_grpc,
    lifecycle_service_pb2_grpc,
    maintenance_service_pb2_grpc,
    memory_service_pb2_grpc,
    search_service_pb2_grpc,
    webhook_service_pb2_grpc,
)
from satchel.gateway.transcoder.descriptors import Rpc, message_class
from satchel.runtime.errors import Unimplemented
from satchel.runtime.propagation import Metadatum
from satchel.runtime.status import from_rpc_error

if TYPE_CHECKING:
    from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceAsyncStub
    from satchel.api.embedder.v1.embedder_service_pb2_grpc import EmbedderServiceAsyncStub
    from satchel.api.index.v1.index_service_pb2_grpc import IndexServiceAsyncStub
    from satchel.api.store.v1.change_service_pb2_grpc import ChangeServiceAsyncStub
    from satchel.api.store.v1.consolidation_service_pb2_grpc import ConsolidationServiceAsyncStub
    from satchel.api.store.v1.graph_service_pb2_grpc import GraphServiceAsyncStub
    from satchel.api.store.v1.ingest_service_pb2_grpc import IngestServiceAsyncStub
    from satchel.api.store.v1.lifecycle_service_pb2_grpc import LifecycleServiceAsyncStub
    from satchel.api.store.v1.maintenance_service_pb2_grpc import MaintenanceServiceAsyncStub
    from satchel.api.store.v1.memory_service_pb2_grpc import MemoryServiceAsyncStub
    from satchel.api.store.v1.search_service_pb2_grpc import SearchServiceAsyncStub
    from satchel.api.store.v1.webhook_service_pb2_grpc import WebhookServiceAsyncStub

_PACKAGE = "satchel.api."


@dataclass(frozen=True)
class Clients:
    """One channel for each part, by the part's name in the contract: "store" for ``satchel.api.store.v1``."""

    channels: Mapping[str, grpc.aio.Channel]

    @classmethod
    def over(cls, channel: grpc.aio.Channel) -> "Clients":
        """Reach every part over one channel, as when all run in one process."""
        return cls(dict.fromkeys(("embedder", "index", "store", "allocator"), channel))

    @cached_property
    def embedder(self) -> "EmbedderServiceAsyncStub":
        """The embedder."""
        return embedder_service_pb2_grpc.EmbedderServiceStub(self.channels["embedder"])

    @cached_property
    def index(self) -> "IndexServiceAsyncStub":
        """The index."""
        return index_service_pb2_grpc.IndexServiceStub(self.channels["index"])

    @cached_property
    def memory(self) -> "MemoryServiceAsyncStub":
        """The store's memories."""
        return memory_service_pb2_grpc.MemoryServiceStub(self.channels["store"])

    @cached_property
    def lifecycle(self) -> "LifecycleServiceAsyncStub":
        """The store's archive, clearing and versions."""
        return lifecycle_service_pb2_grpc.LifecycleServiceStub(self.channels["store"])

    @cached_property
    def maintenance(self) -> "MaintenanceServiceAsyncStub":
        """What keeps the store in order."""
        return maintenance_service_pb2_grpc.MaintenanceServiceStub(self.channels["store"])

    @cached_property
    def graph(self) -> "GraphServiceAsyncStub":
        """The store's causal links."""
        return graph_service_pb2_grpc.GraphServiceStub(self.channels["store"])

    @cached_property
    def consolidation(self) -> "ConsolidationServiceAsyncStub":
        """The store's merging of memories."""
        return consolidation_service_pb2_grpc.ConsolidationServiceStub(self.channels["store"])

    @cached_property
    def ingest(self) -> "IngestServiceAsyncStub":
        """The store's reading of conversations."""
        return ingest_service_pb2_grpc.IngestServiceStub(self.channels["store"])

    @cached_property
    def search(self) -> "SearchServiceAsyncStub":
        """The store's search."""
        return search_service_pb2_grpc.SearchServiceStub(self.channels["store"])

    @cached_property
    def changes(self) -> "ChangeServiceAsyncStub":
        """The store's change feed."""
        return change_service_pb2_grpc.ChangeServiceStub(self.channels["store"])

    @cached_property
    def webhooks(self) -> "WebhookServiceAsyncStub":
        """The store's webhooks."""
        return webhook_service_pb2_grpc.WebhookServiceStub(self.channels["store"])

    @cached_property
    def allocator(self) -> "AllocatorServiceAsyncStub":
        """The allocator."""
        return allocator_service_pb2_grpc.AllocatorServiceStub(self.channels["allocator"])

    @cached_property
    def _callables(self) -> dict[str, Any]:
        return {}

    async def call(
        self, rpc: Rpc, request: Message, *, timeout_s: float, metadata: tuple[Metadatum, ...] = ()
    ) -> Message:
        """Make a unary call of any RPC of a contract.

        Raises:
            ServiceError: what the service reported, or what became of the call.
        """
        callable_ = self._callables.get(rpc.path) or self._make_callable(rpc)
        try:
            return cast("Message", await callable_(request, timeout=timeout_s, metadata=metadata))
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from error

    def _make_callable(self, rpc: Rpc) -> Any:  # noqa: ANN401
        part = rpc.service.removeprefix(_PACKAGE).split(".")[0]
        channel = self.channels.get(part)
        if channel is None:
            raise Unimplemented(f"No part named '{part}' is connected here.")
        made = channel.unary_unary(
            rpc.path,
            request_serializer=message_class(rpc.input).SerializeToString,
            response_deserializer=message_class(rpc.output).FromString,
        )
        self._callables[rpc.path] = made
        return made
