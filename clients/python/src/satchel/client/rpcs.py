"""Names the RPCs that the clients call, and how gRPC carries them: retries, limits, keep-alive."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from google.protobuf import wrappers_pb2
from google.protobuf.descriptor import FileDescriptor

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceStub
from satchel.api.embedder.v1 import embedder_service_pb2 as embedder_pb
from satchel.api.embedder.v1.embedder_service_pb2_grpc import EmbedderServiceStub
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.options.v1 import options_pb2
from satchel.api.store.v1 import change_service_pb2 as change_pb
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.store.v1.change_service_pb2_grpc import ChangeServiceStub
from satchel.api.store.v1.memory_service_pb2_grpc import MemoryServiceStub

Q = TypeVar("Q")
A = TypeVar("A")

_MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_HEALTH = "grpc.health.v1.Health"


class HealthStub:
    """The one RPC of gRPC's health service, which has a package of its own.

    Request and response are one text and one enum in field 1: on the wire the same as these two messages
    (https://github.com/grpc/grpc/blob/master/doc/health-checking.md).
    """

    def __init__(self, channel: Any) -> None:  # noqa: ANN401  # of either kind
        self.Check = channel.unary_unary(
            f"/{_HEALTH}/Check",
            request_serializer=wrappers_pb2.StringValue.SerializeToString,
            response_deserializer=wrappers_pb2.Int32Value.FromString,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Rpc(Generic[Q, A]):
    """An RPC with requests ``Q`` and answers ``A``; ``part`` answers it, ``stub`` is the generated class."""

    part: str
    stub: Callable[[Any], Any]
    name: str


CHECK: Rpc[wrappers_pb2.StringValue, wrappers_pb2.Int32Value] = Rpc("store", HealthStub, "Check")
STORE: Rpc[memory_pb.StoreMemoryRequest, memory_pb.StoreMemoryResponse] = Rpc(
    "store", MemoryServiceStub, "StoreMemory"
)
STORE_BATCH: Rpc[memory_pb.BatchStoreMemoriesRequest, memory_pb.BatchStoreMemoriesResponse] = Rpc(
    "store", MemoryServiceStub, "BatchStoreMemories"
)
IMPORT: Rpc[memory_pb.ImportMemoriesRequest, memory_pb.ImportMemoriesResponse] = Rpc(
    "store", MemoryServiceStub, "ImportMemories"
)
EXPORT: Rpc[memory_pb.ExportMemoriesRequest, memory_pb.ExportMemoriesResponse] = Rpc(
    "store", MemoryServiceStub, "ExportMemories"
)
GET: Rpc[memory_pb.GetMemoryRequest, memory_pb.GetMemoryResponse] = Rpc(
    "store", MemoryServiceStub, "GetMemory"
)
GET_BATCH: Rpc[memory_pb.BatchGetMemoriesRequest, memory_pb.BatchGetMemoriesResponse] = Rpc(
    "store", MemoryServiceStub, "BatchGetMemories"
)
LIST: Rpc[memory_pb.ListMemoriesRequest, memory_pb.ListMemoriesResponse] = Rpc(
    "store", MemoryServiceStub, "ListMemories"
)
UPDATE: Rpc[memory_pb.UpdateMemoryRequest, memory_pb.UpdateMemoryResponse] = Rpc(
    "store", MemoryServiceStub, "UpdateMemory"
)
DELETE: Rpc[memory_pb.DeleteMemoryRequest, memory_pb.DeleteMemoryResponse] = Rpc(
    "store", MemoryServiceStub, "DeleteMemory"
)
WATCH: Rpc[change_pb.WatchChangesRequest, change_pb.WatchChangesResponse] = Rpc(
    "store", ChangeServiceStub, "WatchChanges"
)
STORE_STATUS: Rpc[memory_pb.GetStoreStatusRequest, memory_pb.GetStoreStatusResponse] = Rpc(
    "store", MemoryServiceStub, "GetStoreStatus"
)
RECALL: Rpc[allocator_pb.RecallRequest, allocator_pb.RecallResponse] = Rpc(
    "allocator", AllocatorServiceStub, "Recall"
)
SEARCH: Rpc[allocator_pb.SearchMemoriesRequest, allocator_pb.SearchMemoriesResponse] = Rpc(
    "allocator", AllocatorServiceStub, "SearchMemories"
)
ALLOCATE: Rpc[allocator_pb.AllocateRequest, allocator_pb.AllocateResponse] = Rpc(
    "allocator", AllocatorServiceStub, "Allocate"
)
STATUS: Rpc[allocator_pb.GetStatusRequest, allocator_pb.GetStatusResponse] = Rpc(
    "allocator", AllocatorServiceStub, "GetStatus"
)
EMBED: Rpc[embedder_pb.EmbedTextsRequest, embedder_pb.EmbedTextsResponse] = Rpc(
    "embedder", EmbedderServiceStub, "EmbedTexts"
)

_FILES = (memory_pb, change_pb, search_pb, index_pb, embedder_pb, allocator_pb)


@cache
def channel_options() -> tuple[tuple[str, int | str], ...]:
    """Return what every channel is opened with.

    UNAVAILABLE may hide an answer that was lost on its way, so only calls whose repeat does nothing twice
    are repeated: those that the contract calls idempotent, and writes with a request id. gRPC does it itself
    (https://github.com/grpc/grpc/blob/master/doc/service_config.md), within the deadline of the call.
    """
    retry_policy = {
        "maxAttempts": 4,
        "initialBackoff": "0.1s",
        "maxBackoff": "1s",
        "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
    names = [{"service": service, "method": method} for service, method in repeatable()]
    config = {"methodConfig": [{"name": names, "retryPolicy": retry_policy}]}
    return (
        ("grpc.service_config", json.dumps(config)),
        ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
        ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES),
        # A server that vanished without a word is noticed after at most 40 s, also by a quiet stream.
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.max_reconnect_backoff_ms", 5_000),
    )


def repeatable() -> Iterator[tuple[str, str]]:
    """Yield service and name of each RPC that may be repeated."""
    yield _HEALTH, "Check"
    for module in _FILES:
        file: FileDescriptor = module.DESCRIPTOR
        for service in file.services_by_name.values():
            for method in service.methods:
                options = method.GetOptions()
                # The clients give an id to each request of a write that takes one.
                has_id = options.Extensions[options_pb2.method].idempotent_with_request_id
                if has_id or options.idempotency_level != options.IDEMPOTENCY_UNKNOWN:
                    yield service.full_name, method.name
