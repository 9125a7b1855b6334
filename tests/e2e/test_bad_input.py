"""Bad input is refused at every door with the same reason, by name, and stores nothing."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote, urlencode

import grpc
import httpx2
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.rpc import error_details_pb2, status_pb2

from e2e.bad_values import (
    CONTRACT,
    LEGAL,
    NOT_ON_WIRE,
    Bad,
    bad_values,
    fields_of,
    has_json,
    members,
    right,
    rpcs,
    wire,
)
from e2e.running import Running
from requirements import requirement
from satchel.api.errors.v1 import error_reason_pb2
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.api.store.v1 import memory_service_pb2_grpc as store_rpc
from satchel.gateway.mcp.tools import ROWS
from satchel.gateway.transcoder.descriptors import Rpc
from satchel.gateway.transcoder.routes import Route, RouteTable

PREFIX = "ERROR_REASON_"
PUBLISHED = frozenset(error_reason_pb2.ErrorReason.keys())
TOOLS = {row.rpc: row.name for row in ROWS}
ROUTES = {route.rpc.full_name: route for route in RouteTable(CONTRACT)}
FAULTS = frozenset(
    {
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    }
)
# A read that names a revision to come waits, and is then told that it has not come: no fault of the server.
NOT_REACHED = f"{PREFIX}REVISION_NOT_REACHED"
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
# Five processes answer with the code that one process runs; one case in so many shows that it is so.
SAMPLE_APART = 8
Path = tuple[FieldDescriptor, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a door said: reason, field and whether limit and remedy are there; empty for an answer."""

    reason: str
    field: str = ""
    is_whole: bool = True


ANSWERED = Refusal("")


class Doors:
    """The three doors of one Satchel."""

    def __init__(self, satchel: Running, http: httpx2.Client) -> None:
        self._http = http
        self._channels = {"allocator": grpc.insecure_channel(satchel.allocator)}
        self._channels["store"] = grpc.insecure_channel(satchel.store)
        self._store = store_rpc.MemoryServiceStub(self._channels["store"])

    def close(self) -> None:
        """Close the channels."""
        for channel in self._channels.values():
            channel.close()

    def stored(self) -> store_pb.GetStoreStatusResponse:
        """Return counts and head revision."""
        status = self._store.GetStoreStatus(store_pb.GetStoreStatusRequest(), timeout=10)
        status.database_bytes = 0
        return status

    def rest(self, route: Route, body: dict[str, Any]) -> Refusal:
        """Send JSON by the RPC's route."""
        path, rest = route.rule.template, dict(body)
        for name in route.path_fields:
            path = path.replace(f"{{{name}}}", quote(str(rest.pop(name)), safe="", errors="surrogatepass"))
        text = json.dumps(rest) if route.rule.body else None
        query = "" if route.rule.body else urlencode(rest, doseq=True, errors="surrogatepass")
        headers = {"Content-Type": "application/json"}
        answer = self._http.request(
            route.rule.verb, f"{path}?{query}" if query else path, content=text, headers=headers
        )
        if answer.status_code < 400:
            return ANSWERED
        refusal = _of_json(answer.json())
        assert answer.status_code < 500 or refusal.reason == NOT_REACHED, answer.text
        return refusal

    def mcp(self, tool: str, arguments: dict[str, Any]) -> Refusal:
        """Call the RPC's tool."""
        params = {"name": tool, "arguments": arguments}
        frame = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        answer = self._http.post("/mcp", content=frame, headers=MCP_HEADERS)
        assert answer.status_code == 200, answer.text
        result = answer.json()["result"]
        return _of_json(result["structuredContent"]) if result.get("isError") else ANSWERED

    def grpc(self, rpc: Rpc, request: bytes) -> Refusal:
        """Send the bytes of a message."""
        channel = self._channels["allocator" if ".allocator." in rpc.service else "store"]
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
            rpc.path, request_serializer=None, response_deserializer=None
        )
        try:
            call(request, timeout=20)
        except grpc.RpcError as error:
            metadata = cast("tuple[tuple[str, bytes], ...]", error.trailing_metadata())
            refusal = _of_details(dict(metadata).get("grpc-status-details-bin", b""))
            if error.code() in FAULTS and refusal.reason != NOT_REACHED:
                raise
            return refusal
        return ANSWERED


@pytest.fixture
def doors(satchel: Running) -> Iterator[Doors]:
    with httpx2.Client(base_url=satchel.http, timeout=20) as http:
        opened = Doors(satchel, http)
        yield opened
        opened.close()


def _of_json(problem: dict[str, Any]) -> Refusal:
    parts = all(problem.get(name) for name in ("error", "limit", "remedy"))
    violations = problem.get("violations", [])
    named = all(one["field"] and one["reason"] in PUBLISHED and one["description"] for one in violations)
    return Refusal(problem["reason"], problem.get("field", ""), parts and named)


def _of_details(packed: bytes) -> Refusal:
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status_pb2.Status.FromString(packed).details:
        detail.Unpack(info)
        detail.Unpack(bad)
    metadata = dict(info.metadata)
    named = all(one.field and one.description for one in bad.field_violations)
    return Refusal(info.reason, metadata.get("field", ""), bool(metadata.get("remedy")) and named)


