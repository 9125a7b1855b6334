"""Routes, documents and schemas are what the contract says, all of it and nothing else."""

# ruff: noqa: ANN401  # schemas and generated values are of any type

import json
from collections.abc import Mapping
from functools import cache, partial
from importlib import import_module
from importlib.resources import files
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # no stubs among the dependencies
import pytest
from google.api import annotations_pb2
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from requirements import requirement
from satchel.api.errors.v1 import error_reason_pb2
from satchel.api.options.v1 import options_pb2
from satchel.api.store.v1 import memory_service_pb2
from satchel.gateway import errors
from satchel.gateway.health import SCHEMA as HEALTH_SCHEMA
from satchel.gateway.transcoder.codec import decode, dumps, encode, loads
from satchel.gateway.transcoder.descriptors import Contract, is_map, load_contract, message_class
from satchel.gateway.transcoder.openapi import OpenApi, make_openapi
from satchel.gateway.transcoder.routes import RouteTable
from satchel.gateway.transcoder.schemas import SchemaBook

CONTRACT = load_contract()
MESSAGES = sorted(
    (message for message in CONTRACT.messages() if not message.full_name.startswith("google.")),
    key=lambda message: message.full_name,
)
STUBS = [
    import_module(f"satchel.api.{package.name}.v1.{file.name.removesuffix('.py')}")
    for package in files("satchel.api").iterdir()
    if package.is_dir()
    for file in (package / "v1").iterdir()
    if file.name.endswith("_service_pb2.py")
]


@pytest.fixture(scope="module")
def document() -> OpenApi:
    return make_openapi(CONTRACT, RouteTable(CONTRACT), version="1.2.3", health=HEALTH_SCHEMA)


@requirement("rest:derived")
def test_routes_are_the_annotations_and_nothing_else() -> None:
    annotated = set()
    for module in STUBS:
        for service in module.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                rule = method.GetOptions().Extensions[annotations_pb2.http]
                verb = rule.WhichOneof("pattern")
                if verb:
                    annotated.add((verb.upper(), getattr(rule, verb), f"{service.full_name}/{method.name}"))

    derived = {(route.rule.verb, route.rule.template, route.rpc.full_name) for route in RouteTable(CONTRACT)}
    assert annotated == derived


@requirement("contract:rights")
def test_every_rpc_states_the_access_it_needs() -> None:
    assert [
        rpc.full_name for rpc in CONTRACT.rpcs.values() if rpc.access == options_pb2.ACCESS_UNSPECIFIED
    ] == []


@requirement("contract:commented")
def test_every_message_field_rpc_and_enum_value_of_the_contract_has_a_comment() -> None:
    silent = [message.full_name for message in MESSAGES if not CONTRACT.comment(message.full_name)]
    silent += [
        field.full_name
        for message in MESSAGES
        for field in message.fields
        if not CONTRACT.comment(field.full_name)
    ]
    silent += [rpc.full_name for rpc in CONTRACT.rpcs.values() if not rpc.comment]
    assert silent == []


@requirement("rest:derived")
def test_the_document_lists_every_route_with_success_and_failures(document: OpenApi) -> None:
    paths: Any = document["paths"]
    for route in RouteTable(CONTRACT):
        operation = paths[route.rule.template][route.rule.verb.lower()]
        assert str(route.rpc.http_success) in operation["responses"]
        assert {"400", "401", "403", "404", "422", "429", "500", "503", "504"} <= set(operation["responses"])
        assert operation["summary"]
        assert operation["operationId"] == route.rpc.name


@requirement("rest:derived")
def test_what_was_made_is_linked_to_all_that_its_address_can_do(document: OpenApi) -> None:
    paths: Any = document["paths"]
    linked = {
        place: {
            name: link["parameters"]
            for name, link in paths[place]["post"]["responses"]["201"]["links"].items()
        }
        for place in ("/api/v1/memories", "/api/v1/webhooks", "/api/v1/identities/{agent_id}/capture")
    }

    memory, webhook, identity = linked.values()
    assert {"GetMemory", "UpdateMemory", "DeleteMemory", "ListVersions"} <= memory.keys()
    assert {"GetWebhook", "UpdateWebhook", "DeleteWebhook", "TestWebhook"} == webhook.keys()
    assert {"GetIdentity", "GetIdentityDrift", "SwapModel", "PatchIdentity"} <= identity.keys()
    assert "RestoreVersion" not in memory
    assert [one["GetWebhook"] for one in (webhook,)] == [{"id": "$response.body#/webhook/id"}]
    assert identity["GetIdentity"] == {"agent_id": "$response.body#/agent_id"}


