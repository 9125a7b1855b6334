"""The commands timeline, archive, unarchive, clear, versions and restore, each as a process of its own."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from integration.cli.programs import Done, Server, satchel

Run = Callable[..., Done]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    base = tmp_path_factory.mktemp("lifecycle")
    folder = str(base / "data")
    free = ("--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")
    server = Server(Path(base / "up.log"), "-d", folder, "up", *free, ready="gRPC").wait()

    def run_there(*arguments: str) -> Done:
        return satchel("-d", folder, *arguments)

    yield run_there
    assert server.stop() == 0


def test_the_timeline_lists_the_newest_first_and_tells_how_to_go_on(run: Run) -> None:
    ids = [
        run(
            "store", f"The bell rang {n} times.", "-w", "clock", "--occurred-at", f"2024-05-0{n}T12:00:00Z"
        ).text
        for n in (1, 2, 3)
    ]
    page = run("timeline", "-w", "clock", "-n", "2")
    cursor = page.err.split("--cursor ")[1].strip()
    rest = run("timeline", "-w", "clock", "-n", "2", "--cursor", cursor)

    assert [line.split("  ")[1] for line in page.text.splitlines()] == [ids[2].strip(), ids[1].strip()]
    assert page.text.startswith("2024-05-03 12:00:00  ")
    assert ids[0].strip() in rest.text
    assert "cursor" not in rest.err
    assert run("timeline", "-w", "nowhere", "--fail-empty").code == 5


def test_what_was_archived_is_brought_back_by_the_id_that_was_printed(run: Run) -> None:
    memory_id = run("store", "The owl hunts at night.", "-w", "owls").text.strip()
    archived = run("archive", memory_id)
    hidden = run("search", "owl night", "-w", "owls").text
    counted = json.loads(run("archive", "--dry-run", "--json").text)
    back = run("unarchive", "--batch", archived.text.strip())

    assert "Archived 1 memory" in archived.err
    assert f"satchel unarchive --batch {archived.text.strip()}" in archived.err
    assert memory_id not in hidden
    assert counted["archived_count"] == 0
    assert back.text.strip() == memory_id
    assert memory_id in run("search", "owl night", "-w", "owls").text


def test_a_batch_that_nobody_archived_is_told_as_not_found(run: Run) -> None:
    unknown = "01a22d4b-9f0e-7c41-b7a5-0c6f6d7a1e52"

    done = run("unarchive", "--batch", unknown)

    assert (done.code, done.out) == (3, b"")
    assert f"No memory was archived by a run with the id {unknown}." in done.err


def test_a_clearing_is_counted_and_confirmed_or_forced(run: Run) -> None:
    for text in ("First.", "Second."):
        run("store", text, "-w", "gone")
    run("store", "Kept.", "-w", "kept")
    refused = run("clear", "-w", "gone")
    counted = run("clear", "-w", "gone", "--dry-run")
    nowhere = run("clear", "--dry-run")
    done = run("clear", "-w", "gone", "--yes", "--json")

    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert "Would delete 2 memories of default/gone." in counted.err
    assert (nowhere.code, "--global" in nowhere.err) == (2, True)
    assert json.loads(done.text)["deleted_count"] == 2
    assert json.loads(run("timeline", "-w", "gone", "--json").text)["items"] == []
    assert len(json.loads(run("timeline", "-w", "kept", "--json").text)["items"]) == 1


def test_an_older_version_is_shown_and_restored(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    note = folder / "a.md"
    for text in ("The bell rings at noon.", "The bell rings at midnight."):
        note.write_text(text)
        run("import", str(folder), "-w", "tower")
    memory_id = json.loads(run("timeline", "-w", "tower", "--json").text)["items"][0]["id"]
    listed = run("versions", memory_id)
    restored = run("restore", memory_id, "1")

    heads = [line for line in listed.text.splitlines() if line.startswith("version")]
    assert [head.split()[:3] for head in heads] == [["version", "2", "now"], ["version", "1", "until"]]
    assert "version 3 now" in restored.err
    assert run("get", memory_id, "--raw").text == "The bell rings at noon."
    assert run("restore", memory_id, "9").code == 3
