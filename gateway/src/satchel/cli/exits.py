"""The exit codes of the command line, and which error gives which. Part of the interface: see docs/cli.md."""

from enum import IntEnum

from satchel.runtime.errors import Code


class Exit(IntEnum):
    """What a script can tell from the exit code."""

    OK = 0
    FAILED = 1  # the service refused or failed
    USAGE = 2  # the command or a field of the request is wrong
    NOT_FOUND = 3  # no such memory
    UNAVAILABLE = 4  # Satchel cannot be reached, or the data folder is busy, damaged or cannot be written
    EMPTY = 5  # nothing was found, and --fail-empty asked for this code
    INTERRUPTED = 130  # Ctrl-C, as shells say it: 128 + SIGINT


_BY_CODE = {
    Code.INVALID_ARGUMENT: Exit.USAGE,
    Code.OUT_OF_RANGE: Exit.USAGE,
    Code.NOT_FOUND: Exit.NOT_FOUND,
    Code.UNAVAILABLE: Exit.UNAVAILABLE,
    Code.DEADLINE_EXCEEDED: Exit.UNAVAILABLE,
}


def exit_for(code: Code) -> Exit:
    """Return the exit code of an error."""
    return _BY_CODE.get(code, Exit.FAILED)


class CommandError(Exception):
    """A command that cannot do its work, with a sentence for the user and an exit code."""

    def __init__(self, message: str, exit_code: Exit = Exit.FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
