"""Which Satchel a command works with, what is configured, and how it shows its answer. Light."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import typer

from satchel.cli.configuration.loading import Configuration, read_configuration
from satchel.runtime.settings import Origin, Secret, Values

DEFAULT_FOLDER = Path("~/.satchel")


@dataclass(frozen=True, slots=True)
class Given:
    """The global options; what was not given is empty."""

    data_dir: Path | None = None
    url: str = ""
    project: str = ""
    token: Secret = Secret("")
    config: Path | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A data folder, or the address of a running Satchel; ``project`` is empty for the default one.

    ``token`` is what calls carry; ``configuration`` is everything that is set.
    """

    data_dir: Path
    url: str = ""
    project: str = ""
    token: Secret = Secret("")
    configuration: Configuration = field(default_factory=lambda: Configuration(Values(os.environ)))

    @property
    def values(self) -> Values:
        """The variables of environment and file."""
        return self.configuration.values

    def with_options(self, options: Mapping[str, tuple[str, str]]) -> Values:
        """Return the variables under those that options of the command set.

        ``options`` are pairs of an option and its text, by variable; an empty text leaves the variable alone.
        """
        given = {variable: pair for variable, pair in options.items() if pair[1]}
        return Values(
            {variable: text for variable, (_, text) in given.items()},
            {variable: Origin(option) for variable, (option, _) in given.items()},
        ).over(self.values)


@dataclass(frozen=True, slots=True)
class Show:
    """How the answer is shown: as JSON, with the trace of the call on stderr."""

    as_json: bool = False
    trace: bool = False


def given_to(context: typer.Context) -> Given:
    """Return the global options."""
    found = context.find_object(Given)
    return found if found is not None else Given()


def place_of(context: typer.Context) -> Place:
    """Return what the global options, the environment and the configuration file say, in this order.

    Raises:
        SettingsError: the file cannot be used; names every line that is wrong.
    """
    given = given_to(context)
    configuration = read_configuration(given.config, os.environ)
    values = configuration.values
    folder = given.data_dir or Path(values.get("SATCHEL_DATA_DIR") or DEFAULT_FOLDER)
    return Place(
        folder.expanduser(),
        given.url or values.get("SATCHEL_URL", ""),
        given.project or values.get("SATCHEL_PROJECT", ""),
        given.token or Secret(values.get("SATCHEL_TOKEN", "")),
        configuration,
    )
