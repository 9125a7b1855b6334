"""A tool that has nothing of ours, such as grpcurl, finds and calls everything by reflection."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from e2e.running import Running
from requirements import requirement

STORE = "satchel.api.store.v1.MemoryService"
ERROR_INFO = error_details_pb2.ErrorInfo.DESCRIPTOR.full_name


def contracts() -> dict[str, list[str]]:
    """Return the services of the contracts, each with its RPCs."""
    data = (files("satchel.api") / "descriptors.binpb").read_bytes()
    return {
        f"{file.package}.{service.name}": [method.name for method in service.method]
        for file in descriptor_pb2.FileDescriptorSet.FromString(data).file
        for service in file.service
    }


def reflected(channel: grpc.Channel) -> DescriptorPool:
    """Return a pool with what a server tells of itself, and nothing else."""
    return DescriptorPool(ProtoReflectionDescriptorDatabase(channel))


def told(address: str) -> dict[str, list[str]]:
    """Return the services that a server lists, each with its RPCs."""
    with grpc.insecure_channel(address) as channel:
        pool = reflected(channel)
        names = list(ProtoReflectionDescriptorDatabase(channel).get_services())
        return {name: [method.name for method in pool.FindServiceByName(name).methods] for name in names}


@pytest.fixture
def store(satchel: Running) -> Iterator[grpc.Channel]:
    """Reach the store."""
    with grpc.insecure_channel(satchel.store) as channel:
        yield channel


def call(channel: grpc.Channel, method: MethodDescriptor, fields: dict[str, object]) -> dict[str, Any]:
    """Make a call as a tool would: messages made of descriptors, with JSON before and after."""
    request = ParseDict(fields, GetMessageClass(method.input_type)())
    invoke = channel.unary_unary(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=type(request).SerializeToString,
        response_deserializer=GetMessageClass(method.output_type).FromString,
    )
    return MessageToDict(invoke(request, timeout=20), preserving_proto_field_name=True)


@requirement("server:reflection")
def test_every_service_of_the_contracts_is_told_whole(satchel: Running) -> None:
    addresses = sorted({satchel.embedder, satchel.index, satchel.store, satchel.allocator})

    everything = {name: rpcs for address in addresses for name, rpcs in told(address).items()}

    assert {name: rpcs for name, rpcs in everything.items() if name.startswith("satchel.")} == contracts()
    assert "grpc.health.v1.Health" in everything


@requirement("server:reflection")
def test_call_that_knows_only_what_it_was_told_works(store: grpc.Channel) -> None:
    methods = reflected(store).FindServiceByName(STORE).methods_by_name
    fields: dict[str, object] = {"content": "Told by reflection.", "wing": "mirror", "project": "reflection"}

    stored = call(store, methods["StoreMemory"], fields)
    read = call(store, methods["GetMemory"], {"id": stored["id"]})

    assert read["memory"]["content"] == "Told by reflection."


@requirement("server:reflection")
def test_details_of_an_error_are_told_too(store: grpc.Channel) -> None:
    methods = reflected(store).FindServiceByName(STORE).methods_by_name

    with pytest.raises(grpc.RpcError) as caught:
        call(store, methods["StoreMemory"], {"content": "x", "wing": "no such wing!"})

    trailing = {pair.key: pair.value for pair in caught.value.trailing_metadata()}
    details = status_pb2.Status.FromString(trailing["grpc-status-details-bin"]).details
    message = GetMessageClass(reflected(store).FindMessageTypeByName(ERROR_INFO))
    infos = [MessageToDict(message.FromString(one.value)) for one in details if one.TypeName() == ERROR_INFO]
    assert [info["reason"] for info in infos] == ["ERROR_REASON_FIELD_PATTERN_MISMATCH"]
