"""The synchronous client against a real Satchel."""

import sqlite3
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest

from e2e.running import Running
from satchel.api.store.v1.change_service_pb2 import CHANGE_KIND_DELETE
from satchel.api.types.v1.memory_pb2 import MEMORY_TYPE_DECISION, Memory
from satchel.client import (
    Aborted,
    DeadlineExceeded,
    Imported,
    InvalidArgument,
    NewMemory,
    NotFound,
    Satchel,
    Serving,
)

REASON = "We chose PostgreSQL over MySQL because the ledger needs ACID."


def test_what_is_remembered_is_recalled_within_the_budget(satchel: Satchel) -> None:
    stored = satchel.remember(REASON)

    answer = satchel.recall("Which database does the ledger use?", budget=200, min_revision=stored.revision)

    assert REASON in answer.context
    assert answer.total_tokens <= 200


def test_the_satchel_of_the_data_folder_is_found(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SATCHEL_URL", raising=False)
    monkeypatch.setenv("SATCHEL_DATA_DIR", str(running.data_dir))

    with Satchel() as client:
        assert client.health() is Serving.SERVING
        assert client.status().version


def test_a_batch_is_answered_in_order(satchel: Satchel) -> None:
    answers = satchel.remember_many(
        ["The oven is hot.", NewMemory(content=REASON, room="db")], wing="kitchen"
    )

    found = satchel.get_many([answers[1].id, "00000000-0000-7000-8000-000000000000", answers[0].id])
    assert [memory.content for memory in found] == [REASON, "The oven is hot."]
    assert (found[0].wing, found[0].room) == ("kitchen", "db")


def test_a_list_goes_through_all_pages(satchel: Satchel) -> None:
    satchel.remember_many([f"Order {number}." for number in range(7)])

    assert sorted(memory.content for memory in satchel.list(page_size=2)) == [f"Order {n}." for n in range(7)]


def test_a_search_finds_by_words_and_filter(satchel: Satchel) -> None:
    satchel.remember("Invoices go out on Mondays.", tags=["invoices"], type="fact")
    last = satchel.remember("Invoices were late in May.")

    found = satchel.search("invoices", tags=["invoices"], types=["fact"], min_revision=last.revision)

    assert [result.content for result in found.results] == ["Invoices go out on Mondays."]


def test_an_update_changes_and_clears(satchel: Satchel) -> None:
    memory_id = satchel.remember(REASON, title="Database", tags=["database"]).id

    changed = satchel.update(memory_id, type="decision", title=None, expected_version=1)

    assert (changed.type, changed.title, list(changed.given_tags)) == (MEMORY_TYPE_DECISION, "", ["database"])
    with pytest.raises(Aborted) as caught:
        satchel.update(memory_id, title="Other", expected_version=1)
    assert caught.value.metadata["actual_version"] == "2"


def test_a_deleted_memory_is_not_found(satchel: Satchel) -> None:
    memory_id = satchel.remember(REASON).id

    satchel.delete(memory_id)

    with pytest.raises(NotFound) as caught:
        satchel.get(memory_id)
    assert caught.value.reason == "ERROR_REASON_MEMORY_NOT_FOUND"
    assert caught.value.metadata == {"memory_id": memory_id}


def test_an_import_tells_of_every_record_and_one_bad_record_fails_alone(satchel: Satchel) -> None:
    told: list[Imported] = []

    report = satchel.import_(["One.", "  ", NewMemory(content="Two.", wing="kitchen")], progress=told.append)

    assert (report.stored, report.failed) == (2, 1)
    assert [one.error is None for one in told] == [True, False, True]
    assert isinstance(report.failures[0].error, InvalidArgument)
    assert report.failures[0].sequence == 2


def test_a_record_of_which_no_request_can_be_made_fails_alone_under_its_number(satchel: Satchel) -> None:
    records: list[Any] = [
        "One.",
        {"content": "Two.", "wings": "typo"},
        3,
        {"content": "Four.", "tags": 7},
        "Five.",
    ]
    told: list[Imported] = []

    report = satchel.import_(records, progress=told.append)

    assert (report.stored, report.failed) == (2, 3)
    assert [one.sequence for one in report.failures] == [2, 3, 4]
    assert all(isinstance(one.error, InvalidArgument) for one in report.failures)
    assert "Record 2 " in str(report.failures[0].error)
    assert "wings" in str(report.failures[0].error)
    assert sorted(one.sequence for one in told) == [1, 2, 3, 4, 5]


def test_an_import_takes_its_records_in_the_callers_thread(satchel: Satchel, tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "notes.db")  # refuses any other thread
    database.execute("CREATE TABLE note (text TEXT)")
    database.executemany("INSERT INTO note VALUES (?)", [(f"Note {number}.",) for number in range(1200)])

    report = satchel.import_(text for (text,) in database.execute("SELECT text FROM note"))

    database.close()
    assert report.stored == 1200


def test_an_import_that_is_repeated_stores_nothing_twice(satchel: Satchel) -> None:
    satchel.import_(["One.", "Two."])

    report = satchel.import_(["One.", "Two.", "Three."])

    assert (report.stored, report.duplicates) == (1, 2)


def test_an_error_of_the_records_ends_the_import(satchel: Satchel) -> None:
    def records() -> "list[str]":
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        satchel.import_(text for text in records())

    assert satchel.import_(["One."]).stored == 1


def test_an_error_of_the_progress_ends_the_import(satchel: Satchel) -> None:
    def stop(one: Imported) -> None:
        raise RuntimeError(f"stopped at {one.sequence}")

    with pytest.raises(RuntimeError, match="stopped at 1"):
        satchel.import_(["One.", "Two."], progress=stop)


def test_an_export_gives_everything_back(satchel: Satchel, running: Running, project: str) -> None:
    satchel.remember_many(["One.", "Two."], wing="kitchen")
    seen: list[tuple[int, int]] = []

    exported = list(satchel.export(progress=lambda done, total: seen.append((done, total))))

    assert [memory.content for memory in exported] == ["One.", "Two."]
    assert seen[-1] == (2, 2)
    with Satchel(running.store, project=f"{project}-copy") as copy:
        for memory in exported:
            memory.id = ""  # ids are unique in the store, so these would be duplicates
        assert copy.import_(map(as_new, exported)).stored == 2


def as_new(memory: Memory) -> NewMemory:
    """Return the memory as a new one."""
    return NewMemory(content=memory.content, wing=memory.wing)


def test_an_export_may_be_left_early(satchel: Satchel) -> None:
    satchel.remember_many(["One.", "Two."])

    exported = satchel.export()
    assert next(exported).content == "One."
    exported.close()  # type: ignore[attr-defined]  # a generator

    assert satchel.health() is Serving.SERVING


def test_a_watch_sees_what_happens_from_now_on(satchel: Satchel) -> None:
    satchel.remember("Before.")

    with satchel.watch() as watch:
        stored = satchel.remember("After.")
        change = next(iter(watch))

    assert (change.memory_id, change.revision) == (stored.id, stored.revision)


def test_a_watch_from_the_beginning_ends_at_the_head_when_asked_to(satchel: Satchel) -> None:
    kept, deleted = satchel.remember_many(["One.", "Two."])
    gone = satchel.delete(deleted.id)

    watch = satchel.watch(0, stop_at_head=True)
    changes = {change.memory_id: change.kind for change in watch}

    assert changes.keys() == {kept.id, deleted.id}
    assert changes[deleted.id] == CHANGE_KIND_DELETE
    assert watch.through_revision >= gone.revision
    assert watch.store_id


def test_a_watch_is_cancelled_from_another_thread(satchel: Satchel) -> None:
    watch = satchel.watch(0)
    responses = watch.responses()
    next(responses)
    ended = threading.Thread(target=watch.cancel)
    ended.start()

    assert list(responses) == []
    ended.join()
    assert watch.code() is grpc.StatusCode.CANCELLED


def test_a_watch_ends_with_its_deadline(satchel: Satchel) -> None:
    with pytest.raises(DeadlineExceeded) as caught:
        list(satchel.watch(timeout=0.5))

    assert caught.value.reason == "ERROR_REASON_DEADLINE_EXCEEDED"


def test_own_candidates_are_packed(satchel: Satchel) -> None:
    answer = satchel.allocate([{"id": "a", "content": "The oven is hot.", "relevance": 0.9}], budget=100)

    assert "The oven is hot." in answer.context


def test_rows_of_an_embedding_are_of_unit_length(satchel: Satchel) -> None:
    found = satchel.embed(["The oven is hot.", "Größe, 面粉, 🧾."])

    assert [round(sum(x * x for x in row), 4) for row in found.rows] == [1.0, 1.0]
    assert len(found.rows[0]) == found.response.dimension


def test_an_unknown_service_has_no_health(satchel: Satchel) -> None:
    with pytest.raises(NotFound):
        satchel.health("no.such.Service")
