"""Commands for what becomes of memories in time: timeline, archive, unarchive, clear, versions, restore."""

from typing import Annotated

import typer

from satchel.cli import options
from satchel.cli.exits import Exit
from satchel.cli.place import Show, place_of

_Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID...]", help="Ids of the memories.")]
_Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the memory.")]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (timeline, archive, unarchive, clear, versions, restore):
        app.command()(command)


def timeline(
    context: typer.Context,
    *,
    wing: options.Wing = "",
    room: options.Room = "",
    memory_type: options.Type = "",
    since: options.Since = "",
    until: options.Until = "",
    limit: Annotated[int, typer.Option("--limit", "-n", help="Most memories, up to 1,000.")] = 100,
    cursor: Annotated[str, typer.Option(help="Where to go on, as the output before said.")] = "",
    fail_empty: options.FailEmpty = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """List what happened when, newest first."""
    from satchel.cli.actions import lifecycle  # noqa: PLC0415  # quick --help

    found = lifecycle.timeline(
        place_of(context),
        Show(as_json, trace),
        {
            "wing": wing,
            "room": room,
            "type": memory_type,
            "since": since,
            "until": until,
            "limit": limit,
            "cursor": cursor,
        },
    )
    if fail_empty and not found:
        raise typer.Exit(Exit.EMPTY)


def archive(
    context: typer.Context,
    memory_ids: _Ids = None,
    *,
    wing: options.Wing = "",
    room: options.Room = "",
    dry_run: _DryRun = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Archive the memories of ids, or old session notes and debug logs; print the id of the run."""
    from satchel.cli.actions import lifecycle  # noqa: PLC0415  # quick --help

    lifecycle.archive(
        place_of(context),
        Show(as_json, trace),
        memory_ids or (),
        {"wing": wing, "room": room, "dry_run": dry_run},
    )


def unarchive(
    context: typer.Context,
    memory_ids: _Ids = None,
    *,
    batch: Annotated[str, typer.Option("--batch", "-b", help="Id of a run, as `archive` printed it.")] = "",
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Bring the memories of ids, or all that one run archived, back."""
    from satchel.cli.actions import lifecycle  # noqa: PLC0415  # quick --help

    lifecycle.unarchive(place_of(context), Show(as_json, trace), memory_ids or (), batch)


def clear(
    context: typer.Context,
    *,
    wing: options.Wing = "",
    room: options.Room = "",
    tag: options.Tags = None,
    whole: Annotated[bool, typer.Option("--global", help="The whole project.")] = False,
    dry_run: _DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", "--force", help="Do not ask.")] = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Delete all memories of a room, a wing or the project for good, after counting and asking."""
    from satchel.cli.actions import lifecycle  # noqa: PLC0415  # quick --help

    where = {"mode": "global" if whole else "room", "wing": wing, "room": room, "tags": tag}
    lifecycle.clear(place_of(context), Show(as_json, trace), where, dry_run=dry_run, yes=yes)


def versions(
    context: typer.Context, memory_id: _Id, *, as_json: options.Json = False, trace: options.Trace = False
) -> None:
    """List what a memory was, newest first."""
    from satchel.cli.actions import lifecycle  # noqa: PLC0415  # quick --help

    lifecycle.versions(place_of(context), Show(as_json, trace), memory_id)


def restore(
    context: typer.Context,
    memory_id: _Id,
    version: Annotated[int, typer.Argument(help="Number of the version, as `versions` shows it.")],
    *,
    expected_version: Annotated[int, typer.Option(help="Version that the memory must have now.")] = 0,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Make a memory say again what an older version said; nothing is lost."""
    from satchel.cli.actions import lifecycle  # noqa: PLC0415  # quick --help

    lifecycle.restore(
        place_of(context),
        Show(as_json, trace),
        memory_id,
        version,
        {"expected_version": expected_version},
    )
