"""Commands that move many memories: import, export."""

from pathlib import Path
from typing import Annotated

import typer

from satchel.cli import options
from satchel.cli.exits import Exit
from satchel.cli.importing.formats import ImportFormat
from satchel.cli.place import Show, place_of


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("import")(import_)
    app.command()(export)


def import_(
    context: typer.Context,
    path: Annotated[str, typer.Argument(help="File or folder, or '-' to read JSON Lines from stdin.")] = "",
    *,
    file: Annotated[str, typer.Option("--file", "-f", help="The same, instead of the argument.")] = "",
    input_format: Annotated[
        ImportFormat, typer.Option("--format", help="Format; found out when it is 'auto'.")
    ] = ImportFormat.AUTO,
    wing: Annotated[
        str, typer.Option("--wing", "-w", help="Wing of every record, whatever the input says.")
    ] = "",
    room: Annotated[str, typer.Option("--room", "-r", help="Room of new memories.")] = "",
    memory_type: Annotated[
        str, typer.Option("--type", "-t", help="Type of new memories; found out when absent.")
    ] = "",
    tag: Annotated[list[str] | None, typer.Option(help="Tag of new memories. Repeat for more.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and count; store nothing.")] = False,
    stall_timeout: options.StallTimeout = 600.0,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Import JSON Lines, Markdown, text or chats.

    What is stored already is counted as a duplicate, so an import that broke off can be repeated.
    """
    from satchel.cli.actions import transfer  # noqa: PLC0415  # quick --help

    defaults = transfer.Defaults(wing=wing, room=room, type=memory_type, tags=tuple(tag or ()))
    failed = transfer.import_memories(
        place_of(context),
        Show(as_json, trace),
        Path(options.one_of(path, file, "--file")),
        input_format,
        defaults,
        dry_run=dry_run,
        stall_s=stall_timeout,
    )
    if failed:
        raise typer.Exit(Exit.FAILED)


def export(
    context: typer.Context,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="File, or '-' for stdout.")] = Path("-"),
    all_projects: Annotated[
        bool, typer.Option("--all-projects", help="Every project, as a backup needs; not with --project.")
    ] = False,
    wing: options.Wing = "",
    room: options.Room = "",
    state: Annotated[
        list[str] | None, typer.Option(help="State: active, archived. Both when absent. Repeat for more.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="Most memories, the oldest; all when it is 0.")
    ] = 0,
    stall_timeout: options.StallTimeout = 120.0,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Write memories as JSON Lines.

    They are whole: an import gives them back as they were. One project, unless --all-projects
    is given. A file is replaced only when the export is complete. With --json the summary is JSON.
    """
    from satchel.cli.actions import transfer  # noqa: PLC0415  # quick --help

    transfer.export_memories(
        place_of(context),
        Show(as_json, trace),
        output,
        {"wing": wing, "room": room, "states": state, "all_projects": all_projects},
        limit=limit,
        stall_s=stall_timeout,
    )
