"""Commands that look at Satchel itself: status, doctor, ping."""

from typing import Annotated

import typer

from satchel.cli import options
from satchel.cli.exits import Exit
from satchel.cli.place import Show, place_of


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(status)
    app.command()(doctor)
    app.command()(ping)


def status(context: typer.Context, *, as_json: options.Json = False, trace: options.Trace = False) -> None:
    """Print what Satchel holds and how its parts are."""
    from satchel.cli.actions import status as action  # noqa: PLC0415  # quick --help

    action.status(place_of(context), Show(as_json, trace))


def doctor(context: typer.Context, *, as_json: options.Json = False) -> None:
    """Check what Satchel needs, and say what to do about faults."""
    from satchel.cli.actions import doctor as action  # noqa: PLC0415  # quick --help

    if not action.doctor(place_of(context), as_json=as_json):
        raise typer.Exit(Exit.FAILED)


def ping(address: Annotated[str, typer.Argument(help="gRPC address, host:port.")]) -> None:
    """Exit with 0 when the gRPC server at the address serves; for health checks of containers."""
    from satchel.cli.actions import ping as action  # noqa: PLC0415  # quick --help

    action.ping(address)
