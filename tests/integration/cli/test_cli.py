"""The command line against a running Satchel, each command as a process of its own."""

import json
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from integration.cli.programs import Done, Server, command, environment, satchel

FREE = ("--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")
Run = Callable[..., Done]

NO_SUCH_ID = "0190b2c8-3b5e-7cc0-9a55-2b4c6d7e8f90"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli") / "data"


@pytest.fixture(scope="module")
def up(folder: Path) -> Iterator[Server]:
    server = Server(folder.parent / "up.log", "-d", str(folder), "up", *FREE, ready="gRPC").wait()
    yield server
    assert server.stop() == 0


@pytest.fixture
def run(folder: Path, up: Server) -> Run:  # noqa: ARG001
    def run_there(*arguments: str, stdin: bytes | None = None) -> Done:
        return satchel("-d", str(folder), *arguments, stdin=stdin)

    return run_there


def rest(up: Server, path: str, body: dict[str, object] | None = None) -> Any:  # noqa: ANN401
    url = up.address("REST") + path
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {"content-type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310
        return json.load(answer)


def test_a_stored_memory_is_recalled_with_the_bytes_of_rest(run: Run, up: Server) -> None:
    text = "The invoices go out on the first Monday."
    revision = json.loads(run("store", text, "-w", "bills", "--tag", "money", "--json").text)["revision"]
    question = {"query": "When do invoices go out?", "budget": 300, "wing": "bills"}
    question["reference_time"] = "2030-01-01T00:00:00Z"

    recalled = run(
        "recall",
        question["query"],
        "-b",
        "300",
        "-w",
        "bills",
        "--reference-time",
        str(question["reference_time"]),
        "--min-revision",
        str(revision),
    )

    assert recalled.out == rest(up, "/memories/recall", question)["context"].encode()
    assert b"first Monday" in recalled.out
    assert "of 300 tokens" in recalled.err


def test_json_is_what_rest_answers(run: Run, up: Server) -> None:
    stored = json.loads(run("store", "A fact.", "--json", "--metadata", '{"a": [1]}').text)

    assert json.loads(run("get", stored["id"], "--json").text) == rest(up, f"/memories/{stored['id']}")


def test_text_comes_from_stdin_and_back_exactly(run: Run) -> None:
    text = "  Zeile eins\n\nπ ≈ 3\n"

    memory_id = run("store", "-", stdin=text.encode()).text.strip()

    assert run("get", memory_id, "--raw").out == text.encode()


def test_the_same_text_is_stored_once(run: Run) -> None:
    first, second = (run("store", "Only once.", "-w", "once") for _ in range(2))

    assert first.out == second.out
    assert first.err.startswith("Stored")
    assert second.err.startswith("Already stored")


def test_search_lists_what_it_found(run: Run, up: Server) -> None:
    rest(up, "/memories", {"content": "The cat sleeps on the piano.", "wing": "cats"})

    found = run("search", "cat piano", "-w", "cats")
    as_json = json.loads(run("search", "cat piano", "-w", "cats", "--json").text)

    assert "The cat sleeps on the piano." in found.text
    assert [result["content"] for result in as_json["results"]] == ["The cat sleeps on the piano."]


def test_exit_codes_tell_what_happened(run: Run) -> None:
    expected = {
        ("get", NO_SUCH_ID): 3,
        ("get", "no-id"): 2,
        ("store", "x", "-t", "wish"): 2,
        ("recall",): 2,
        ("recall", "anything", "-w", "nowhere"): 0,
        ("recall", "anything", "-w", "nowhere", "--fail-empty"): 5,
        ("--url", "127.0.0.1:1", "status"): 4,
    }

    with ThreadPoolExecutor(2) as threads:
        codes = list(threads.map(lambda arguments: run(*arguments).code, expected))

    assert dict(zip(expected, codes, strict=True)) == expected


def test_with_json_an_error_is_json_on_stderr(run: Run) -> None:
    failed = run("get", NO_SUCH_ID, "--json")

    assert failed.out == b""
    assert json.loads(failed.err)["reason"] == "ERROR_REASON_MEMORY_NOT_FOUND"


def test_a_deletion_is_confirmed_or_forced(run: Run, up: Server) -> None:
    memory_id = rest(up, "/memories", {"content": "Delete me.", "wing": "gone"})["id"]

    refused = run("delete", memory_id)
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert rest(up, f"/memories/{memory_id}")["id"] == memory_id
    assert run("delete", memory_id, "--yes").code == 0
    with pytest.raises(urllib.error.HTTPError, match="404"):
        rest(up, f"/memories/{memory_id}")


def test_a_trace_shows_the_whole_way_of_a_recall(run: Run) -> None:
    traced = run("recall", "anything", "--trace").err

    assert traced.startswith("satchel.cli.recall")
    for part in ("AllocatorService/Recall", "EmbedderService/EmbedTexts", "SearchVectors", "SearchText"):
        assert part in traced


def test_an_explained_recall_says_why(run: Run, up: Server) -> None:
    rest(up, "/memories", {"content": "The explained owl hunts at night.", "wing": "owls"})

    told = run("recall", "When does the owl hunt?", "-w", "owls", "--explain").err.splitlines()

    heads = told[0].split()
    assert (heads[0], heads[-1]) == ("score", "why")
    row = told[1].split()
    assert row[1] == "1"  # by meaning
    assert row[3] == "1"  # by words
    assert row[5] == "chosen"


def test_the_tail_of_a_long_text_is_found_by_the_next_command(tmp_path: Path) -> None:
    alone = ("-d", str(tmp_path / "alone"))
    filler = "The weather station logs humidity and wind every minute of the day. " * 850
    satchel(*alone, "store", f"{filler}\nThe vault code of the archive room is 7319-KESTREL.", "-w", "long")

    answer = satchel(
        *alone, "recall", "What is the vault code of the archive room?", "-w", "long", "-b", "700"
    )

    assert "[excerpt of T0:" in answer.text
    assert "7319-KESTREL" in answer.text


def test_an_export_is_imported_elsewhere_without_a_loss(run: Run, tmp_path: Path) -> None:
    run("store", "Kept whole.", "-w", "whole", "--occurred-at", "2024-05-08T13:56:00Z", "--path", "a/b")
    exported, again = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    other = ("-d", str(tmp_path / "other"))

    assert run("export", "-o", str(exported), "-w", "whole").code == 0
    imported = json.loads(satchel(*other, "import", str(exported), "--json").text)
    satchel(*other, "export", "-o", str(again))

    assert (imported["stored"], imported["failed"]) == (1, 0)
    before, after = (json.loads(file.read_text()) for file in (exported, again))
    assert {**before, "revision": 0} == {**after, "revision": 0}
    assert run("export", "-w", "whole").out == exported.read_bytes()


def test_an_import_counts_what_it_stored_and_what_failed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"content": "One line."}\n{"content": ""}\nno json\n{"content": "x", "colour": 1}\n')

    first, second = (run("import", str(path), "-w", "lines", "--json") for _ in range(2))

    assert (first.code, second.code) == (1, 1)
    counts = json.loads(first.text)
    assert (counts["stored"], counts["failed"]) == (1, 3)
    assert {failure["record"] for failure in counts["failures"]} == {"a.jsonl:2", "a.jsonl:3", "a.jsonl:4"}
    assert json.loads(second.text)["duplicate"] == 1


