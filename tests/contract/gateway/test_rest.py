import base64
import json

import httpx2
import pytest
from contract.gateway.fakes import MemoryNotFound, World

from satchel.runtime.errors import Overloaded
from satchel.runtime.trace_records import decode_spans

MEMORIES = "/api/v1/memories"
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


async def store(http: httpx2.AsyncClient, **fields: object) -> str:
    answer = await http.post(MEMORIES, json={"content": "The port is 8080.", "wing": "w1", **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def test_a_stored_memory_comes_back_whole_in_snake_case_words_and_utc(http: httpx2.AsyncClient) -> None:
    memory_id = await store(http, type="decision", metadata={"k": [1, 2.5, None]}, tags=["a"])

    memory = (await http.get(f"{MEMORIES}/{memory_id}")).json()

    assert memory["content"] == "The port is 8080."
    assert memory["type"] == "decision"
    assert memory["metadata"] == {"k": [1, 2.5, None]}
    assert memory["created_at"] == "2026-01-01T00:00:00Z"
    assert memory["revision"] == 1


async def test_an_id_with_miras_prefix_is_the_same_id(http: httpx2.AsyncClient) -> None:
    memory_id = await store(http)

    assert (await http.get(f"{MEMORIES}/T0:{memory_id.upper()}")).status_code == 200


async def test_update_answers_with_the_memory_and_delete_with_nothing(http: httpx2.AsyncClient) -> None:
    memory_id = await store(http)

    updated = await http.put(f"{MEMORIES}/{memory_id}", json={"content": "The port is 9090."})
    deleted = await http.delete(f"{MEMORIES}/{memory_id}")

    assert (updated.status_code, updated.json()["content"]) == (200, "The port is 9090.")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (await http.delete(f"{MEMORIES}/{memory_id}")).status_code == 404


async def test_a_body_that_contradicts_the_path_is_refused(http: httpx2.AsyncClient) -> None:
    memory_id = await store(http)

    answer = await http.put(f"{MEMORIES}/{memory_id}", json={"id": "another", "content": "x"})

    assert (answer.status_code, answer.json()["reason"]) == (422, "ERROR_REASON_FIELDS_CONFLICT")


async def test_recall_answers_with_context_memories_and_receipt(http: httpx2.AsyncClient) -> None:
    memory_id = await store(http)

    answer = (await http.post(f"{MEMORIES}/recall", json={"query": "port?", "budget": 500})).json()

    assert answer["context"] == "The port is 8080."
    assert answer["memories"][0]["id"] == memory_id
    assert answer["memories"][0]["mode"] == "verbatim"
    assert (answer["total_tokens"], answer["budget_used"], answer["receipt"]["budget"]) == (7, 12.5, 500)


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


async def test_trace_and_credentials_go_on_as_metadata(http: httpx2.AsyncClient, world: World) -> None:
    headers = {"traceparent": f"00-{TRACE_ID}-b7ad6b7169203331-01", "Authorization": "Bearer sk_x"}
    answer = await http.get(MEMORIES, headers=headers)

    assert TRACE_ID in str(world.store.metadata[0]["traceparent"])
    assert world.store.metadata[0]["authorization"] == "Bearer sk_x"
    assert answer.headers["satchel-trace-id"] == TRACE_ID


async def test_a_demanded_trace_comes_back_with_one_root(http: httpx2.AsyncClient) -> None:
    answer = await http.get(MEMORIES, headers={"satchel-trace": "1"})

    spans = decode_spans(base64.b64decode(answer.headers["satchel-spans"]))
    ids = {span.span_id for span in spans}
    roots = [span.name for span in spans if span.parent_id not in ids]
    assert roots == ["GET /api/v1/memories"]
    assert len(spans) >= 3


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


async def test_a_missing_memory_is_404_with_its_reason(http: httpx2.AsyncClient) -> None:
    answer = await http.get(f"{MEMORIES}/00000000-0000-0000-0000-000000000000")

    assert (404, MemoryNotFound.reason) == (answer.status_code, answer.json()["reason"])


async def test_overload_says_when_to_come_back(http: httpx2.AsyncClient, world: World) -> None:
    world.store.failure = Overloaded(queue="writes", limit=8, retry_after_s=2.5)

    answer = await http.get(MEMORIES)

    assert (
        answer.status_code,
        answer.headers["retry-after"],
        answer.json()["retry_after"],
    ) == (429, "3", 2.5)


async def test_a_fault_of_a_service_shows_nothing_of_its_cause(
    http: httpx2.AsyncClient, world: World
) -> None:
    world.store.failure = RuntimeError("secret path /data/x")

    answer = await http.get(MEMORIES)

    assert answer.status_code == 500
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{", {}, 400),
        (b'{"content": "x", "content": "y"}', {}, 400),
        (b"\xff", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b"[]", {}, 422),
        (b"", {}, 422),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        (b"{}", {"Content-Type": "application/json; charset=utf-16"}, 415),
        (b"{}", {"Content-Encoding": "gzip"}, 415),
        (b'{"content": "' + b"x" * (4 << 20) + b'"}', {}, 413),
    ],
)
async def test_a_bad_body_is_refused_with_its_status(
    http: httpx2.AsyncClient, world: World, content: bytes, headers: dict[str, str], status: int
) -> None:
    answer = await http.post(MEMORIES, content=content, headers=headers)

    assert status == answer.status_code
    assert answer.json()["error"]
    assert world.store.requests == []


async def test_a_body_without_a_length_is_cut_off_at_the_limit(http: httpx2.AsyncClient) -> None:
    sent = 0

    async def endless() -> object:
        nonlocal sent
        while True:
            sent += 1 << 20
            yield b" " * (1 << 20)

    answer = await http.post(MEMORIES, content=endless())  # type: ignore[arg-type]  # an async generator

    assert answer.status_code == 413
    assert sent <= 8 << 20


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
    assert refused.headers["allow"] == "GET, POST, HEAD, OPTIONS"
    assert asked.headers["allow"] == "POST, OPTIONS"
    assert lost.json()["error"].startswith("There is nothing at")
    assert "GET" in documents.headers["allow"]
    assert documents.json()["code"] == "unimplemented"


async def test_a_path_that_is_spelled_out_wins_over_an_id(http: httpx2.AsyncClient) -> None:
    assert (await http.get(f"{MEMORIES}/recall")).status_code == 405


async def test_an_encoded_slash_stays_in_its_field(http: httpx2.AsyncClient) -> None:
    refused = await http.get(f"{MEMORIES}/a%2Fb")

    assert (refused.status_code, refused.json()["field"]) == (422, "id")


@pytest.mark.parametrize("url", [f"{MEMORIES}/%ff", f"{MEMORIES}?wing=%ed%a0%80", f"{MEMORIES}?tag=%ff"])
async def test_bytes_that_are_no_text_are_refused_in_an_address(
    http: httpx2.AsyncClient, world: World, url: str
) -> None:
    refused = await http.get(url)

    assert (refused.status_code, refused.json()["reason"]) == (422, "ERROR_REASON_FIELD_INVALID_CHARACTER")
    assert world.store.requests == []


async def test_documents_tell_their_verbs_and_refusals_carry_a_trace(http: httpx2.AsyncClient) -> None:
    asked = await http.options("/docs")
    foreign = await http.get("/health", headers={"Host": "evil.example"})
    mistyped = await http.post("/mcp", content=b"{}", headers={"Content-Type": "text/plain"})

    assert (asked.status_code, asked.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    assert (foreign.status_code, mistyped.status_code) == (403, 415)
    assert all(refused.headers["satchel-trace-id"] for refused in (foreign, mistyped))


async def test_query_parameters_are_typed_by_the_contract(http: httpx2.AsyncClient, world: World) -> None:
    assert (await http.get(f"{MEMORIES}?page_size=5&type=fact")).status_code == 200
    refused = await http.get(f"{MEMORIES}?page_size=many")
    unknown = await http.get(f"{MEMORIES}?colour=red")
    twice = await http.get(f"{MEMORIES}?wing=a&wing=b")

    assert (world.store.requests[0].page_size, world.store.requests[0].type) == (5, 2)
    assert refused.json()["reason"] == "ERROR_REASON_FIELD_WRONG_TYPE"
    assert unknown.json()["reason"] == "ERROR_REASON_FIELD_UNKNOWN"
    assert twice.json()["reason"] == "ERROR_REASON_FIELD_WRONG_TYPE"


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}]
)
@pytest.mark.parametrize("path", [f"{MEMORIES}/recall", "/mcp", "/health"])
async def test_foreign_hosts_and_pages_are_refused_on_loopback(
    http: httpx2.AsyncClient, headers: dict[str, str], path: str
) -> None:
    assert (await http.post(path, json={"query": "q"}, headers=headers)).status_code == 403


