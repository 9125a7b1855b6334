import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
import pytest
from contract.gateway.fakes import MemoryNotFound, World, client_of

from requirements import requirement
from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.gateway.settings import GatewaySettings
from satchel.runtime.errors import Code, InvalidRequest, Overloaded, RemoteError, ServiceError
from satchel.runtime.trace_records import decode_spans

MEMORIES = "/api/v1/memories"
JSON = {"Content-Type": "application/json"}
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


async def store(http: httpx2.AsyncClient, **fields: object) -> str:
    answer = await http.post(MEMORIES, json={"content": "The port is 8080.", "wing": "w1", **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@requirement("rest:json")
async def test_a_stored_memory_comes_back_whole_in_snake_case_words_and_utc(http: httpx2.AsyncClient) -> None:
    memory_id = await store(http, type="decision", metadata={"k": [1, 2.5, None]}, tags=["a"])

    memory = (await http.get(f"{MEMORIES}/{memory_id}")).json()

    assert memory["content"] == "The port is 8080."
    assert memory["type"] == "decision"
    assert memory["metadata"] == {"k": [1, 2.5, None]}
    assert memory["created_at"] == "2026-01-01T00:00:00Z"
    assert memory["revision"] == 1


@requirement("rest:json")
async def test_parts_and_the_state_of_the_index_are_words(http: httpx2.AsyncClient, world: World) -> None:
    world.allocator.degraded = [
        allocator_pb.PART_EMBEDDER,
        allocator_pb.PART_LEXICAL,
        allocator_pb.PART_INDEX,
    ]
    recalled = (await http.post(f"{MEMORIES}/recall", json={"query": "q"})).json()
    found = (await http.post(f"{MEMORIES}/search", json={"query": "q"})).json()
    status = (await http.get("/api/v1/status")).json()

    assert recalled["receipt"]["degraded"] == ["embedder", "lexical", "index"] == found["degraded"]
    assert [part["name"] for part in status["parts"]] == ["embedder", "index", "store"]
    assert status["index"]["state"] == "ready"


@requirement("doors:miras-clients")
async def test_an_id_with_miras_prefix_is_the_same_id(http: httpx2.AsyncClient) -> None:
    memory_id = await store(http)

    assert (await http.get(f"{MEMORIES}/T0:{memory_id.upper()}")).status_code == 200


@requirement("rest:json")
async def test_update_answers_with_the_memory_and_delete_with_nothing(http: httpx2.AsyncClient) -> None:
    memory_id = await store(http)

    updated = await http.put(f"{MEMORIES}/{memory_id}", json={"content": "The port is 9090."})
    deleted = await http.delete(f"{MEMORIES}/{memory_id}")

    assert (updated.status_code, updated.json()["content"]) == (200, "The port is 9090.")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (await http.delete(f"{MEMORIES}/{memory_id}")).status_code == 404


@requirement("rest:addresses")
async def test_a_body_that_contradicts_the_path_is_refused(http: httpx2.AsyncClient) -> None:
    memory_id = await store(http)

    answer = await http.put(f"{MEMORIES}/{memory_id}", json={"id": "another", "content": "x"})

    assert (answer.status_code, answer.json()["reason"]) == (422, "ERROR_REASON_FIELDS_CONFLICT")


@requirement("rest:json")
async def test_recall_answers_with_context_memories_and_receipt(http: httpx2.AsyncClient) -> None:
    memory_id = await store(http)

    answer = (await http.post(f"{MEMORIES}/recall", json={"query": "port?", "budget": 500})).json()

    assert answer["context"] == "The port is 8080."
    assert answer["memories"][0]["id"] == memory_id
    assert answer["memories"][0]["mode"] == "verbatim"
    assert (answer["total_tokens"], answer["budget_used"], answer["receipt"]["budget"]) == (7, 12.5, 500)


@requirement("doors:own-writes")
async def test_a_read_waits_for_the_newest_write_of_this_gateway(
    http: httpx2.AsyncClient, world: World
) -> None:
    await http.post(f"{MEMORIES}/recall", json={"query": "q"})
    await store(http)
    batch = {"memories": [{"content": "a", "wing": "w"}, {"content": "b", "wing": "w"}]}
    await http.post(f"{MEMORIES}/batch", json=batch)
    await http.post(f"{MEMORIES}/recall", json={"query": "q"})
    await http.post(f"{MEMORIES}/search", json={"query": "q", "min_revision": 1})

    assert [request.min_revision for request in world.allocator.requests] == [0, 3, 1]


@requirement("doors:own-writes")
@pytest.mark.parametrize(
    "unreached",
    [
        RemoteError("Not yet.", code=Code.UNAVAILABLE, reason="ERROR_REASON_REVISION_NOT_REACHED"),
        InvalidRequest.of("min_revision", "ERROR_REASON_FIELD_OUT_OF_RANGE", "min_revision is too great."),
    ],
)
async def test_a_revision_that_a_replaced_store_never_reaches_is_forgotten(
    http: httpx2.AsyncClient, world: World, unreached: ServiceError
) -> None:
    await store(http)
    world.allocator.unreached = unreached
    answers = [await http.post(f"{MEMORIES}/recall", json={"query": "q"}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert [request.min_revision for request in world.allocator.requests] == [1, 0, 0]


@requirement("doors:own-writes")
async def test_a_revision_that_the_caller_names_is_not_forgotten(
    http: httpx2.AsyncClient, world: World
) -> None:
    world.allocator.unreached = RemoteError(
        "Not yet.", code=Code.UNAVAILABLE, reason="ERROR_REASON_REVISION_NOT_REACHED"
    )
    answer = await http.post(f"{MEMORIES}/recall", json={"query": "q", "min_revision": 9})

    assert (answer.status_code, len(world.allocator.requests)) == (503, 1)


@requirement("rest:update")
@pytest.mark.parametrize(
    ("members", "mask"),
    [
        ({"content": ""}, ["content"]),
        ({"tags": [], "title": "t"}, ["tags", "title"]),
        ({"tags": "", "metadata": {}, "room": None}, ["tags", "metadata"]),
        ({"project": "p", "expected_version": 0}, []),
        ({"title": "t", "summary": "", "update_mask": "title"}, ["title"]),
    ],
)
async def test_an_update_without_a_mask_changes_the_members_that_are_there(
    http: httpx2.AsyncClient, world: World, members: Mapping[str, Any], mask: list[str]
) -> None:
    memory_id = await store(http)
    await http.put(f"{MEMORIES}/{memory_id}", json=members)

    assert sorted(mask) == sorted(world.store.requests[-1].update_mask.paths)


@requirement("rest:json")
async def test_a_fraction_for_a_whole_number_is_named(http: httpx2.AsyncClient) -> None:
    refused = await http.post(f"{MEMORIES}/recall", json={"query": "q", "budget": 2.5})
    huge = await http.post(f"{MEMORIES}/recall", json={"query": "q", "budget": 4e9})

    assert refused.json()["error"] == "budget must be a whole number, not 2.5: send a whole number."
    assert refused.json()["reason"] == "ERROR_REASON_FIELD_WRONG_TYPE"
    assert "not 4000000000:" in huge.json()["error"]


@requirement("doors:project")
async def test_the_project_header_counts_where_the_request_names_none(
    http: httpx2.AsyncClient, world: World
) -> None:
    headers = {"X-Satchel-Project": "alpha"}
    body = {"content": "x", "wing": "w"}
    await http.post(MEMORIES, json=body, headers=headers)
    await http.post(MEMORIES, json={**body, "project": "beta"}, headers=headers)
    await http.post(f"{MEMORIES}/batch", json={"memories": [body]}, headers=headers)

    first, second, third = world.store.requests
    assert (first.project, second.project, third.memories[0].project) == ("alpha", "beta", "alpha")
    assert [one["satchel-project"] for one in world.store.metadata] == ["alpha"] * 3


@requirement("doors:project")
async def test_the_project_header_may_be_any_text_in_utf8(http: httpx2.AsyncClient, world: World) -> None:
    headers = [(b"X-Satchel-Project", "Größe 🐋".encode()), (b"Content-Type", b"application/json")]
    answer = await http.post(MEMORIES, content=b'{"content": "x", "wing": "w"}', headers=headers)
    refused = await http.get(MEMORIES, headers={"X-Satchel-Project": "x" * 201})

    assert (answer.status_code, world.store.requests[0].project) == (201, "Größe 🐋")
    assert (refused.status_code, refused.json()["field"]) == (422, "project")


@requirement("doors:project", "trace:one-tree")
async def test_trace_and_credentials_go_on_as_metadata(http: httpx2.AsyncClient, world: World) -> None:
    headers = {"traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01", "Authorization": "Bearer sk_x"}
    answer = await http.get(MEMORIES, headers=headers)

    assert TRACE_ID in str(world.store.metadata[0]["traceparent"])
    assert world.store.metadata[0]["authorization"] == "Bearer sk_x"
    assert answer.headers["satchel-trace-id"] == TRACE_ID


@requirement("trace:on-demand")
async def test_a_demanded_trace_comes_back_with_one_root(http: httpx2.AsyncClient) -> None:
    answer = await http.get(MEMORIES, headers={"satchel-trace": "1"})

    spans = decode_spans(base64.b64decode(answer.headers["satchel-spans"]))
    ids = {span.span_id for span in spans}
    roots = [span.name for span in spans if span.parent_id not in ids]
    assert roots == ["GET /api/v1/memories"]
    assert len(spans) >= 3


@requirement("rest:errors")
async def test_an_error_carries_sentence_reason_field_limit_remedy_and_trace(
    http: httpx2.AsyncClient,
) -> None:
    answer = await http.post(MEMORIES, json={"content": "x"})

    body = answer.json()
    assert answer.status_code == 422
    assert "wing is required: set wing." == body["error"] == body["detail"]
    assert (body["code"], body["reason"]) == ("invalid_argument", "ERROR_REASON_FIELD_REQUIRED")
    assert (body["field"], body["limit"], body["remedy"]) == ("wing", "required", "set wing")
    assert body["violations"][0]["field"] == "wing"
    assert answer.headers["satchel-trace-id"] == body["trace_id"]


@requirement("rest:errors")
async def test_a_missing_memory_is_404_with_its_reason(http: httpx2.AsyncClient) -> None:
    answer = await http.get(f"{MEMORIES}/00000000-0000-0000-0000-000000000000")

    assert (404, MemoryNotFound.reason) == (answer.status_code, answer.json()["reason"])


@requirement("rest:overload")
async def test_overload_says_when_to_come_back(http: httpx2.AsyncClient, world: World) -> None:
    world.store.failure = Overloaded(queue="writes", limit=8, retry_after_s=2.5)

    answer = await http.get(MEMORIES)

    assert (
        answer.status_code,
        answer.headers["retry-after"],
        answer.json()["retry_after"],
    ) == (429, "3", 2.5)


@requirement("rest:errors")
async def test_a_fault_of_a_service_shows_nothing_of_its_cause(
    http: httpx2.AsyncClient, world: World
) -> None:
    world.store.failure = RuntimeError("secret path /data/x")

    answer = await http.get(MEMORIES)

    assert answer.status_code == 500
    assert "secret" not in answer.text


@requirement("rest:bad-bodies")
@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{", JSON, 400),
        (b'{"content": "x", "content": "y"}', JSON, 400),
        (b"\xff", JSON, 400),
        (b"[" * 100_000, JSON, 400),
        (b"[]", JSON, 422),
        (b"", {}, 422),
        (b"{}", {}, 415),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        (b"{}", {"Content-Type": "application/json; charset=utf-16"}, 415),
        (b"{}", {**JSON, "Content-Encoding": "gzip"}, 415),
        (b'{"content": "' + b"x" * (4 << 20) + b'"}', JSON, 413),
    ],
)
async def test_a_bad_body_is_refused_with_its_status(
    http: httpx2.AsyncClient, world: World, content: bytes, headers: dict[str, str], status: int
) -> None:
    answer = await http.post(MEMORIES, content=content, headers=headers)

    assert status == answer.status_code
    assert answer.json()["error"]
    assert world.store.requests == []


@requirement("rest:bad-bodies")
async def test_a_body_without_a_length_is_cut_off_at_the_limit(http: httpx2.AsyncClient) -> None:
    sent = 0

    async def endless() -> object:
        nonlocal sent
        while True:
            sent += 1 << 20
            yield b" " * (1 << 20)

    answer = await http.post(MEMORIES, content=endless(), headers=JSON)  # type: ignore[arg-type]  # an async generator

    assert answer.status_code == 413
    assert sent <= 8 << 20


@requirement("rest:addresses", "rest:errors")
async def test_unknown_paths_and_verbs_are_answered_in_json(http: httpx2.AsyncClient) -> None:
    lost = await http.get("/api/v1/nothing")
    refused = await http.patch(MEMORIES)
    asked = await http.options(f"{MEMORIES}/recall")
    documents = await http.post("/openapi.json")

    assert (
        lost.status_code,
        refused.status_code,
        asked.status_code,
        documents.status_code,
    ) == (404, 405, 204, 405)
    assert refused.headers["allow"] == "DELETE, GET, POST, HEAD, OPTIONS"
    assert asked.headers["allow"] == "POST, OPTIONS"
    assert lost.json()["error"].startswith("There is nothing at")
    assert lost.json()["reason"] == "ERROR_REASON_ROUTE_NOT_FOUND"
    assert lost.json()["metadata"] == {"method": "GET", "path": "/api/v1/nothing"}
    assert "GET" in documents.headers["allow"]
    assert documents.json()["code"] == "unimplemented"


@requirement("rest:addresses")
async def test_a_path_that_is_spelled_out_wins_over_an_id(http: httpx2.AsyncClient) -> None:
    assert (await http.get(f"{MEMORIES}/recall")).status_code == 405


@requirement("rest:addresses")
async def test_an_encoded_slash_stays_in_its_field(http: httpx2.AsyncClient) -> None:
    refused = await http.get(f"{MEMORIES}/a%2Fb")

    assert (refused.status_code, refused.json()["field"]) == (422, "id")


@requirement("rest:addresses")
@pytest.mark.parametrize("url", [f"{MEMORIES}/%ff", f"{MEMORIES}?wing=%ed%a0%80", f"{MEMORIES}?tag=%ff"])
async def test_bytes_that_are_no_text_are_refused_in_an_address(
    http: httpx2.AsyncClient, world: World, url: str
) -> None:
    refused = await http.get(url)

    assert (refused.status_code, refused.json()["reason"]) == (422, "ERROR_REASON_FIELD_INVALID_CHARACTER")
    assert world.store.requests == []


@requirement("rest:errors")
async def test_documents_tell_their_verbs_and_refusals_carry_a_trace(http: httpx2.AsyncClient) -> None:
    asked = await http.options("/docs")
    foreign = await http.get("/health", headers={"Host": "evil.example"})
    mistyped = await http.post("/mcp", content=b"{}", headers={"Content-Type": "text/plain"})

    assert (asked.status_code, asked.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    assert (foreign.status_code, mistyped.status_code) == (403, 415)
    assert all(refused.headers["satchel-trace-id"] for refused in (foreign, mistyped))


@requirement("rest:addresses")
async def test_query_parameters_are_typed_by_the_contract(http: httpx2.AsyncClient, world: World) -> None:
    assert (await http.get(f"{MEMORIES}?page_size=5&type=fact")).status_code == 200
    refused = await http.get(f"{MEMORIES}?page_size=many")
    unknown = await http.get(f"{MEMORIES}?colour=red")
    twice = await http.get(f"{MEMORIES}?wing=a&wing=b")

    assert (world.store.requests[0].page_size, world.store.requests[0].type) == (5, 2)
    assert refused.json()["reason"] == "ERROR_REASON_FIELD_WRONG_TYPE"
    assert unknown.json()["reason"] == "ERROR_REASON_FIELD_UNKNOWN"
    assert twice.json()["reason"] == "ERROR_REASON_FIELD_WRONG_TYPE"


@requirement("rest:same-site")
@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}]
)
@pytest.mark.parametrize("path", [f"{MEMORIES}/recall", "/mcp", "/health"])
@pytest.mark.parametrize("address", ["127.0.0.1:8080", "0.0.0.0:8080"])
async def test_foreign_hosts_and_pages_are_refused_on_every_address(
    world: World, headers: dict[str, str], path: str, address: str
) -> None:
    settings = GatewaySettings(http_address=address, open_to_network=True, allowed_hosts=("memory.example",))
    async with client_of(world, settings) as http:
        refused = await http.post(path, json={"query": "q"}, headers=headers)

    assert (refused.status_code, refused.json()["reason"]) == (403, "ERROR_REASON_PERMISSION_DENIED")
    assert world.allocator.requests == []


@requirement("rest:same-site")
@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "memory.example"])
async def test_an_open_gateway_answers_to_loopback_names_and_to_those_it_is_told(
    world: World, host: str
) -> None:
    settings = GatewaySettings(
        http_address="0.0.0.0:8080", open_to_network=True, allowed_hosts=("Memory.example",)
    )
    async with client_of(world, settings) as http:
        answer = await http.get(MEMORIES, headers={"Host": host, "Origin": f"http://{host}"})

    assert answer.status_code == 200