@requirement("rest:derived")
def test_every_schema_of_the_document_is_valid_and_every_reference_resolves(document: OpenApi) -> None:
    components: Any = document["components"]
    for schema in components["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    text = json.dumps(document)
    names = {part.partition('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert names <= set(components["schemas"])


@requirement("rest:derived")
def test_the_document_is_the_same_each_time(document: OpenApi) -> None:
    again = make_openapi(load_contract(), RouteTable(load_contract()), version="1.2.3", health=HEALTH_SCHEMA)
    assert json.dumps(document) == json.dumps(again)


@cache
def messages(descriptor: Descriptor, depth: int = 3) -> st.SearchStrategy[dict[str, Any]]:
    """Generate JSON objects for a message, in the form that the codec writes."""
    fields = {
        field.name: values(field, depth) for field in descriptor.fields if not _is_too_deep(field, depth)
    }
    made = st.fixed_dictionaries({}, optional=fields)
    for oneof in descriptor.oneofs:
        made = made.map(partial(_first_of, names=[field.name for field in oneof.fields]))
    return made


def _is_too_deep(field: Any, depth: int) -> bool:
    return (
        depth == 0
        and field.message_type is not None
        and not field.message_type.full_name.startswith("google.protobuf")
    )


def _first_of(found: dict[str, Any], names: list[str]) -> dict[str, Any]:
    given_names = [name for name in found if name in names]
    return {name: value for name, value in found.items() if name not in given_names[1:]}


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)


def values(field: Any, depth: int) -> st.SearchStrategy[Any]:
    if is_map(field):
        return st.dictionaries(TEXTS, single(field.message_type.fields_by_name["value"], depth), max_size=2)
    return st.lists(single(field, depth), max_size=2) if field.is_repeated else single(field, depth)


def single(field: Any, depth: int) -> st.SearchStrategy[Any]:
    if field.enum_type is not None:
        prefix = "".join(f"_{c}" if c.isupper() else c for c in field.enum_type.name).strip("_").upper() + "_"
        return st.sampled_from(
            [value.name.removeprefix(prefix).lower() for value in field.enum_type.values[1:]]
        )
    if field.message_type is not None:
        known = WELL_KNOWN.get(field.message_type.full_name)
        return messages(field.message_type, depth - 1) if known is None else known
    return SCALARS[field.type]


WELL_KNOWN: Mapping[str, st.SearchStrategy[Any]] = {
    "google.protobuf.Timestamp": st.datetimes().map(lambda moment: f"{moment.isoformat()}Z"),
    "google.protobuf.Struct": st.dictionaries(TEXTS, JSON_VALUES, max_size=2),
    "google.protobuf.FieldMask": st.lists(st.sampled_from(["title", "tags"]), min_size=1, max_size=2).map(
        ",".join
    ),
}
SCALARS: Mapping[int, st.SearchStrategy[Any]] = {
    1: st.floats(allow_nan=False, allow_infinity=False),
    3: st.integers(-(2**63), 2**63 - 1),
    5: st.integers(-(2**31), 2**31 - 1),
    8: st.booleans(),
    9: TEXTS,
    12: st.sampled_from(["", "AAAA", "AP8=", "/w=="]),
    13: st.integers(0, 2**32 - 1),
}


@requirement("contract:json")
@pytest.mark.parametrize("descriptor", MESSAGES, ids=lambda message: message.full_name)
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_message_survives_a_round_trip_through_json(
    descriptor: Descriptor, data: st.DataObject
) -> None:
    members = data.draw(messages(descriptor))
    message = decode(message_class(descriptor), members)

    written = encode(message)
    text = dumps(written)
    again = decode(message_class(descriptor), loads(text))

    assert message == again
    assert all(name in written or members[name] in ({}, None) for name in members)
    assert type(message).FromString(message.SerializeToString()) == message


@requirement("contract:json")
@pytest.mark.parametrize("descriptor", MESSAGES, ids=lambda message: message.full_name)
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_the_codec_writes_fits_the_schema_that_doors_show(
    descriptor: Descriptor, data: st.DataObject
) -> None:
    book = SchemaBook(CONTRACT, prefix="#/$defs/")
    schema = {**book.message(descriptor), "$defs": book.definitions}
    written = encode(decode(message_class(descriptor), data.draw(messages(descriptor))))

    loose = json.loads(json.dumps(_without_limits(schema)))
    faults = jsonschema.Draft202012Validator(loose).iter_errors(written)
    assert [fault.message for fault in faults] == []


LIMITS = ("minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems", "required")


def _without_limits(schema: Any) -> Any:
    """Return the shape alone: answers are not bound by what requests must keep."""
    if isinstance(schema, list):
        return [_without_limits(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    is_schema = "type" in schema or "$ref" in schema
    return {
        name: _without_limits(member)
        for name, member in schema.items()
        if not (is_schema and name in LIMITS and not isinstance(member, dict))
    }


@requirement("contract:json")
def test_the_codec_reads_what_protobufs_own_writes_for_plain_messages() -> None:
    message: Message = memory_service_pb2.StoreMemoryRequest(content="x", wing="w", tags=["a"])
    text = json_format.MessageToJson(message, preserving_proto_field_name=True)

    assert message == decode(memory_service_pb2.StoreMemoryRequest, loads(text))


@requirement("contract:errors")
def test_every_reason_that_a_door_uses_is_published(contract: Contract) -> None:
    known = set(error_reason_pb2.ErrorReason.keys())
    used = {
        member.reason for member in vars(errors).values() if isinstance(getattr(member, "reason", None), str)
    }
    assert used <= known
    assert contract.rpcs
