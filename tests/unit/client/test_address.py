import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from satchel.client import AddressError
from satchel.client.address import DEFAULT_URL, find_targets, parse_url

SOCKET = "unix:/tmp/satchel/owner-1.sock"


def own(folder: Path, **fields: object) -> dict[str, str]:
    """Write down an owner of the folder, by default this process; return an environment that names it."""
    owner = {"pid": os.getpid(), "grpc": SOCKET, "role": "mcp", **fields}
    # An owner never makes the file shorter.
    (folder / "satchel.lock").write_text(json.dumps(owner).ljust(512))
    return {"SATCHEL_DATA_DIR": str(folder)}


def test_the_argument_wins_over_the_environment(tmp_path: Path) -> None:
    environ = {**own(tmp_path), "SATCHEL_URL": "b:2"}

    assert find_targets("a:1", environ)["store"] == "a:1"


def test_the_environment_wins_over_the_data_folder(tmp_path: Path) -> None:
    environ = {**own(tmp_path), "SATCHEL_URL": "b:2"}

    assert find_targets("", environ)["store"] == "b:2"


def test_the_owner_of_the_data_folder_serves_all_parts(tmp_path: Path) -> None:
    assert set(find_targets("", own(tmp_path)).values()) == {SOCKET}


def test_the_data_folder_is_the_one_in_the_home_folder_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".satchel").mkdir()
    own(tmp_path / ".satchel")
    monkeypatch.setenv("HOME", str(tmp_path))

    assert find_targets("", {})["allocator"] == SOCKET


def test_without_an_owner_the_usual_port_is_called(tmp_path: Path) -> None:
    assert set(find_targets("", {"SATCHEL_DATA_DIR": str(tmp_path)}).values()) == {DEFAULT_URL}


def test_a_killed_owner_is_none(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()

    assert find_targets("", own(tmp_path, pid=ended.pid))["store"] == DEFAULT_URL


def test_a_single_command_is_no_owner_to_call(tmp_path: Path) -> None:
    assert find_targets("", own(tmp_path, role="command"))["store"] == DEFAULT_URL


@pytest.mark.parametrize("text", ["", " " * 512, '{"pid": 1', "[]", '{"pid": "x", "grpc": 3}'])
def test_a_lock_file_that_names_nobody_is_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "satchel.lock").write_text(text)

    assert find_targets("", {"SATCHEL_DATA_DIR": str(tmp_path)})["store"] == DEFAULT_URL


def test_a_store_that_runs_apart_wants_its_peers_named(tmp_path: Path) -> None:
    environ = own(tmp_path, role="serve store", grpc="127.0.0.1:50063")

    with pytest.raises(AddressError, match=r"url='store=127\.0\.0\.1:50063,allocator="):
        find_targets("", environ)


def test_one_address_serves_all_parts() -> None:
    assert parse_url("grpc://host:1/") == dict.fromkeys(("embedder", "index", "store", "allocator"), "host:1")


def test_parts_of_their_own_are_named() -> None:
    assert parse_url("store=a:1, allocator=unix:/b") == {"store": "a:1", "allocator": "unix:/b"}


@pytest.mark.parametrize("url", ["http://host:1", "store=", "store=a:1,gateway=b:2", "store=https://a:1"])
def test_what_is_no_address_is_refused_with_a_remedy(url: str) -> None:
    with pytest.raises(AddressError, match=r"Give host:port|The parts are"):
        parse_url(url)


@pytest.mark.parametrize("url", ["127.0.0.1", "127.0.0.1:99999", "127.0.0.1:0", "host:port", "store=host"])
def test_an_address_without_a_port_that_can_be_is_refused(url: str) -> None:
    with pytest.raises(AddressError, match="has no port"):
        parse_url(url)
