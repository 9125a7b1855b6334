"""Every endpoint of MIRA, with the fields and the status codes that its clients know."""

from typing import Any
from urllib.parse import parse_qsl

import httpx2
import pytest

from e2e.door import Door
from requirements import requirement

NOBODY = "0190a6b2-8f1e-7c3d-9a4b-5e6f70818293"
TEXT = "We chose PostgreSQL for the ledger of Acme because it needs ACID."
FIELDS = {
    "stored": {"fingerprint_id", "type", "fact_count", "token_count", "model_hash"},
    "loaded": {"id", "content", "wing", "room", "token_count", "created_at"},
    "recalled": {"memories", "total_tokens", "budget_used"},
    "memory": {"candidate_id", "verbatim_id", "mode", "token_cost", "rendered", "selected_at"},
    "result": {"id", "content", "similarity", "type", "wing", "room"},
    "item": {"id", "timestamp", "type", "summary"},
    "status": {"stats", "models", "version", "uptime"},
}
STATS = {
    "verbatim_count",
    "fingerprint_count",
    "embedding_count",
    "causal_node_count",
    "causal_edge_count",
    "total_tokens",
    "type_counts",
    "active_wings",
}


@requirement("doors:miras-clients", "rest:json")
def test_storing_answers_201_and_takes_metrics_as_an_object(door: Door) -> None:
    body = {
        "content": TEXT,
        "wing": "api",
        "room": "r",
        "type": "fact",
        "metrics": {"score": 0.5, "tries": 3},
    }
    answer = door.send("POST", "/memories", body)
    stored = answer.json()

    assert (answer.status_code, stored["type"]) == (201, "fact")
    assert set(stored) >= FIELDS["stored"]
    assert door.load(stored["fingerprint_id"])["metadata"]["metrics"] == {"score": 0.5, "tries": 3}


@requirement("doors:miras-clients", "rest:json")
def test_a_memory_is_loaded_changed_and_deleted_by_its_id(door: Door) -> None:
    kept = door.store("api-one", TEXT)
    loaded = door.load(kept)
    changed = door.send("PUT", f"/memories/{kept}", {"content": "We chose SQLite."})
    deleted = door.send("DELETE", f"/memories/{kept}")

    assert set(loaded) >= FIELDS["loaded"]
    assert (changed.status_code, changed.json()["content"]) == (200, "We chose SQLite.")
    assert (changed.json()["id"], changed.json()["created_at"]) == (kept, loaded["created_at"])
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert door.send("GET", f"/memories/{kept}").status_code == 404


@requirement("doors:miras-clients", "recall:filters")
def test_recall_answers_with_its_memories_and_what_they_cost(door: Door) -> None:
    kept = door.store("api-recall", TEXT)
    body = {
        "wing": "api-recall",
        "room": "decisions",
        "fallback_wings": ["x"],
        "session_id": "s",
        "budget": 0,
    }
    answer = door.recall("Which database has the ledger?", **body)
    (memory,) = answer["memories"]

    assert set(answer) >= FIELDS["recalled"]
    assert set(memory) >= FIELDS["memory"]
    assert memory["candidate_id"] == memory["verbatim_id"] == kept
    assert answer["budget_used"] == pytest.approx(100 * answer["total_tokens"] / 4000)


@requirement("doors:miras-clients", "recall:search")
def test_search_answers_with_a_list_and_keeps_to_its_wing(door: Door) -> None:
    kept = door.store("api-search", TEXT)
    door.store("api-search-2", TEXT)
    body = {"query": "ledger database", "wing": "api-search", "top_k": 5, "threshold": 0.1}
    found = door.ask("POST", "/memories/search", body)["results"]
    none = door.ask("POST", "/memories/search", {"query": "ledger", "wing": "api-search-none"})

    assert [one["id"] for one in found] == [kept]
    assert set(found[0]) >= FIELDS["result"]
    assert none["results"] == []