@requirement("rest:errors")
async def test_a_field_of_the_body_that_comes_in_the_query_is_told_to_be_one(
    http: httpx2.AsyncClient,
) -> None:
    refused = await http.delete(MEMORIES, params={"mode": "wing", "wing": "w"})
    unknown = await http.delete(MEMORIES, params={"modes": "wing"})

    problem = refused.json()
    assert (refused.status_code, problem["field"]) == (422, "mode")
    assert problem["reason"] == "ERROR_REASON_FIELD_UNKNOWN"
    assert problem["remedy"] == "send it as a member of the JSON object in the body"
    assert unknown.json()["limit"] == "none"


@requirement("rest:overload")
async def test_more_requests_than_the_limit_are_told_to_come_back_and_health_still_answers(
    world: World,
) -> None:
    is_waiting, may_end = asyncio.Event(), asyncio.Event()

    async def slow_body() -> AsyncIterator[bytes]:
        is_waiting.set()
        await may_end.wait()
        yield b'{"content": "x", "wing": "w"}'

    async with client_of(world, GatewaySettings(max_requests=1)) as http:
        first = asyncio.create_task(http.post(MEMORIES, content=slow_body(), headers=JSON))
        await is_waiting.wait()
        refused = await http.get(MEMORIES)
        alive = await http.get("/health/live")
        may_end.set()
        stored = await first
        again = await http.get(MEMORIES)

    assert [one.status_code for one in (refused, alive, stored, again)] == [503, 200, 201, 200]
    assert (refused.json()["reason"], refused.headers["retry-after"]) == ("ERROR_REASON_OVERLOADED", "1")
    assert refused.json()["metadata"]["limit"] == "1"


