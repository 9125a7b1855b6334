"""The life of memories through the doors of a whole Satchel."""

from typing import Any

import httpx2

from e2e.running import Running
from requirements import requirement


def call(satchel: Running, verb: str, path: str, **sent: Any) -> Any:  # noqa: ANN401
    answer = httpx2.request(verb, f"{satchel.http}/api/v1{path}", timeout=60, **sent)
    assert answer.is_success, answer.text
    return answer.json()


def store(satchel: Running, wing: str, content: str, **fields: object) -> str:
    body = {"wing": wing, "content": content, **fields}
    return str(call(satchel, "POST", "/memories", json=body)["id"])


def recalled(satchel: Running, wing: str, question: str) -> list[str]:
    body = {"query": question, "wing": wing, "budget": 300}
    return [row["id"] for row in call(satchel, "POST", "/memories/recall", json=body)["memories"]]


@requirement("archive:never-found", "archive:undone", "doors:own-writes")
def test_an_archived_memory_is_not_recalled_until_it_is_brought_back(satchel: Running) -> None:
    question = "Where does the lighthouse keeper keep the oil?"
    kept = store(satchel, "lighthouse", "The lighthouse keeper keeps the lamp wicks in the attic.")
    shelved = store(satchel, "lighthouse", "The lighthouse keeper keeps the oil in the cellar.")
    before = recalled(satchel, "lighthouse", question)
    run = call(satchel, "POST", "/archive", json={"ids": [shelved]})
    during = recalled(satchel, "lighthouse", question)
    found = call(satchel, "POST", "/memories/search", json={"query": "oil cellar", "wing": "lighthouse"})
    loaded = call(satchel, "GET", f"/memories/{shelved}")
    back = call(satchel, "POST", "/unarchive", json={"batch_id": run["batch_id"]})
    after = recalled(satchel, "lighthouse", question)

    assert set(before) == set(after) == {kept, shelved}
    assert during == [kept]
    assert shelved not in [row["id"] for row in found["results"]]
    assert (loaded["state"], loaded["archive_batch_id"]) == ("archived", run["batch_id"])
    assert back["unarchived_ids"] == [shelved]


@requirement("archive:by-age", "doors:miras-clients")
def test_archiving_needs_no_body_and_answers_as_clients_of_mira_expect(satchel: Running) -> None:
    call(satchel, "POST", "/memories", json={"wing": "archives", "content": "We had a good talk today."})

    answer = httpx2.post(f"{satchel.http}/api/v1/archive")

    assert answer.status_code == 200, answer.text
    assert set(answer.json()["result"]) == {"session_notes", "debug_logs", "tokens_freed"}
    assert answer.json()["archived_ids"] == []


@requirement("timeline:order", "timeline:once", "timeline:filters", "doors:miras-clients")
def test_the_timeline_pages_through_times_of_any_zone(satchel: Running) -> None:
    times = ["2024-05-01T12:00:00.000001Z", "2024-05-01T12:00:00Z", "2024-05-01T13:59:59.999999+02:00"]
    ids = [store(satchel, "clock", f"bell {n}", occurred_at=at) for n, at in enumerate(times)]
    asked = {
        "wing": "clock",
        "limit": "2",
        "since": "2024-05-01T13:00:00+02:00",
        "until": "2024-05-02T00:00:00Z",
    }
    first = call(satchel, "GET", "/timeline", params=asked)
    second = call(satchel, "GET", "/timeline", params={**asked, "cursor": first["next_cursor"]})
    refused = httpx2.get(f"{satchel.http}/api/v1/timeline", params={"type": "wish"})

    assert [item["id"] for item in (*first["items"], *second["items"])] == ids
    assert set(first["items"][0]) == {"id", "timestamp", "type", "summary", "wing", "room"}
    assert first["items"][0]["timestamp"] == "2024-05-01T12:00:00.000001Z"
    assert not second.get("next_cursor")
    assert (refused.status_code, refused.json()["field"]) == (422, "type")


