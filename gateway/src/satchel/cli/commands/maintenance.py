"""Commands that keep Satchel in order, and make it known to MCP clients: reembed, reindex, setup."""

from typing import Annotated

import typer

from satchel.cli import options
from satchel.cli.exits import Exit
from satchel.cli.place import Show, given_to, place_of


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (reembed, reindex, setup):
        app.command()(command)


def reembed(
    context: typer.Context,
    *,
    only_status: Annotated[
        bool, typer.Option("--status", help="Only tell whether it is needed, and how far it is.")
    ] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="End a re-embedding that runs; what is done stays done.")
    ] = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Make all vectors anew with the embedder's model, after a change of the model.

    Also makes the token codes of memories that were stored before there were any.
    Satchel serves meanwhile. The work goes on when the command is interrupted, in the
    Satchel that runs or in the next one.
    """
    from satchel.cli.actions import reembedding  # noqa: PLC0415  # quick --help

    wish = reembedding.wish_of(only_status=only_status, cancel=cancel)
    if not reembedding.reembed(place_of(context), Show(as_json, trace), wish):
        raise typer.Exit(Exit.FAILED)


def reindex(context: typer.Context, *, as_json: options.Json = False, trace: options.Trace = False) -> None:
    """Build the index of vectors anew from the database; the old one answers meanwhile."""
    from satchel.cli.actions import reindexing  # noqa: PLC0415  # quick --help

    reindexing.reindex(place_of(context), Show(as_json, trace))


def setup(
    context: typer.Context,
    *,
    clients: Annotated[
        list[str] | None,
        typer.Option(
            "--client",
            help="claude-code, claude-desktop, cursor, windsurf, codex or vscode. Repeat it for more; "
            "without it, all that are found.",
        ),
    ] = None,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print what belongs into each file, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Register Satchel with MCP clients, in their own configuration files.

    Shows what would change in each file and asks. The file of before is kept beside it.
    """
    from satchel.cli.actions import registering  # noqa: PLC0415  # quick --help

    registering.setup(given_to(context), clients or [], only_print=only_print, yes=yes)
