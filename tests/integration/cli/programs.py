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
    prefixes = ("SATCHEL_", "MIRA_", "OTEL_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(prefixes)}
    return {**kept, "SATCHEL_LOG_FORMAT": "text"}


def satchel(*arguments: str, stdin: bytes | None = None, **variables: str) -> Done:
    """Run a command to its end; without ``stdin`` nobody is there to answer."""
    done = subprocess.run(
        command(*arguments),
        input=b"" if stdin is None else stdin,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
        env={**environment(), **variables},
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


class Server:
    """A command that runs until it is stopped; its stdout goes to a file.

    Several can start at the same time: `wait` returns once one has said that it is ready.
    """

    def __init__(
        self, log: Path, *arguments: str, ready: str, log_level: str = "WARNING", **variables: str
    ) -> None:
        self._log = log
        with log.open("wb") as file:
            self._popen = subprocess.Popen(
                command(*arguments),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.PIPE,
                # Nobody reads the log while it runs: one that fills the pipe would stop it.
                env={**environment(), "SATCHEL_LOG_LEVEL": log_level, **variables},
            )
        self.pid = self._popen.pid
        self.lines: list[str] = []
        self._ready = ready

    def wait(self, text: str = "") -> "Server":
        """Read on until a line holds the text; without one, until it is ready."""
        assert self._popen.stderr is not None
        for line in self._popen.stderr:
            self.lines.append(line.decode().rstrip())
            if (text or self._ready) in self.lines[-1]:
                return self
        raise AssertionError("It never became ready:\n" + "\n".join(self.lines))

    @property
    def is_running(self) -> bool:
        return self._popen.poll() is None

    def address(self, name: str) -> str:
        """Return what `up` printed after a name."""
        line = next(line for line in self.lines if line.strip().startswith(name))
        return line.split()[1]

    def ask_to_stop(self, number: int = signal.SIGTERM) -> None:
        if self._popen.poll() is None:
            self._popen.send_signal(number)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.ask_to_stop(number)
        return self.ended()

    def ended(self) -> int:
        """Wait for the end of a server that was asked to stop."""
        self._popen.communicate(timeout=TIMEOUT_S)
        return self._popen.returncode