@requirement("clear:scope", "clear:counted-first", "clear:gone", "doors:miras-clients")
def test_a_room_is_counted_and_cleared_and_used_again(satchel: Running) -> None:
    body = {"mode": "room", "wing": "cellar", "room": "wine"}
    store(satchel, "cellar", "The red wine lies on the left.", room="wine")
    kept = store(satchel, "cellar", "The potatoes lie on the right.", room="food")
    counted = call(satchel, "DELETE", "/memories", json={**body, "dry_run": True})
    wrong = httpx2.request("DELETE", f"{satchel.http}/api/v1/memories", json={**body, "expected_count": 7})
    cleared = call(satchel, "DELETE", "/memories", json={**body, "expected_count": 1})
    left = recalled(satchel, "cellar", "Where does the red wine lie?")
    again = store(satchel, "cellar", "The red wine lies on the left.", room="wine")

    assert (counted["deleted_count"], wrong.json()["reason"]) == (1, "ERROR_REASON_COUNT_MISMATCH")
    assert (cleared["deleted_count"], cleared["mode"]) == (1, "room")
    assert left == [kept]
    assert again in recalled(satchel, "cellar", "Where does the red wine lie?")


@requirement("clear:gone", "clear:scope", "doors:own-writes")
def test_a_cleared_project_is_empty_and_works_on_at_once(satchel: Running) -> None:
    place = {"project": "short-lived"}
    store(satchel, "attic", "The trunk in the attic holds the maps.", **place)
    cleared = call(satchel, "DELETE", "/memories", json={"mode": "global", **place})
    status = call(satchel, "GET", "/status", params=place)
    kept = call(satchel, "GET", "/status")
    again = store(satchel, "attic", "The trunk in the attic holds the maps.", **place)
    question = {"query": "What does the trunk hold?", "wing": "attic", "budget": 300, **place}
    found = call(satchel, "POST", "/memories/recall", json=question)

    assert cleared["deleted_count"] == 1
    assert (status["stats"]["verbatim_count"], status["stats"]["total_tokens"]) == (0, 0)
    assert kept["stats"]["verbatim_count"] > 0
    assert [row["id"] for row in found["memories"]] == [again]


@requirement("clear:scope", "doors:miras-clients")
def test_a_clearing_without_a_mode_deletes_nothing(satchel: Running) -> None:
    kept = store(satchel, "shed", "The ladder stands in the shed.")

    bodies: list[dict[str, str] | None] = [None, {}, {"mode": "everything"}, {"mode": "room"}]
    refusals = [httpx2.request("DELETE", f"{satchel.http}/api/v1/memories", json=body) for body in bodies]

    assert {answer.status_code for answer in refusals} == {422}
    assert {answer.json()["field"] for answer in refusals} == {"mode", "wing"}
    assert recalled(satchel, "shed", "Where does the ladder stand?") == [kept]


@requirement("versions:listed", "versions:restored")
def test_an_older_version_is_listed_and_restored(satchel: Running) -> None:
    memory_id = store(satchel, "tower", "The bell rings at noon.", type="decision")
    call(satchel, "PUT", f"/memories/{memory_id}", json={"content": "The bell rings at midnight."})
    listed = call(satchel, "GET", f"/memories/{memory_id}/versions")
    restored = call(satchel, "POST", f"/memories/{memory_id}/versions/1/restore")
    found = call(satchel, "POST", "/memories/search", json={"query": "when the bell rings", "wing": "tower"})
    missing = httpx2.post(f"{satchel.http}/api/v1/memories/{memory_id}/versions/9/restore")

    shown = [(one["version"], one["memory"]["content"]) for one in listed["versions"]]
    assert shown == [(2, "The bell rings at midnight."), (1, "The bell rings at noon.")]
    assert (restored["version"], restored["content"], restored["type"]) == (
        3, "The bell rings at noon.", "decision",
    )  # fmt: skip
    assert [row["content"] for row in found["results"]] == ["The bell rings at noon."]
    assert (missing.status_code, missing.json()["reason"]) == (404, "ERROR_REASON_VERSION_NOT_FOUND")
