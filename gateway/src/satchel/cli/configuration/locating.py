"""Finds the configuration file. Light: run for every command."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from satchel.runtime.settings import SettingsError

# Variables that name the file; the first that is set wins.
FILE_VARIABLES = ("SATCHEL_CONFIG", "MIRA_CONFIG")
NAME = "config.yaml"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file, and what named it: an option, a variable, or nothing for a place that is looked at anyway."""

    path: Path
    named_by: str = ""


def candidates(option: Path | None, environ: Mapping[str, str]) -> list[Candidate]:
    """Return the files that may be the one, the best first; those that are named are there.

    A named file is the only candidate. Else those that exist of ``config.yaml`` in the current folder and in
    the user's configuration folder.

    Raises:
        SettingsError: a file that is named does not exist.
    """
    named = _named(option, environ)
    if named is not None:
        if not named.path.is_file():
            raise SettingsError(
                f"{named.named_by} names {named.path}, and there is no such file. Name another, or leave it "
                "away to run without one."
            )
        return [named]
    places = (Path.cwd() / NAME, user_folder(environ) / "satchel" / NAME)
    return [Candidate(path) for path in places if path.is_file()]


def user_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Return the folder of the operating system for a user's configuration files."""
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if platform == "win32" and environ.get("APPDATA"):
        return Path(environ["APPDATA"])
    configured = environ.get("XDG_CONFIG_HOME", "")
    # The specification has relative paths ignored: https://specifications.freedesktop.org/basedir-spec/.
    return Path(configured) if os.path.isabs(configured) else Path.home() / ".config"  # noqa: PTH117


def _named(option: Path | None, environ: Mapping[str, str]) -> Candidate | None:
    if option is not None:
        return Candidate(option.expanduser().absolute(), "--config")
    for variable in FILE_VARIABLES:
        if environ.get(variable):
            return Candidate(Path(environ[variable]).expanduser().absolute(), variable)
    return None
