"""Which Satchel a command works with, and how it shows its answer. Light: imported for every command."""

from dataclasses import dataclass
from pathlib import Path

import typer

DEFAULT_FOLDER = Path("~/.satchel")


@dataclass(frozen=True, slots=True)
class Place:
    """A data folder, or the address of a running Satchel; ``project`` is empty for the default one."""

    data_dir: Path
    url: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True)
class Show:
    """How the answer is shown: as JSON, with the trace of the call on stderr."""

    as_json: bool = False
    trace: bool = False


def place_of(context: typer.Context) -> Place:
    """Return what the global options say."""
    found = context.find_object(Place)
    return found if found is not None else Place(DEFAULT_FOLDER.expanduser())
