"""Asks a person before something is destroyed."""

import sys

from satchel.cli.exits import CommandError, Exit
from satchel.cli.output import tell


def require_agreement(question: str, *, yes: bool) -> None:
    """Return when the person at the terminal agrees, or when ``yes`` was given beforehand.

    Raises:
        CommandError: the answer was no, or nobody is there to answer.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError("Nobody is there to confirm the deletion. Add --yes to delete.", Exit.USAGE)
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        tell("Nothing was deleted.")
        raise CommandError("The answer was no.", Exit.FAILED)
