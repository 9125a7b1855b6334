"""The same bad input has the same reason at every door, and stores nothing."""

# ruff: noqa: ANN401, PLR0917  # bad values are of any type; a case has that many parts

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from contract.gateway.fakes import World
from google.protobuf.descriptor import FieldDescriptor
from misshapen import misshapen

from requirements import requirement
from satchel.gateway.caller import Caller
from satchel.gateway.mcp.server import ToolBox
from satchel.gateway.mcp.tools import ROWS
from satchel.gateway.metrics import GatewayMetrics
from satchel.gateway.transcoder.descriptors import (
    Contract,
    is_map,
    is_required,
    load_contract,
    message_class,
    rules_of,
)
from satchel.gateway.transcoder.routes import RouteTable
from satchel.runtime.errors import ServiceError

CONTRACT = load_contract()
VALID_ID = "0190a6b2-8f1e-7c3d-9a4b-5e6f70818293"
VALID: dict[str, dict[str, Any]] = {
    "StoreMemory": {"content": "x", "wing": "w"},
    "Recall": {"query": "q"},
    "GetMemory": {"id": VALID_ID},
    "SearchMemories": {"query": "q"},
    "GetStatus": {},
    "TraceCausalChain": {"id": VALID_ID},
    "ConsolidateMemories": {"wing": "w"},
    "ListTimeline": {},
    "ArchiveMemories": {},
    "UnarchiveMemories": {"ids": [VALID_ID]},
    "ClearMemories": {"mode": "CLEAR_MODE_GLOBAL"},
    "UpdateMemory": {"id": VALID_ID, "content": "x"},
    "DeleteMemory": {"id": VALID_ID},
    "IngestMessages": {"wing": "w", "messages": [{"role": "user", "content": "The oven is new."}]},
    "CaptureIdentity": {"agent_id": "a", "conversation": "Assistant: hi"},
    "UpdateIdentity": {"agent_id": "a", "directive": "be formal"},
    "PatchIdentity": {"agent_id": "a", "humor_level": 1},
    "SwapModel": {"agent_id": "a", "from_model": "a", "to_model": "b"},
    "RecallIdentity": {"agent_id": "a"},
    "GetIdentityDrift": {"agent_id": "a"},
    "GetIdentityStatus": {"agent_id": "a"},
    "ListIdentityHistory": {"agent_id": "a"},
}
TOOLS = {row.rpc: row for row in ROWS}
Case = tuple[str, str, Any, Any, str]
_ABSENT = object()


def is_text(field: FieldDescriptor) -> bool:
    return field.cpp_type == FieldDescriptor.CPPTYPE_STRING and field.type != FieldDescriptor.TYPE_BYTES


def is_number(field: FieldDescriptor) -> bool:
    return field.enum_type is None and field.cpp_type in {
        FieldDescriptor.CPPTYPE_INT32,
        FieldDescriptor.CPPTYPE_INT64,
        FieldDescriptor.CPPTYPE_DOUBLE,
    }


def missing_cases(field: FieldDescriptor) -> Iterator[tuple[str, Any, Any, str]]:
    yield "absent", _ABSENT, _ABSENT, "FIELD_REQUIRED"
    if is_text(field) and not field.is_repeated:
        yield "empty", "", "", "FIELD_REQUIRED"


def wire_cases(field: FieldDescriptor) -> Iterator[tuple[str, Any, Any, str]]:
    """Yield (what, value over gRPC, value in JSON, reason) that every door can be given."""
    rules = rules_of(field)
    if is_required(field):
        yield from missing_cases(field)
    if is_text(field):
        yield "NUL", "a\0b", "a\0b", "FIELD_INVALID_CHARACTER"
        if rules.not_blank:
            yield "blank", " \t", " \t", "FIELD_BLANK"
        if rules.max_length:
            long = "a" * (rules.max_length + 1)
            yield "long", long, long, "FIELD_TOO_LONG"
        if rules.pattern or rules.format:
            bad = misshapen(rules.pattern)
            yield "form", bad, bad, "FIELD_PATTERN_MISMATCH"
    if is_number(field) and rules.HasField("minimum"):
        yield "negative", -2, -2, "FIELD_OUT_OF_RANGE"
    if is_number(field) and rules.HasField("maximum"):
        yield "great", int(rules.maximum) + 1, int(rules.maximum) + 1, "FIELD_OUT_OF_RANGE"
    if field.cpp_type == FieldDescriptor.CPPTYPE_DOUBLE:
        yield "NaN", float("nan"), "NaN", "FIELD_OUT_OF_RANGE"
    if field.enum_type is not None:
        yield "enum", 99, "nonsense", "FIELD_UNKNOWN_ENUM_VALUE"


