import os
import stat
import threading
from pathlib import Path

import pytest

from satchel.cli.actions.output_file import opened_output
from satchel.cli.exits import CommandError, Exit


def write(output: Path, text: bytes) -> None:
    with opened_output(output) as file:
        file.write(text)


def test_a_file_is_replaced_when_the_new_one_is_complete(tmp_path: Path) -> None:
    output = tmp_path / "a.jsonl"
    output.write_bytes(b"old")

    with opened_output(output) as file:
        file.write(b"new")
        assert output.read_bytes() == b"old"

    assert output.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [output]


def test_an_export_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    output = tmp_path / "a.jsonl"
    output.write_bytes(b"old")

    with pytest.raises(TypeError), opened_output(output) as file:
        file.write("no bytes")  # type: ignore[call-overload]

    assert output.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [output]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "latest"
    link.symlink_to(tmp_path / "real" / "a.jsonl")

    write(link, b"text")

    assert link.is_symlink()
    assert (tmp_path / "real" / "a.jsonl").read_bytes() == b"text"


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()

    write(pipe, b"text")

    reader.join(10)
    assert found == [b"text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_stays_a_device() -> None:
    write(Path(os.devnull), b"text")

    assert Path(os.devnull).is_char_device()


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=f"{tmp_path}/none does not exist") as caught:
        write(tmp_path / "none" / "a.jsonl", b"text")

    assert caught.value.exit_code is Exit.USAGE


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is a folder"):
        write(tmp_path, b"text")


def test_the_rights_of_a_replaced_file_stay(tmp_path: Path) -> None:
    output = tmp_path / "a.jsonl"
    output.write_bytes(b"old")
    output.chmod(0o640)

    write(output, b"new")

    assert stat.S_IMODE(output.stat().st_mode) == 0o640
