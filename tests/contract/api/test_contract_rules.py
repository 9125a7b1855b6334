"""The contracts keep the house's rules, and each one is served."""

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest
from google.api import annotations_pb2, field_behavior_pb2
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import FieldDescriptor, FileDescriptor, MethodDescriptor

from requirements import requirement
from satchel.api.errors.v1 import error_reason_pb2
from satchel.api.options.v1 import options_pb2


def contract_files() -> list[FileDescriptor]:
    """Load the descriptor set that ships in the wheel."""
    image = descriptor_pb2.FileDescriptorSet.FromString(
        (files("satchel.api") / "descriptors.binpb").read_bytes()
    )
    pool = descriptor_pool.Default()
    names = [file.name for file in image.file if file.name.startswith("satchel/")]
    for name in names:
        __import__(name.removesuffix(".proto").replace("/", ".") + "_pb2")
    return [pool.FindFileByName(name) for name in names]


def methods() -> Iterator[MethodDescriptor]:
    for file in contract_files():
        for service in file.services_by_name.values():
            yield from service.methods


def fields() -> Iterator[FieldDescriptor]:
    for file in contract_files():
        for message in file.message_types_by_name.values():
            yield from message.fields


@requirement("contract:rights")
@pytest.mark.parametrize("method", list(methods()), ids=lambda method: method.full_name)
def test_every_rpc_says_which_right_it_needs(method: MethodDescriptor) -> None:
    rules = method.GetOptions().Extensions[options_pb2.method]

    assert rules.access != options_pb2.ACCESS_UNSPECIFIED


@requirement("contract:repeatable")
@pytest.mark.parametrize("method", list(methods()), ids=lambda method: method.full_name)
def test_exactly_the_rpcs_that_only_read_are_said_to_have_no_side_effects(method: MethodDescriptor) -> None:
    options = method.GetOptions()
    only_reads = options.Extensions[options_pb2.method].access == options_pb2.ACCESS_READ

    assert (options.idempotency_level == options.NO_SIDE_EFFECTS) == only_reads


@requirement("contract:repeatable")
@pytest.mark.parametrize("method", list(methods()), ids=lambda method: method.full_name)
def test_exactly_the_rpcs_that_take_a_request_id_may_be_repeated_with_it(method: MethodDescriptor) -> None:
    rules = method.GetOptions().Extensions[options_pb2.method]

    assert rules.idempotent_with_request_id == ("request_id" in method.input_type.fields_by_name)


@requirement("contract:languages")
@pytest.mark.parametrize("file", contract_files(), ids=lambda file: file.name)
def test_every_file_has_packages_and_a_java_class_of_its_own(file: FileDescriptor) -> None:
    options = file.GetOptions()
    stem = file.name.rpartition("/")[2].removesuffix(".proto")
    inside = {*file.message_types_by_name, *file.enum_types_by_name, *file.services_by_name}

    assert options.go_package.startswith("satchel.dev/go/api/")
    assert options.java_package == f"dev.{file.package}"
    assert options.java_outer_classname == f"{stem.title().replace('_', '')}Proto"
    assert options.java_outer_classname not in inside


@requirement("contract:messages")
@pytest.mark.parametrize("method", list(methods()), ids=lambda method: method.full_name)
def test_every_rpc_has_a_request_and_a_response_of_its_own(method: MethodDescriptor) -> None:
    assert (f"{method.name}Request", f"{method.name}Response") == (
        method.input_type.name,
        method.output_type.name,
    )


@requirement("contract:messages")
def test_no_two_rpcs_share_a_route() -> None:
    routes = []
    for method in methods():
        rule = method.GetOptions().Extensions[annotations_pb2.http]
        verb = rule.WhichOneof("pattern")
        if verb:
            routes.append((verb, re.sub(r"\{[^}]*\}", "{}", getattr(rule, verb))))

    assert sorted(set(routes)) == sorted(routes)


@requirement("contract:limits")
def test_every_text_that_a_client_sends_has_a_greatest_length() -> None:
    unbounded = [
        field.full_name
        for field in request_fields()
        if field.type == FieldDescriptor.TYPE_STRING and not bounded(field)
    ]

    assert unbounded == []


@requirement("contract:limits")
def test_every_list_that_a_client_sends_has_a_greatest_size() -> None:
    unbounded = [
        field.full_name
        for field in request_fields()
        if field.is_repeated and not field.GetOptions().Extensions[options_pb2.field].max_items
    ]

    assert unbounded == []


def request_fields() -> Iterator[FieldDescriptor]:
    """Yield the fields of messages named like requests."""
    return (
        field
        for field in fields()
        if field.containing_type is not None
        and field.containing_type.name.endswith(("Request", "Filter", "Options"))
    )


def bounded(field: FieldDescriptor) -> bool:
    rules = field.GetOptions().Extensions[options_pb2.field]
    return bool(rules.max_length or rules.pattern or rules.format)


@requirement("contract:limits")
def test_required_fields_are_marked_by_field_behavior_only_in_requests_and_their_parts() -> None:
    required = [
        field.full_name
        for field in fields()
        if field_behavior_pb2.REQUIRED in field.GetOptions().Extensions[field_behavior_pb2.field_behavior]
    ]

    assert "satchel.api.store.v1.StoreMemoryRequest.content" in required
    assert [name for name in required if "Response" in name] == []


@requirement("contract:errors")
def test_every_error_reason_states_its_code_and_its_metadata() -> None:
    image = descriptor_pb2.FileDescriptorSet.FromString(
        (files("satchel.api") / "descriptors.binpb").read_bytes()
    )
    file = next(file for file in image.file if file.name.endswith("error_reason.proto"))
    comments = {
        file.enum_type[0].value[place.path[3]].name: place.leading_comments
        for place in file.source_code_info.location
        if len(place.path) == 4 and list(place.path[:3]) == [5, 0, 2]
    }

    incomplete = [
        name
        for name, comment in comments.items()
        if name != "ERROR_REASON_UNSPECIFIED" and not re.search(r"Code: [A-Z_]+\. Metadata: ", comment)
    ]

    assert incomplete == []
    assert set(error_reason_pb2.ErrorReason.keys()) == set(comments)
