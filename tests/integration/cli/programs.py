"""Runs the `satchel` command as a user does: as a process of its own."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_S = 90


@dataclass(frozen=True)
class Done:
    """A command that ended; stdout as bytes, since some of it is promised byte for byte."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "satchel.cli.main", *arguments]


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SATCHEL_", "OTEL_"))}
    return {**kept, "SATCHEL_LOG_FORMAT": "text"}


def satchel(*arguments: str, stdin: bytes | None = None) -> Done:
    """Run a command to its end; without ``stdin`` nobody is there to answer."""
    done = subprocess.run(  # noqa: S603
        command(*arguments),
        input=b"" if stdin is None else stdin,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
        env=environment(),
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


class Server:
    """A command that runs until it is stopped; its stderr goes to a file."""

    def __init__(self, log: Path, *arguments: str, ready: str) -> None:
        self._log = log
        with log.open("wb") as file:
            self._popen = subprocess.Popen(  # noqa: S603
                command(*arguments),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.PIPE,
                env=environment(),
            )
        self.pid = self._popen.pid
        self.lines: list[str] = []
        self._read_until(ready)

    def _read_until(self, ready: str) -> None:
        assert self._popen.stderr is not None
        for line in self._popen.stderr:
            self.lines.append(line.decode().rstrip())
            if ready in self.lines[-1]:
                return
        raise AssertionError("It never became ready:\n" + "\n".join(self.lines))

    def address(self, name: str) -> str:
        """Return what `up` printed after a name."""
        line = next(line for line in self.lines if line.strip().startswith(name))
        return line.split()[1]

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self._popen.poll() is None:
            self._popen.send_signal(number)
        self._popen.communicate(timeout=TIMEOUT_S)
        return self._popen.returncode
