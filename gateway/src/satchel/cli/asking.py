"""Asks a person before something is destroyed or changed outside of Satchel."""

import sys

from satchel.cli.exits import CommandError, Exit
from satchel.cli.output import tell


def require_agreement(
    question: str, *, yes: bool, act: str = "deletion", verb: str = "delete", done: str = "deleted"
) -> None:
    """Return when the person at the terminal agrees, or when ``yes`` was given beforehand.

    ``act``, ``verb`` and ``done`` are words for what is asked about.

    Raises:
        CommandError: the answer was no, or nobody is there to answer.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandError(f"Nobody is there to confirm the {act}. Add --yes to {verb}.", Exit.USAGE)
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        tell(f"Nothing was {done}.")
        raise CommandError("The answer was no.", Exit.FAILED)
