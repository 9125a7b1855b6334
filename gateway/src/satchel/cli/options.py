"""Options that several commands share."""

from typing import Annotated

import typer

from satchel.cli.exits import CommandError, Exit

Json = Annotated[bool, typer.Option("--json", help="Print JSON; errors come as JSON on stderr.")]
Trace = Annotated[bool, typer.Option("--trace", help="Print the tree of spans of the call on stderr.")]
Wing = Annotated[str, typer.Option("--wing", "-w", help="Wing: letters, digits, '-' and '_'.")]
Room = Annotated[str, typer.Option("--room", "-r", help="Room: letters, digits, '-' and '_'.")]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", "-t", help="Type, as of `store`. Repeat the option for more."),
]
Type = Annotated[
    str, typer.Option("--type", "-t", help="Type: decision, fact, preference, session_note, debug_log.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Tag. Repeat the option for more.")]
Session = Annotated[str, typer.Option("--session", "-s", help="Conversation, such as its id.")]
Since = Annotated[str, typer.Option(help="Only what happened at or after this RFC 3339 time.")]
Until = Annotated[str, typer.Option(help="Only what happened before this RFC 3339 time.")]
MinRevision = Annotated[int, typer.Option(help="Wait until this revision of the store is visible.")]
FailEmpty = Annotated[bool, typer.Option("--fail-empty", help="Exit with 5 when nothing was found.")]
StallTimeout = Annotated[
    float, typer.Option("--stall-timeout", min=0.1, help="Seconds without any progress until it gives up.")
]


def one_of(argument: str, option: str, name: str) -> str:
    """Return what was given as an argument or, as `mira` has it, with the option of this name.

    Raises:
        CommandError: neither was given, or both.
    """
    if bool(argument) is bool(option):
        raise CommandError(f"Give the text once: as the argument or with {name}.", Exit.USAGE)
    return argument or option
