"""Commands for causes and effects, and for memories that say the same: chain, link, unlink, consolidate."""

from typing import Annotated

import typer

from satchel.cli import options
from satchel.cli.exits import Exit
from satchel.cli.place import Show, place_of

_Cause = Annotated[str, typer.Argument(metavar="CAUSE", help="Id of the memory that is the reason.")]
_Effect = Annotated[str, typer.Argument(metavar="EFFECT", help="Id of the memory that follows from it.")]
_RELATIONS = "because, triggered, updates, contradicts, resolves"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (chain, link, unlink, consolidate):
        app.command()(command)


def chain(
    context: typer.Context,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the memory.")],
    *,
    depth: Annotated[int, typer.Option("--depth", help="Most links to follow in a row, 1 to 20.")] = 5,
    consequences: Annotated[bool, typer.Option("--consequences", help="Show what followed too.")] = False,
    relation: Annotated[
        list[str] | None, typer.Option(help=f"Relation to follow: {_RELATIONS}. Repeat for more.")
    ] = None,
    fail_empty: options.FailEmpty = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Print what led to a memory, nearest first."""
    from satchel.cli.actions import graph  # noqa: PLC0415  # quick --help

    found = graph.chain(
        place_of(context),
        Show(as_json, trace),
        memory_id,
        {"max_depth": depth, "include_consequences": consequences, "relations": relation},
    )
    if fail_empty and not found:
        raise typer.Exit(Exit.EMPTY)


def link(
    context: typer.Context,
    cause_id: _Cause,
    effect_id: _Effect,
    *,
    relation: Annotated[str, typer.Option(help=f"What the link means: {_RELATIONS}.")] = "because",
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Link two memories as cause and effect."""
    from satchel.cli.actions import graph  # noqa: PLC0415  # quick --help

    graph.link(place_of(context), Show(as_json, trace), cause_id, effect_id, relation)


def unlink(
    context: typer.Context,
    cause_id: _Cause,
    effect_id: _Effect,
    *,
    relation: Annotated[str, typer.Option(help=f"Which links: {_RELATIONS}. All when none is named.")] = "",
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Remove the links from a cause to an effect."""
    from satchel.cli.actions import graph  # noqa: PLC0415  # quick --help

    graph.unlink(place_of(context), Show(as_json, trace), cause_id, effect_id, relation)


def consolidate(
    context: typer.Context,
    *,
    wing: options.Wing = "general",
    room: options.Room = "",
    memory_type: options.Type = "session_note",
    threshold: Annotated[
        float, typer.Option(help="Least similarity of any two memories that are merged, up to 1.")
    ] = 0.92,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be merged.")] = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Merge similar memories of a wing, and archive those that were merged; print the id of the run."""
    from satchel.cli.actions import graph  # noqa: PLC0415  # quick --help

    graph.consolidate(
        place_of(context),
        Show(as_json, trace),
        {
            "wing": wing,
            "room": room,
            "type": memory_type,
            "similarity_threshold": threshold,
            "dry_run": dry_run,
        },
    )