def _answers(doors: Doors, rpc: Rpc, path: Path, bad: Bad) -> Iterator[tuple[str, Refusal]]:
    """Send a value through each door that can express it."""
    if has_json(bad):
        body = members(rpc.input, path, bad.json)
        route = ROUTES.get(rpc.full_name)
        if route is not None and _fits_url(route, path, bad):
            yield "rest", doors.rest(route, body)
        if rpc.full_name in TOOLS:
            yield "mcp", doors.mcp(TOOLS[rpc.full_name], body)
    if bad.wire is not NOT_ON_WIRE:
        yield "grpc", doors.grpc(rpc, wire(rpc.input, path, bad.wire))


def _fits_url(route: Route, path: Path, bad: Bad) -> bool:
    """Say whether a field that travels in the address can hold the value: a text, not empty in a path."""
    field = path[0]
    if field.name in route.path_fields:
        return isinstance(bad.json, str) and bad.json != "" and len(bad.json) < 4096
    return bool(route.rule.body) or (isinstance(bad.json, str) and len(bad.json) < 4096)


def _expected(door: str, bad: Bad) -> str:
    # protobuf refuses a message with such bytes before any field of it is known.
    is_unreadable = door == "grpc" and bad.name.endswith("surrogate")
    return f"{PREFIX}MALFORMED_MESSAGE" if is_unreadable else f"{PREFIX}{bad.reason}"


def _faults(doors: Doors, rpc: Rpc, path: Path, bad: Bad) -> Iterator[str]:
    name = ".".join(field.name for field in path)
    for door, refusal in _answers(doors, rpc, path, bad):
        wanted = _expected(door, bad)
        is_named = path[-1].name in refusal.field or "MALFORMED" in wanted
        if bad.reason == LEGAL:
            if refusal.reason and refusal.reason not in PUBLISHED:
                yield f"{name} {bad.name} over {door}: {refusal}"
        elif refusal.reason != wanted or not is_named or not refusal.is_whole:
            yield f"{name} {bad.name} over {door}: {refusal}, not {wanted}"


def _cases(rpc: Rpc, satchel: Running, *, legal: bool) -> list[tuple[Path, Bad]]:
    found = [
        (path, bad)
        for path in fields_of(rpc.input)
        for bad in bad_values(path[-1])
        if (bad.reason == LEGAL) is legal
    ]
    return found[::SAMPLE_APART] if satchel.url else found


@requirement("doors:same-errors")
@pytest.mark.parametrize("rpc", rpcs(), ids=lambda rpc: rpc.name)
def test_bad_input_is_refused_alike_at_every_door_and_stores_nothing(
    satchel: Running, doors: Doors, rpc: Rpc
) -> None:
    before = doors.stored()
    cases = _cases(rpc, satchel, legal=False)
    faults = [fault for path, bad in cases for fault in _faults(doors, rpc, path, bad)]

    assert not faults, "\n".join(faults)
    assert before == doors.stored()


@requirement("store:whole")
@pytest.mark.parametrize("rpc", [rpc for rpc in rpcs() if not rpc.is_write], ids=lambda rpc: rpc.name)
def test_odd_but_legal_input_is_never_a_fault_of_the_server(satchel: Running, doors: Doors, rpc: Rpc) -> None:
    cases = _cases(rpc, satchel, legal=True)
    faults = [fault for path, bad in cases for fault in _faults(doors, rpc, path, bad)]

    assert not faults, "\n".join(faults)


@requirement("doors:same-errors")
@pytest.mark.parametrize("rpc", rpcs(), ids=lambda rpc: rpc.name)
def test_an_unknown_field_is_refused_by_name(doors: Doors, rpc: Rpc) -> None:
    body = {**right(rpc.input), "colour": "red"}
    refusals = []
    if rpc.full_name in ROUTES:
        refusals.append(doors.rest(ROUTES[rpc.full_name], body))
    if rpc.full_name in TOOLS:
        refusals.append(doors.mcp(TOOLS[rpc.full_name], body))

    assert {Refusal("ERROR_REASON_FIELD_UNKNOWN", "colour")} == set(refusals)


@requirement("rest:update")
def test_members_that_are_there_are_updated_and_the_text_cannot_be_cleared(satchel: Running) -> None:
    api = f"{satchel.http}/api/v1/memories"
    body = {"wing": "masks", "content": "The gate is green.", "tags": ["painted"], "title": "Gate"}
    one = f"{api}/{httpx2.post(api, json=body).json()['id']}"
    refused = httpx2.put(one, json={"content": "", "title": "No gate"})
    changed = httpx2.put(one, json={"tags": [], "title": "Green gate"}).json()
    deleted = httpx2.delete(one)

    assert (refused.status_code, _of_json(refused.json())) == (
        422,
        Refusal(f"{PREFIX}FIELD_REQUIRED", "content"),
    )
    assert "cannot be cleared" in refused.json()["error"]
    assert (changed["content"], changed["title"]) == ("The gate is green.", "Green gate")
    assert "painted" not in changed["tags"]
    assert deleted.status_code == 204