@requirement("rest:health")
async def test_health_tells_of_every_part(http: httpx2.AsyncClient, world: World) -> None:
    healthy = await http.get("/health")
    world.allocator.index_state = index_pb.INDEX_STATE_REBUILDING
    degraded = await http.get("/health")
    world.allocator.failing_parts = {allocator_pb.PART_STORE}
    unhealthy = await http.get("/health")
    unready = await http.get("/health/ready")

    assert (healthy.status_code, healthy.json()["status"]) == (200, "healthy")
    assert degraded.json()["checks"] == {"database": "pass", "vector_store": "warn", "embedder": "pass"}
    assert (degraded.status_code, degraded.json()["status"]) == (200, "degraded")
    assert (unhealthy.status_code, unhealthy.json()["status"], unready.status_code) == (503, "unhealthy", 503)
    assert (await http.get("/health/live")).json() == {"status": "alive"}


@requirement("rest:health")
async def test_health_without_an_allocator_asks_the_store(http: httpx2.AsyncClient, world: World) -> None:
    world.allocator.failure = RuntimeError("gone")
    await store(http)

    health = (await http.get("/health")).json()

    assert (
        health["status"],
        health["checks"]["database"],
        health["memory_count"],
    ) == ("unhealthy", "pass", 1)


@requirement("rest:viewer")
async def test_the_viewer_needs_nothing_from_outside(http: httpx2.AsyncClient) -> None:
    page = await http.get("/docs")

    assert page.status_code == 200
    assert "http" not in page.text.replace("http-equiv", "")
    for asset in ("docs/assets/swagger-ui.css", "docs/assets/swagger-ui-bundle.js", "docs/viewer.js"):
        assert asset in page.text
        assert (await http.get(f"/{asset}")).status_code == 200
    assert (await http.get("/docs/openapi.json")).json()["openapi"] == "3.0.3"
    assert (await http.get("/docs/assets/missing.js")).status_code == 404


@requirement("rest:derived")
async def test_the_document_is_openapi_3_1(http: httpx2.AsyncClient) -> None:
    document = json.loads((await http.get("/openapi.json")).text)

    assert document["openapi"] == "3.1.0"
    assert document["info"]["version"]
