import asyncio
import errno
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from satchel.api.allocator.v1.allocator_service_pb2 import STRATEGY_KNAPSACK, RecallRequest
from satchel.cli.actions.addresses import bound_socket, require_loopback, split_address
from satchel.cli.actions.checks import Verdict
from satchel.cli.actions.checks_database import check_database
from satchel.cli.actions.doctor import run_checks
from satchel.cli.actions.serve import DEFAULT_ADDRESSES, database_file, environment
from satchel.cli.connect import named_error, parse_url
from satchel.cli.exits import CommandError, Exit, exit_for
from satchel.cli.failures import describe_os_error, report
from satchel.cli.logs import setup_command_logs
from satchel.cli.main import run
from satchel.cli.place import Place
from satchel.cli.session import request
from satchel.gateway.data_folder import DataFolder, FileLock, FolderUnusable, Owner, Ownership
from satchel.gateway.settings import is_loopback
from satchel.runtime.errors import Code, InvalidRequest, PeerUnavailable


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (Code.INVALID_ARGUMENT, Exit.USAGE),
        (Code.NOT_FOUND, Exit.NOT_FOUND),
        (Code.UNAVAILABLE, Exit.UNAVAILABLE),
        (Code.DEADLINE_EXCEEDED, Exit.UNAVAILABLE),
        (Code.INTERNAL, Exit.FAILED),
        (Code.ABORTED, Exit.FAILED),
    ],
)
def test_an_error_has_the_exit_code_that_is_documented(code: Code, expected: Exit) -> None:
    assert exit_for(code) is expected


def test_an_error_is_one_sentence_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(PeerUnavailable("The store is away."), as_json=False) == Exit.UNAVAILABLE
    assert capsys.readouterr().err == "satchel: The store is away.\n"


def test_with_json_an_error_is_what_the_other_doors_say(capsys: pytest.CaptureFixture[str]) -> None:
    report(InvalidRequest.of("wing", "ERROR_REASON_FIELD_REQUIRED", "It is needed."), as_json=True)

    shown = json.loads(capsys.readouterr().err)
    known = [shown["code"], shown["reason"], shown["field"], shown["error"]]
    assert known == ["invalid_argument", "ERROR_REASON_FIELD_REQUIRED", "wing", "It is needed."]


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (CommandError("It is wrong.", Exit.USAGE), "invalid_argument", "ERROR_REASON_MALFORMED_MESSAGE"),
        (CommandError("It is away.", Exit.UNAVAILABLE), "unavailable", "ERROR_REASON_PEER_UNAVAILABLE"),
        (OSError(errno.ENOSPC, "No space", "/x"), "resource_exhausted", "ERROR_REASON_STORE_FULL"),
        (OSError(errno.EACCES, "Denied", "/x"), "permission_denied", "ERROR_REASON_PERMISSION_DENIED"),
        (ValueError("surprise"), "internal", "ERROR_REASON_INTERNAL"),
    ],
)
def test_with_json_an_error_of_the_command_line_has_the_same_form(
    capsys: pytest.CaptureFixture[str], error: Exception, code: str, reason: str
) -> None:
    report(error, as_json=True)

    shown = json.loads(capsys.readouterr().err)
    assert {"error", "code", "reason", "metadata", "trace_id"} <= shown.keys()
    assert (shown["code"], shown["reason"]) == (code, reason)