@requirement("doors:miras-clients", "timeline:once", "timeline:filters")
def test_the_timeline_pages_without_a_wing_too_and_ends_without_a_cursor(door: Door) -> None:
    project = "api-timeline"
    ids = [door.store(f"w{n}", f"Bell {n}.", project=project) for n in range(3)]
    first = door.ask("GET", "/timeline", project=project, limit=2)
    last = door.ask("GET", "/timeline", project=project, limit=2, cursor=first["next_cursor"])

    assert [item["id"] for item in first["items"] + last["items"]] == ids[::-1]
    assert set(first["items"][0]) >= FIELDS["item"]
    assert not last["next_cursor"]


@requirement("doors:miras-clients", "status:counts")
def test_status_counts_under_miras_names(door: Door) -> None:
    kept = door.store("api-status", TEXT, project="api-status")
    door.store("api-status", "The ledger of Acme moved because of the disk.", project="api-status")
    status = door.ask("GET", "/status", project="api-status")

    assert set(status) >= FIELDS["status"]
    assert set(status["stats"]) >= STATS
    assert status["stats"]["verbatim_count"] == 2
    assert status["stats"]["active_wings"] == ["api-status"]
    assert sum(status["stats"]["type_counts"].values()) == 2
    assert door.load(kept)["token_count"] < status["stats"]["total_tokens"]


ERRORS: list[tuple[str, str, Any, int]] = [
    ("POST", "/memories", {"content": "x", "wing": "w", "type": "wish"}, 422),
    ("POST", "/memories", {"content": "x", "wing": "w", "room": "a b"}, 422),
    ("POST", "/memories", {"content": "x", "wing": "w", "metrics": {"x": "y" * 10_001}}, 422),
    ("GET", f"/memories/{NOBODY}", None, 404),
    ("GET", "/memories/no-id", None, 422),
    ("PUT", f"/memories/{NOBODY}", {"content": "x"}, 404),
    ("PUT", f"/memories/{NOBODY}", {"content": ""}, 422),
    ("PUT", f"/memories/{NOBODY}", {"content": "x" * 65_537}, 422),
    ("DELETE", f"/memories/{NOBODY}", None, 404),
    ("DELETE", "/memories/no-id", None, 422),
    ("POST", "/memories/recall", {}, 422),
    ("POST", "/memories/search", {"query": " "}, 422),
    ("POST", "/memories/search", {"query": "x", "top_k": 1001}, 422),
    ("POST", "/memories/consolidate", {}, 422),
    ("DELETE", "/memories", {}, 422),
    ("GET", "/timeline?type=wish", None, 422),
    ("GET", "/timeline?cursor=bad", None, 422),
    ("GET", f"/causal/{NOBODY}", None, 404),
    ("GET", "/causal/no-id", None, 422),
    ("GET", f"/causal/{NOBODY}?max_depth=many", None, 422),
]


@requirement("doors:miras-clients", "rest:errors", "doors:same-errors")
@pytest.mark.parametrize(("verb", "path", "body", "code"), ERRORS)
def test_what_is_wrong_has_its_status_and_a_sentence(
    door: Door, verb: str, path: str, body: object, code: int
) -> None:
    place, _, query = path.partition("?")
    answer = door.send(verb, place, body, **dict(parse_qsl(query)))

    assert answer.status_code == code
    assert answer.json()["error"].endswith(".")
    assert answer.json()["reason"].startswith("ERROR_REASON_")


@requirement("doors:miras-clients", "rest:bad-bodies")
@pytest.mark.parametrize("content", [b"{", b"", b"[]", b"null", b"\xff"])
def test_a_body_that_is_no_object_of_json_is_refused(door: Door, content: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = httpx2.post(f"{door.http}/api/v1/memories", content=content, headers=headers)

    assert answer.status_code in {400, 422}
    assert answer.json()["error"]