def json_cases(field: FieldDescriptor) -> Iterator[tuple[str, Any, str]]:
    """Yield (what, value, reason) that only JSON can express."""
    yield "number for it", 1.5 if not is_number(field) else "many", "FIELD_WRONG_TYPE"
    yield (
        "boolean for it",
        True if field.cpp_type != FieldDescriptor.CPPTYPE_BOOL else "true",
        "FIELD_WRONG_TYPE",
    )
    if is_text(field):
        yield "surrogate", "a\ud800", "FIELD_INVALID_CHARACTER"
    if is_number(field):
        yield (
            "huge",
            10**30 if field.cpp_type != FieldDescriptor.CPPTYPE_DOUBLE else "1e999",
            "FIELD_OUT_OF_RANGE",
        )
    if field.message_type is not None and field.message_type.full_name == "google.protobuf.Timestamp":
        yield "no time", "yesterday", "FIELD_PATTERN_MISMATCH"
        yield "no zone", "2026-01-01T00:00:00", "FIELD_PATTERN_MISMATCH"
    if field.message_type is not None and not field.message_type.full_name.startswith("google."):
        yield "unknown member", {"colour": 1}, "FIELD_UNKNOWN"


def fields_of_tools() -> Iterator[tuple[str, FieldDescriptor]]:
    for rpc in TOOLS:
        for field in CONTRACT.rpcs[rpc].input.fields:
            if not is_map(field):
                yield rpc, field


WIRE = [
    pytest.param(rpc, field, *case[1:], id=f"{rpc.rpartition('/')[2]}.{field.name}-{case[0]}")
    for rpc, field in fields_of_tools()
    for case in wire_cases(field)
]
JSON = [
    pytest.param(rpc, field, value, reason, id=f"{rpc.rpartition('/')[2]}.{field.name}-{what}")
    for rpc, field in fields_of_tools()
    for what, value, reason in json_cases(field)
    if not (field.enum_type is not None and what == "number for it")
]


async def reason_of_grpc(world: World, rpc_name: str, field: FieldDescriptor, value: Any) -> str:
    rpc = CONTRACT.rpcs[rpc_name]
    arguments = {**VALID[rpc.name], field.name: [value] if field.is_repeated else value}
    if value is _ABSENT:
        del arguments[field.name]
    request = message_class(rpc.input)(**arguments)
    with pytest.raises(ServiceError) as raised:
        await world.clients.call(rpc, request, timeout_s=5)
    return raised.value.reason


async def reason_of_rest(http: httpx2.AsyncClient, rpc_name: str, members: dict[str, Any]) -> str:
    route = next(route for route in RouteTable(CONTRACT) if route.rpc.full_name == rpc_name)
    path, query, body = route.rule.template, {}, None
    for name in route.path_fields:
        path = path.replace(f"{{{name}}}", quote(str(members.get(name) or VALID_ID)))
    if route.rule.body:
        body = members
    else:
        query = {name: value for name, value in members.items() if name not in route.path_fields}
    content = None if body is None else json.dumps(body)
    headers = {"Content-Type": "application/json"}
    answer = await http.request(route.rule.verb, path, params=query, content=content, headers=headers)
    assert answer.status_code == 422, answer.text
    problem = answer.json()
    assert all(problem[name] for name in ("field", "limit", "remedy"))
    return str(problem["reason"])


