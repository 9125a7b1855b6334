"""Commands for conversations: ingest, optimize."""

from pathlib import Path
from typing import Annotated

import typer

from satchel.cli import options
from satchel.cli.place import Show, place_of


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(ingest)
    app.command()(optimize)


def ingest(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="JSON file with messages, or '-' for stdin.")],
    *,
    wing: options.Wing = "general",
    room: options.Room = "",
    session: options.Session = "",
    include_assistant: Annotated[
        bool, typer.Option("--include-assistant", help="Store the turns of assistants too.")
    ] = False,
    min_length: Annotated[
        int, typer.Option("--min-length", min=1, help="Least length of a turn, in characters.")
    ] = 20,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count; store nothing.")] = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Store the turns of a conversation as memories.

    What is stored already is counted as a duplicate: a conversation that has grown adds only what is new.
    """
    from satchel.cli.actions import conversations  # noqa: PLC0415  # quick --help

    conversations.ingest(
        place_of(context),
        Show(as_json, trace),
        path,
        {
            "wing": wing,
            "room": room,
            "session_id": session,
            "include_assistant": include_assistant,
            "min_length": min_length,
            "dry_run": dry_run,
        },
    )


def optimize(
    context: typer.Context,
    *,
    file: Annotated[Path, typer.Option("--file", "-f", help="JSON file with messages, or '-' for stdin.")],
    budget: Annotated[
        int, typer.Option("--budget", "-b", min=1, help="Most tokens of the messages as compact JSON.")
    ] = 4000,
    keep_last: Annotated[
        int, typer.Option("--keep-last", min=0, help="Messages at the end that stay in any case.")
    ] = 4,
    output: Annotated[Path, typer.Option("--output", "-o", help="File, or '-' for stdout.")] = Path("-"),
    stats_only: Annotated[bool, typer.Option("--stats-only", help="Only tell the figures.")] = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Prune a chat history to a budget.

    Instructions and the last messages stay; of the others those stay that are nearest to the last question.
    """
    from satchel.cli.actions import optimize as action  # noqa: PLC0415  # quick --help

    wish = action.Wish(budget, keep_last, None if stats_only else output)
    action.optimize(place_of(context), Show(as_json, trace), file, wish)