def test_a_backup_of_all_projects_brings_each_back_where_it_was(run: Run, tmp_path: Path) -> None:
    for project in ("alpha", "beta"):
        run("-p", project, "store", f"Kept in {project}.", "-w", "backup")
    backup, other = tmp_path / "backup.jsonl", ("-d", str(tmp_path / "other"))

    assert run("export", "--all-projects", "-w", "backup", "-o", str(backup)).code == 0
    satchel(*other, "import", str(backup))

    kept = [json.loads(line) for line in satchel(*other, "export", "--all-projects").text.splitlines()]
    assert sorted(memory["project"] for memory in kept) == ["alpha", "beta"]
    assert run("export", "-w", "backup").out == b""


def test_turns_of_the_same_words_are_all_kept(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "yes.json"
    said = ["yes", "Sure?", "yes", ""]
    path.write_text(json.dumps([{"role": "user", "content": text} for text in said]))

    counts = [json.loads(run("import", str(path), "-w", "yes", "--json").text) for _ in range(2)]

    assert [(c["stored"], c["duplicate"], c["skipped"], c["failed"]) for c in counts] == [
        (3, 0, 1, 0),
        (0, 3, 1, 0),
    ]


def test_an_interrupted_import_tells_what_is_stored(folder: Path, up: Server, tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    text = "The long and winding report of every day of the year."
    path.write_text("".join(json.dumps({"content": f"{number}: {text}"}) + "\n" for number in range(3000)))
    log = tmp_path / "log"
    importing = Server(log, "-d", str(folder), "import", str(path), "-w", "many", ready="broke off")

    while not rest(up, "/memories?wing=many&page_size=1")["memories"]:
        assert importing.is_running
    importing.ask_to_stop(signal.SIGINT)
    importing.wait()

    assert "may be repeated" in importing.lines[-1]
    assert importing.stop(signal.SIGCONT) == 130


def test_a_start_is_quiet_and_further_signals_do_not_kill_what_is_leaving(tmp_path: Path) -> None:
    server = Server(
        tmp_path / "log", "-d", str(tmp_path / "data"), "up", *FREE, ready="gRPC  ", log_level="INFO"
    ).wait()
    loaders = [line for line in server.lines if "faiss" in line.lower()]
    server.ask_to_stop()
    server.wait("Satchel is stopping.")
    server.ask_to_stop()
    server.ask_to_stop(signal.SIGINT)

    assert (server.ended(), loaders) == (0, [])


def test_an_interrupt_ends_a_wait_for_input(folder: Path, up: Server) -> None:
    with subprocess.Popen(
        command("-d", str(folder), "import", "-", "-w", "waiting"),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as waiting:
        assert waiting.stdin is not None
        assert waiting.stderr is not None
        waiting.stdin.write(b'{"content": "First."}\n{"content": "Second."}\n')
        waiting.stdin.flush()
        while not rest(up, "/memories?wing=waiting")["memories"]:
            assert waiting.poll() is None
        waiting.send_signal(signal.SIGINT)
        told = waiting.stderr.read()

    assert (waiting.returncode, b"may be repeated" in told) == (130, True)


def test_a_deletion_of_several_names_each_once_and_what_is_missing(run: Run, up: Server) -> None:
    memory_id = rest(up, "/memories", {"content": "Delete me too.", "wing": "gone"})["id"]

    done = run("delete", NO_SUCH_ID, memory_id, f"T0:{memory_id.upper()}", "--yes")

    assert (done.code, done.err.count("Deleted")) == (3, 1)
    assert NO_SUCH_ID in done.err


def test_doctor_and_status_agree_on_the_size_of_the_database(run: Run) -> None:
    checks = json.loads(run("doctor", "--json").text)["checks"]
    (detail,) = [check["detail"] for check in checks if check["name"] == "database"]

    assert f"database  {detail.partition(', ')[2]}" in run("status").text


def test_a_damaged_database_is_told_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "satchel.db").write_bytes(b"no database" * 1000)

    failed = satchel("-d", str(tmp_path), "status")

    assert (failed.code, failed.err.count("\n")) == (4, 1)
    assert "damaged" in failed.err


def test_a_chat_becomes_a_session_in_order(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([{"role": "user", "content": f"Turn {number}."} for number in range(3)]))

    assert run("import", str(path), "-w", "talks").code == 0

    lines = [json.loads(line) for line in run("export", "-w", "talks").text.splitlines()]
    assert [(line["session_id"], line["session_order"], line["content"]) for line in lines] == [
        ("talk", number + 1, f"user: Turn {number}.") for number in range(3)
    ]


def test_a_changed_document_is_updated(run: Run, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    counts = []
    for text in ("# Plan\nGo by train.", "# Plan\nGo by train.", "# Plan\nGo by boat."):
        note.write_text(text)
        counts.append(json.loads(run("import", str(tmp_path), "-w", "notes", "--json").text))

    assert [(c["stored"], c["duplicate"], c["updated"]) for c in counts] == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


def test_a_dry_run_stores_nothing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Never stored.")

    assert "1 readable" in run("import", str(tmp_path), "-w", "dry", "--dry-run").text
    assert run("export", "-w", "dry").out == b""


def test_status_names_the_running_satchel(run: Run, up: Server) -> None:
    assert f"process {up.pid}" in run("status").text
    assert json.loads(run("status", "--json").text)["stats"]["verbatim_count"] >= 0


def test_doctor_finds_no_fault(run: Run) -> None:
    checked = run("doctor", "--json")

    report = json.loads(checked.text)
    assert [check for check in report["checks"] if check["verdict"] == "fail"] == []
    assert (checked.code, report["healthy"]) == (0, True)


def test_a_second_server_refuses_the_folder_and_names_the_first(run: Run, up: Server) -> None:
    refused = run("up", *FREE)

    assert refused.code == 4
    assert f"process {up.pid}" in refused.err


def test_a_store_apart_refuses_a_database_in_a_folder_that_is_owned(
    folder: Path, up: Server, tmp_path: Path
) -> None:
    refused = satchel(
        *("-d", str(tmp_path), "serve", "store", "--listen", "127.0.0.1:0"),
        SATCHEL_STORE_URL=f"sqlite:{folder}/satchel.db",
    )

    assert refused.code == 4
    assert f"process {up.pid}" in refused.err
    assert "SATCHEL_STORE_URL" in refused.err


def test_a_server_refuses_a_taken_port_and_an_open_address(up: Server, tmp_path: Path) -> None:
    other = ("-d", str(tmp_path / "other"), "up")

    taken = satchel(*other, "--grpc", up.address("gRPC"), "--http", "127.0.0.1:0")
    opened = satchel(*other, "--http", "0.0.0.0:0")

    assert (taken.code, "--grpc" in taken.err) == (4, True)
    assert (opened.code, "127.0.0.1" in opened.err) == (2, True)


def test_what_was_acknowledged_survives_a_killed_server(tmp_path: Path) -> None:
    place = ("-d", str(tmp_path / "data"))
    server = Server(tmp_path / "log", *place, "up", *FREE, ready="gRPC").wait()
    rest(server, "/memories", {"content": "Acknowledged before the kill.", "wing": "kept"})

    server.stop(signal.SIGKILL)

    assert "Acknowledged before the kill." in satchel(*place, "recall", "What was acknowledged?").text