@pytest.mark.parametrize(
    ("arguments", "field", "reason"),
    [
        (["recall", "x", "-b", "abc", "--json"], "budget", "ERROR_REASON_FIELD_WRONG_TYPE"),
        (["recall", "--json"], "question", "ERROR_REASON_FIELD_REQUIRED"),
        (["recall", "x", "--json", "--colour", "red"], "colour", "ERROR_REASON_FIELD_UNKNOWN"),
        (["store", "x", "--json", "--metadata", "{bad"], "metadata", "ERROR_REASON_MALFORMED_MESSAGE"),
        (["delete", "nope", "--json"], "id", "ERROR_REASON_FIELD_PATTERN_MISMATCH"),
    ],
)
def test_a_wrong_command_line_names_the_field(
    capsys: pytest.CaptureFixture[str], arguments: list[str], field: str, reason: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(arguments)

    shown = json.loads(capsys.readouterr().err)
    assert (ended.value.code, shown["field"], shown["reason"]) == (Exit.USAGE, field, reason)
    assert "Input should" not in shown["error"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["import", "/nowhere/a.md"], "no file or folder /nowhere/a.md"),
        (["store", "x", "--metadata", "{bad"], "malformed JSON"),
        (["-p", "a", "export", "--all-projects"], "exclude each other"),
    ],
)
def test_what_cannot_be_meant_is_told_as_wrong_usage(
    capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(arguments)

    assert ended.value.code == Exit.USAGE
    assert told in capsys.readouterr().err


def test_nothing_at_the_url_is_told_with_its_address() -> None:
    place = Place(Path(), "store=a:1,allocator=b:2")

    error = named_error(PeerUnavailable(peer="allocator"), place)

    assert "Nothing answers at b:2" in error.message
    assert named_error(PeerUnavailable("The embedder is away."), Place(Path())).message == (
        "The embedder is away."
    )


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/a/b"), "The disk of /a/b is full."),
        (OSError(errno.ENOENT, "No such file", "/a/b"), "There is no file or folder /a/b."),
        (OSError(errno.EISDIR, "Is a directory", "/a/b"), "/a/b cannot be used: is a directory."),
        (OSError(errno.EPIPE, "Broken"), "Broken."),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_a_sentence(error: OSError, told: str) -> None:
    assert describe_os_error(error).startswith(told)


def test_an_owner_that_does_not_fit_on_a_full_disk_is_told_in_a_place_that_is_kept(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    lock = FileLock.try_acquire(folder.lock_file)
    assert lock is not None
    ownership = Ownership(lock)
    before = folder.lock_file.stat().st_size

    ownership.publish(Owner(1, "127.0.0.1:1"))

    assert folder.owner() == Owner(1, "127.0.0.1:1")
    ownership.retract()
    assert (folder.owner(), folder.lock_file.stat().st_size) == (None, before)
    ownership.release()


def test_doctor_goes_on_where_the_locks_of_the_folder_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "satchel.gate").mkdir()

    found = run_checks(Place(tmp_path))

    verdicts = {check.name: check.verdict for check in found.checks}
    assert (found.are_healthy, found.status) == (False, None)
    assert verdicts["owner"] is Verdict.FAIL
    assert {"python", "packages", "model", "folder", "port 50051"} <= verdicts.keys()


def test_a_folder_whose_locks_cannot_be_opened_is_told_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "satchel.lock").mkdir()

    with pytest.raises(FolderUnusable, match="--data-dir"):
        DataFolder(tmp_path).is_owned()


def test_doctor_calls_a_damaged_database_damaged(tmp_path: Path) -> None:
    DataFolder(tmp_path).database.write_bytes(b"no database" * 1000)

    check = asyncio.run(check_database(DataFolder(tmp_path)))

    assert (check.verdict, "damaged" in check.detail) == (Verdict.FAIL, True)


def test_math_libraries_use_one_thread_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")

    with pytest.raises(SystemExit):
        run(["-h"])

    assert [os.environ[name] for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")] == ["1", "3"]
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")


def test_an_interrupt_ends_as_shells_expect() -> None:
    assert report(KeyboardInterrupt(), as_json=False) == 130


def test_words_and_times_are_read_as_at_the_other_doors() -> None:
    fields = {"strategy": "knapsack", "since": "2024-05-08T00:00:00Z", "wing": "", "tags": None}

    message = request(RecallRequest, query="q", **fields)

    assert (message.strategy, message.since.seconds, message.wing) == (STRATEGY_KNAPSACK, 1715126400, "")


def test_an_unknown_word_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidRequest, match="cba"):
        request(RecallRequest, query="q", strategy="best")


def test_one_url_reaches_every_service() -> None:
    assert set(parse_url("grpc://host:1").values()) == {"host:1"}