async def test_health_tells_of_every_part(http: httpx2.AsyncClient, world: World) -> None:
    healthy = await http.get("/health")
    world.allocator.index_state = "rebuilding"
    degraded = await http.get("/health")
    world.allocator.failing_parts = {"store"}
    unhealthy = await http.get("/health")
    unready = await http.get("/health/ready")

    assert (healthy.status_code, healthy.json()["status"]) == (200, "healthy")
    assert degraded.json()["checks"] == {"database": "pass", "vector_store": "warn", "embedder": "pass"}
    assert (degraded.status_code, degraded.json()["status"]) == (200, "degraded")
    assert (unhealthy.status_code, unhealthy.json()["status"], unready.status_code) == (503, "unhealthy", 503)
    assert (await http.get("/health/live")).json() == {"status": "alive"}


async def test_health_without_an_allocator_asks_the_store(http: httpx2.AsyncClient, world: World) -> None:
    world.allocator.failure = RuntimeError("gone")
    await store(http)

    health = (await http.get("/health")).json()

    assert (
        health["status"],
        health["checks"]["database"],
        health["memory_count"],
    ) == ("unhealthy", "pass", 1)


async def test_metrics_count_calls_under_miras_names(http: httpx2.AsyncClient) -> None:
    await store(http)
    await http.post(f"{MEMORIES}/recall", json={"query": "q"})
    await http.post(MEMORIES, json={})

    lines = (await http.get("/metrics")).text.splitlines()

    figures = dict(line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
    assert figures["mira_store_total"] == "2.0"
    assert figures["mira_recall_total"] == "1.0"
    assert figures["mira_search_total"] == "0.0"
    assert figures["mira_errors_total"] == "1.0"
    assert figures["mira_store_duration_seconds_count"] == "2.0"
    assert (figures["mira_memory_count"], figures["mira_vector_count"]) == ("1.0", "2.0")
    assert (figures["mira_store_facts_total"], figures["mira_recall_selected_total"]) == ("2.0", "1.0")
    assert 'mira_embed_duration_seconds_bucket{le="+Inf"}' in figures
    assert (
        figures['satchel_http_requests_total{method="POST",route="/api/v1/memories/recall",status="200"}']
        == "1.0"
    )


async def test_the_viewer_needs_nothing_from_outside(http: httpx2.AsyncClient) -> None:
    page = await http.get("/docs")

    assert page.status_code == 200
    assert "http" not in page.text.replace("http-equiv", "")
    for asset in ("docs/assets/swagger-ui.css", "docs/assets/swagger-ui-bundle.js", "docs/viewer.js"):
        assert asset in page.text
        assert (await http.get(f"/{asset}")).status_code == 200
    assert (await http.get("/docs/openapi.json")).json()["openapi"] == "3.0.3"
    assert (await http.get("/docs/assets/missing.js")).status_code == 404


async def test_the_document_is_openapi_3_1(http: httpx2.AsyncClient) -> None:
    document = json.loads((await http.get("/openapi.json")).text)

    assert document["openapi"] == "3.1.0"
    assert document["info"]["version"]
