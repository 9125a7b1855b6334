"""Commands about what is configured and how the data is laid out: config validate, config show, migrate."""

import typer

from satchel.cli import options
from satchel.cli.exits import Exit
from satchel.cli.place import given_to, place_of

_config = typer.Typer(
    name="config",
    help="Look at the configuration: the file, the environment and what holds in the end.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    _config.command()(validate)
    _config.command()(show)
    app.add_typer(_config)
    app.command()(migrate)


def validate(context: typer.Context, *, as_json: options.Json = False) -> None:
    """Check the configuration file and the variables, and name every line that is wrong."""
    from satchel.cli.actions import configuration  # noqa: PLC0415  # quick --help

    if not configuration.validate(given_to(context), as_json=as_json):
        raise typer.Exit(Exit.FAILED)


def show(context: typer.Context, *, as_json: options.Json = False) -> None:
    """Print every setting as it holds, and where it comes from; secrets are not shown."""
    from satchel.cli.actions import configuration  # noqa: PLC0415  # quick --help

    configuration.show(place_of(context), as_json=as_json)


def migrate(context: typer.Context, *, as_json: options.Json = False) -> None:
    """Bring the database of the data folder to the schema of this version.

    Satchel does it by itself when it starts; this does it without starting anything.
    """
    from satchel.cli.actions import migrate as action  # noqa: PLC0415  # quick --help

    action.migrate(place_of(context), as_json=as_json)
