"""One data folder, one owner: proven with real processes."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from satchel.gateway.data_folder import DataFolder, FileLock, Owner, Ownership

PROGRAM = Path(__file__).with_name("home_process.py")


class Process:
    """A process of `home_process.py`."""

    def __init__(self, folder: Path, prefix: str, role: str = "mcp") -> None:
        self._popen = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder), prefix, role],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._popen.pid

    def order(self, line: str) -> None:
        assert self._popen.stdin is not None
        self._popen.stdin.write(line + "\n")
        self._popen.stdin.flush()

    def answer(self) -> dict[str, object]:
        assert self._popen.stdout is not None
        found: dict[str, object] = json.loads(self._popen.stdout.readline())
        return found

    def ask(self, line: str) -> dict[str, object]:
        self.order(line)
        return self.answer()

    def kill(self) -> None:
        self._popen.send_signal(signal.SIGKILL)
        self._popen.wait(10)

    def quit(self) -> int:
        if self._popen.poll() is None:
            self.order("quit")
        self._popen.communicate(timeout=20)
        return self._popen.returncode


Spawn = Callable[..., Process]


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Spawn]:
    processes: list[Process] = []

    def start(prefix: str, role: str = "mcp") -> Process:
        processes.append(Process(tmp_path / "home", prefix, role))
        return processes[-1]

    yield start
    for process in processes:
        process.quit()


def lines(tmp_path: Path) -> list[str]:
    return sorted((tmp_path / "home" / "lines.txt").read_text().split())


def test_two_agents_that_start_at_the_same_moment_share_one_store(tmp_path: Path, spawn: Spawn) -> None:
    first, second = spawn("a"), spawn("b")
    for process in (first, second):
        process.order("store 20")

    answers = [first.answer(), second.answer()]

    assert sorted(bool(answer["own"]) for answer in answers) == [False, True]
    assert answers[0]["owner"] == answers[1]["owner"]
    assert sorted(f"{prefix}-{n}" for prefix in "ab" for n in range(20)) == lines(tmp_path)


def test_a_guest_takes_over_when_the_owner_ends(tmp_path: Path, spawn: Spawn) -> None:
    owner, guest = spawn("a"), spawn("b")
    owner.ask("settle")
    assert {"own": False, "owner": owner.pid} == guest.ask("settle")

    assert owner.quit() == 0

    assert {"own": True, "owner": guest.pid} == guest.ask("store 3")
    assert lines(tmp_path) == ["b-0", "b-1", "b-2"]


def test_guests_of_a_killed_owner_agree_on_a_new_one_and_lose_nothing(tmp_path: Path, spawn: Spawn) -> None:
    owner, guests = spawn("a"), [spawn("b"), spawn("c")]
    owner.ask("settle")
    for guest in guests:
        assert guest.ask("settle")["owner"] == owner.pid
        guest.order("store 50")

    owner.kill()

    answers = [guest.answer() for guest in guests]
    assert len({answer["owner"] for answer in answers}) == 1
    assert answers[0]["owner"] in {guest.pid for guest in guests}
    assert sorted(f"{prefix}-{n}" for prefix in "bc" for n in range(50)) == lines(tmp_path)


def test_the_lock_of_a_killed_owner_blocks_nobody(spawn: Spawn) -> None:
    owner = spawn("a")
    owner.ask("settle")
    owner.kill()

    after = spawn("b")

    assert {"own": True, "owner": after.pid} == after.ask("settle")


def test_a_server_refuses_a_folder_that_an_agent_owns_and_names_it(spawn: Spawn) -> None:
    agent, server = spawn("a"), spawn("b", "up")
    agent.ask("settle")

    busy = str(server.ask("own")["busy"])

    assert f"process {agent.pid} ('satchel mcp'" in busy
    assert "--data-dir" in busy


def test_a_server_waits_for_a_single_command_to_end(spawn: Spawn) -> None:
    command, server = spawn("a", "command"), spawn("b", "up")
    command.ask("settle")
    server.order("own")

    assert command.quit() == 0

    assert server.answer() == {"own": True}


def test_the_folder_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    loose = tmp_path / "home"
    loose.mkdir(mode=0o755)
    folder = DataFolder(loose)

    folder.prepare()

    assert loose.stat().st_mode & 0o777 == 0o700


def test_a_lock_names_its_owner_until_it_retracts(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    lock = FileLock.try_acquire(folder.lock_file)
    assert lock is not None
    ownership = Ownership(lock)
    owner = Owner(pid=7, grpc="127.0.0.1:1", http="http://127.0.0.1:2", version="1", started_at="now")

    ownership.publish(owner)
    published = folder.owner()
    ownership.retract()

    assert owner == published
    assert folder.owner() is None
    assert folder.is_owned()
    ownership.release()
    assert not folder.is_owned()


async def test_a_wait_for_a_lock_ends_in_time_or_with_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    held = FileLock.try_acquire(path)
    assert held is not None

    assert await FileLock.acquire(path, 0.05) is None
    held.release()
    taken = await FileLock.acquire(path, 10)

    assert taken is not None
    taken.release()


def test_a_socket_is_in_the_folder_and_those_of_killed_owners_are_gone(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "with space")
    folder.prepare()
    left = folder.path / "owner-00000000.sock"
    left.touch()

    first, second = folder.new_socket(), folder.new_socket()

    assert first is not None
    assert first.startswith("unix:/")
    assert "with%20space/owner-" in first
    assert first != second
    assert not left.exists()


def test_a_folder_with_a_long_path_has_no_socket(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / ("x" * 100))
    folder.prepare()

    assert folder.new_socket() is None


def test_a_text_that_is_no_owner_names_nobody(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    for text in ("", "{", "[]", '{"grpc": "127.0.0.1:1"}'):
        folder.lock_file.write_text(text)

        assert folder.owner() is None