async def reason_of_mcp(world: World, rpc_name: str, members: dict[str, Any]) -> str:
    caller = Caller(CONTRACT, world.clients, GatewayMetrics(), timeout_s=5)
    row = TOOLS[rpc_name]
    result = await ToolBox(caller, world.clients, [row]).call(row.name, members, {})
    assert result.is_error
    assert all(result.structured_content[name] for name in ("field", "limit", "remedy"))
    return str(result.structured_content["reason"])


def members_of(rpc_name: str, field: FieldDescriptor, value: Any) -> dict[str, Any]:
    given = [value] if field.is_repeated and value is not _ABSENT else value
    members = {**VALID[rpc_name.rpartition("/")[2]], field.name: given}
    return {name: member for name, member in members.items() if member is not _ABSENT}


def travels_in_path(rpc_name: str, field: FieldDescriptor, value: Any) -> bool:
    route = next(route for route in RouteTable(CONTRACT) if route.rpc.full_name == rpc_name)
    in_path = field.name in route.path_fields
    return (in_path and (value is _ABSENT or not value)) or (
        not route.rule.body and not isinstance(value, str)
    )


@requirement("doors:same-errors")
@pytest.mark.parametrize(("rpc", "field", "over_grpc", "in_json", "reason"), WIRE)
async def test_bad_input_has_one_reason_over_grpc_rest_and_mcp(
    world: World,
    http: httpx2.AsyncClient,
    rpc: str,
    field: FieldDescriptor,
    over_grpc: Any,
    in_json: Any,
    reason: str,
) -> None:
    members = members_of(rpc, field, in_json)
    reasons = {
        "grpc": await reason_of_grpc(world, rpc, field, over_grpc),
        "mcp": await reason_of_mcp(world, rpc, members),
    }
    if not travels_in_path(rpc, field, in_json):
        reasons["rest"] = await reason_of_rest(http, rpc, members)

    assert dict.fromkeys(reasons, f"ERROR_REASON_{reason}") == reasons
    assert world.store.memories == {}


@requirement("doors:same-errors")
@pytest.mark.parametrize(("rpc", "field", "in_json", "reason"), JSON)
async def test_bad_json_has_one_reason_over_rest_and_mcp(
    world: World, http: httpx2.AsyncClient, rpc: str, field: FieldDescriptor, in_json: Any, reason: str
) -> None:
    members = members_of(rpc, field, in_json)
    reasons = {"mcp": await reason_of_mcp(world, rpc, members)}
    route = next(route for route in RouteTable(CONTRACT) if route.rpc.full_name == rpc)
    if route.rule.body and field.name not in route.path_fields:
        reasons["rest"] = await reason_of_rest(http, rpc, members)

    assert dict.fromkeys(reasons, f"ERROR_REASON_{reason}") == reasons
    assert world.store.memories == {}


@requirement("doors:same-errors")
@pytest.mark.parametrize("rpc", sorted(TOOLS))
async def test_an_unknown_field_is_refused_by_name(world: World, http: httpx2.AsyncClient, rpc: str) -> None:
    members = {**VALID[rpc.rpartition("/")[2]], "colour": "red"}
    reasons = {await reason_of_mcp(world, rpc, members), await reason_of_rest(http, rpc, members)}

    assert {"ERROR_REASON_FIELD_UNKNOWN"} == reasons


@requirement("doors:same-errors", "rest:bad-bodies")
async def test_deep_nesting_has_one_reason_at_every_door(world: World, http: httpx2.AsyncClient) -> None:
    deep: Any = {}
    for _ in range(40):
        deep = {"a": deep}
    members = {"content": "x", "wing": "w", "metadata": deep}
    caller = Caller(CONTRACT, world.clients, GatewayMetrics(), timeout_s=5)

    rest = await http.post("/api/v1/memories", json=members)
    mcp = await ToolBox(caller, world.clients).call("mira_store", members, {})

    assert (rest.status_code, rest.json()["reason"]) == (400, "ERROR_REASON_MALFORMED_MESSAGE")
    assert mcp.structured_content["reason"] == "ERROR_REASON_MALFORMED_MESSAGE"


@requirement("doors:same-errors")
def test_every_rpc_of_a_tool_has_a_valid_example(contract: Contract) -> None:
    assert {contract.rpcs[rpc].name for rpc in TOOLS} == set(VALID)
