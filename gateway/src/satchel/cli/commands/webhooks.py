"""Commands about who is told of events: webhooks list, add, test, delete, dead, redrive."""

from typing import Annotated

import typer

from satchel.cli import options
from satchel.cli.exits import Exit
from satchel.cli.place import Show, place_of

_webhooks = typer.Typer(
    name="webhooks",
    help="Endpoints that are told over HTTP of what happens to memories, and what could not be delivered.",
    no_args_is_help=True,
)
_Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the endpoint.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    _webhooks.command("list")(list_)
    _webhooks.command("test")(try_)
    for command in (add, delete, dead, redrive):
        _webhooks.command()(command)
    app.add_typer(_webhooks)


def list_(context: typer.Context, *, as_json: options.Json = False, trace: options.Trace = False) -> None:
    """List the endpoints, and how many events wait or were given up."""
    from satchel.cli.actions import webhooks  # noqa: PLC0415  # quick --help

    webhooks.show(place_of(context), Show(as_json, trace))


def add(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="URL that gets the events, of http or https.")],
    *,
    event: Annotated[
        list[str] | None,
        typer.Option("--event", "-e", help="Event, such as store.completed. Repeat for more; none for all."),
    ] = None,
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
    include_content: Annotated[
        bool, typer.Option("--include-content", help="Send the text of memories too.")
    ] = False,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Register an endpoint; print its id, and its secret, which is not shown again.

    A secret of your own is read from the variable SATCHEL_WEBHOOK_SECRET. With --project the endpoint gets
    the events of that project alone.
    """
    from satchel.cli.actions import webhooks  # noqa: PLC0415  # quick --help

    fields = {
        "url": url,
        "events": event,
        "description": description,
        "include_content": include_content or None,
    }
    webhooks.add(place_of(context), Show(as_json, trace), fields)


def try_(
    context: typer.Context, webhook_id: _Id, *, as_json: options.Json = False, trace: options.Trace = False
) -> None:
    """Send an event to an endpoint now, and tell what it answered; exit with 1 if it did not take it."""
    from satchel.cli.actions import webhooks  # noqa: PLC0415  # quick --help

    if not webhooks.test(place_of(context), Show(as_json, trace), webhook_id):
        raise typer.Exit(Exit.FAILED)


def delete(
    context: typer.Context, webhook_id: _Id, *, as_json: options.Json = False, trace: options.Trace = False
) -> None:
    """Remove an endpoint, with everything that waits for it."""
    from satchel.cli.actions import webhooks  # noqa: PLC0415  # quick --help

    webhooks.delete(place_of(context), Show(as_json, trace), webhook_id)


def dead(
    context: typer.Context,
    *,
    webhook_id: Annotated[str, typer.Option("--webhook", help="Only of this endpoint.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Greatest number.")] = 100,
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """List the events that were given up, newest first."""
    from satchel.cli.actions import webhooks  # noqa: PLC0415  # quick --help

    webhooks.dead(place_of(context), Show(as_json, trace), webhook_id, limit)


def redrive(
    context: typer.Context,
    delivery_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of events that were given up.")
    ] = None,
    *,
    webhook_id: Annotated[str, typer.Option("--webhook", help="All that this endpoint did not get.")] = "",
    as_json: options.Json = False,
    trace: options.Trace = False,
) -> None:
    """Send events again that were given up: some of them, or all of an endpoint."""
    from satchel.cli.actions import webhooks  # noqa: PLC0415  # quick --help

    webhooks.redrive(place_of(context), Show(as_json, trace), delivery_ids or [], webhook_id)
