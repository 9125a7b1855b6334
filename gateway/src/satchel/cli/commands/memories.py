"""Commands that change single memories: store, get, delete."""

from typing import Annotated

import typer

from satchel.cli import options
from satchel.cli.place import Show, place_of


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(store)
    app.command()(get)
    app.command()(delete)


def store(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The text, or '-' to read it from stdin.")] = "",
    *,
    content: Annotated[str, typer.Option(help="The text, instead of the argument.")] = "",
    wing: options.Wing = "general",
    room: options.Room = "",
    memory_type: options.Type = "",
    session: options.Session = "",
    occurred_at: Annotated[str, typer.Option(help="When it happened, as an RFC 3339 time.")] = "",
    tag: options.Tags = None,
    metadata: Annotated[str, typer.Option(help="JSON object that is kept beside the text.")] = "",
    title: Annotated[str, typer.Option(help="Title.")] = "",
    summary: Annotated[str, typer.Option(help="Summary.")] = "",
    path: Annotated[str, typer.Option(help="Path, unique in the project.")] = "",
    source: Annotated[str, typer.Option(help="Who or what writes, such as 'claude-code'.")] = "",
    request_id: Annotated[str, typer.Option(help="UUID; a retry with the same one stores nothing.")] = "",
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Store a memory and print its id."""
    from satchel.cli.actions import memories  # noqa: PLC0415  # quick --help

    memories.store(
        place_of(context),
        Show(as_json, trace),
        options.one_of(text, content, "--content"),
        {
            "wing": wing,
            "room": room,
            "type": memory_type,
            "session_id": session,
            "occurred_at": occurred_at,
            "tags": tag,
            "metadata": metadata,
            "title": title,
            "summary": summary,
            "path": path,
            "source": source,
            "request_id": request_id,
        },
    )


def get(
    context: typer.Context,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the memory.")],
    *,
    raw: Annotated[bool, typer.Option("--raw", help="Print the text alone, exactly as stored.")] = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Print a memory, whole."""
    from satchel.cli.actions import memories  # noqa: PLC0415  # quick --help

    memories.get(place_of(context), Show(as_json, trace), memory_id, raw=raw)


def delete(
    context: typer.Context,
    memory_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of the memories.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", "--force", help="Do not ask.")] = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Delete memories for good, after asking."""
    from satchel.cli.actions import memories  # noqa: PLC0415  # quick --help

    memories.delete(place_of(context), Show(as_json, trace), memory_ids, yes=yes)
