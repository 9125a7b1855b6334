"""The store's errors, enums, names and settings against the contract."""

import enum
import inspect

import pytest
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from requirements import requirement
from satchel.api.errors.v1 import error_reason_pb2
from satchel.api.store.v1 import (
    change_service_pb2_grpc,
    lifecycle_service_pb2_grpc,
    memory_service_pb2,
    memory_service_pb2_grpc,
    search_service_pb2_grpc,
)
from satchel.api.types.v1 import memory_pb2
from satchel.runtime.errors import ServiceError
from satchel.store import errors
from satchel.store.extraction import Kind
from satchel.store.model import MemoryState, MemoryType, Relation, Sensitivity
from satchel.store.servicers.changes import ChangeServicer
from satchel.store.servicers.decoding import UPDATABLE
from satchel.store.servicers.lifecycle import LifecycleServicer
from satchel.store.servicers.memories import MemoryServicer
from satchel.store.servicers.search import SearchServicer

ENUMS = [
    (MemoryType, memory_pb2.MemoryType, "MEMORY_TYPE_"),
    (MemoryState, memory_pb2.MemoryState, "MEMORY_STATE_"),
    (Sensitivity, memory_pb2.Sensitivity, "SENSITIVITY_"),
    (Relation, memory_pb2.CausalRelation, "CAUSAL_RELATION_"),
]


@requirement("contract:served")
@pytest.mark.parametrize(("ours", "theirs", "prefix"), ENUMS)
def test_enums_equal_those_of_the_contract(
    ours: type[enum.IntEnum], theirs: EnumTypeWrapper, prefix: str
) -> None:
    named = {prefix + member.name: int(member) for member in ours}

    assert {**named, f"{prefix}UNSPECIFIED": 0} == dict(theirs.items())


@requirement("contract:served")
def test_types_have_the_names_of_the_extraction() -> None:
    assert {kind.name.lower() for kind in MemoryType} == {kind.value for kind in Kind}


@requirement("contract:errors")
def test_every_error_has_a_published_reason_of_its_own() -> None:
    own = [one for _, one in inspect.getmembers(errors, inspect.isclass) if one.__module__ == errors.__name__]
    reasons = [one.reason for one in own if issubclass(one, ServiceError)]

    assert len(reasons) == len(set(reasons)) == len(own)
    assert set(reasons) <= set(error_reason_pb2.ErrorReason.keys())


@requirement("contract:served")
@pytest.mark.parametrize(
    ("servicer", "base"),
    [
        (MemoryServicer, memory_service_pb2_grpc.MemoryServiceServicer),
        (SearchServicer, search_service_pb2_grpc.SearchServiceServicer),
        (ChangeServicer, change_service_pb2_grpc.ChangeServiceServicer),
        (LifecycleServicer, lifecycle_service_pb2_grpc.LifecycleServiceServicer),
    ],
)
def test_every_rpc_is_implemented(servicer: type, base: type) -> None:
    assert {name for name in vars(base) if name[0].isupper()} <= set(vars(servicer))


@requirement("contract:served", "update:mask")
def test_every_field_of_an_update_can_be_updated_but_those_that_name_the_memory_and_the_request() -> None:
    fields = set(memory_service_pb2.UpdateMemoryRequest.DESCRIPTOR.fields_by_name)

    assert set(UPDATABLE) == fields - {"id", "project", "update_mask", "expected_version", "request_id"}