def test_a_url_may_name_services_apart() -> None:
    assert parse_url("store=a:1,allocator=b:2") == {"store": "a:1", "allocator": "b:2", "index": "a:1"}


@pytest.mark.parametrize("url", ["store=a:1", "stor=a:1,allocator=b:2"])
def test_a_url_that_names_no_or_an_unknown_service_is_refused(url: str) -> None:
    with pytest.raises(CommandError, match="--url"):
        parse_url(url)


def test_addresses_are_split_and_checked() -> None:
    assert split_address("[::1]:80", "--http") == ("::1", 80)
    for wrong in ("80", "host:", "host:x", "host:99999"):
        with pytest.raises(CommandError, match="--http"):
            split_address(wrong, "--http")


def test_only_this_machine_is_served_without_keys() -> None:
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert is_loopback("localhost")
    with pytest.raises(CommandError, match="other machines"):
        require_loopback("0.0.0.0:80", "--http", "Use 127.0.0.1.")
    require_loopback("0.0.0.0:80", "--http", "Use 127.0.0.1.", has_keys=True)


def test_a_taken_address_is_told_with_its_option() -> None:
    with bound_socket("127.0.0.1:0", "--http") as held:
        address = f"127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(CommandError, match="--http") as caught, bound_socket(address, "--http"):
            pass
    assert caught.value.exit_code is Exit.UNAVAILABLE


def test_services_find_each_other_without_settings(tmp_path: Path) -> None:
    found = environment("allocator", "", {}, DataFolder(tmp_path), {})

    assert found["SATCHEL_ALLOCATOR_LISTEN"] == DEFAULT_ADDRESSES["allocator"]
    assert found["SATCHEL_ALLOCATOR_STORE"] == DEFAULT_ADDRESSES["store"]


def test_the_command_line_wins_over_the_environment_and_that_over_defaults(tmp_path: Path) -> None:
    given = {"SATCHEL_INDEX_LISTEN": "127.0.0.1:1", "SATCHEL_INDEX_STORE": "store:2"}

    found = environment("index", "", {"store": "other:3"}, DataFolder(tmp_path), given)

    assert found == {
        "SATCHEL_INDEX_LISTEN": "127.0.0.1:1",
        "SATCHEL_INDEX_STORE": "other:3",
        "SATCHEL_INDEX_FOLDER": str(tmp_path / "index"),
    }


@pytest.mark.parametrize("scheme", ["sqlite:", "sqlite://"])
def test_the_database_that_a_url_names_is_found_behind_links(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert database_file(f"{scheme}{tmp_path}/link/a.db") == tmp_path.resolve() / "real" / "a.db"


@pytest.mark.parametrize("url", ["", "sqlite:", "postgres://host/a.db"])
def test_a_url_without_a_file_names_no_database(url: str) -> None:
    assert database_file(url) is None


@pytest.mark.parametrize(("chosen", "is_json"), [("json", True), ("text", False), ("", False)])
def test_commands_log_in_the_form_that_was_chosen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], chosen: str, *, is_json: bool
) -> None:
    monkeypatch.setenv("SATCHEL_LOG_FORMAT", chosen)
    root = logging.getLogger()
    before = root.handlers[:], root.level
    try:
        setup_command_logs()
        logging.getLogger("satchel").critical("event")
    finally:
        root.handlers[:], level = before
        root.setLevel(level)

    line = capsys.readouterr().err
    assert line.startswith("{") is is_json
    assert "event" in line


def test_help_imports_nothing_slow() -> None:
    program = (
        "import sys\nfrom satchel.cli.main import run\n"
        "try:\n    run(['--help'])\nexcept SystemExit:\n    pass\n"
        "slow = {'grpc', 'numpy', 'onnxruntime', 'faiss', 'mcp', 'rich', 'starlette'} & set(sys.modules)\n"
        "sys.exit(f'imported: {slow}' if slow else 0)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=dict(os.environ)
    )

    assert (done.returncode, done.stderr) == (0, "")
