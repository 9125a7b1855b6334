"""Makes one configuration of the file and the environment, and refuses what cannot be used in either.

The environment wins over the file; MIRA's variables stand between them. Without a file nothing is read or
checked here but MIRA's variables: every process checks its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.cli.configuration.locating import Candidate, candidates
from satchel.runtime.setting_types import BadValue
from satchel.runtime.settings import Origin, Problem, SettingsError, Values

if TYPE_CHECKING:
    from satchel.cli.configuration.reading import Item

_MIRA_PREFIX = "MIRA_"
# Sections that no other program's file is likely to have.
_DISTINCTIVE = frozenset({"allocator", "archive_thresholds", "decay_rates", "overlap_cache", "satchel"})


@dataclass(frozen=True, slots=True)
class Configuration:
    """What is set: the file that was read, if one was, and the variables of all layers.

    ``passed_over`` says why a ``config.yaml`` in the current folder was not read; empty if none was there.
    """

    values: Values
    file: Path | None = None
    named_by: str = ""
    passed_over: str = ""
    keys: Mapping[str, int] = field(default_factory=dict)

    @property
    def described(self) -> str:
        """The file for a person."""
        if self.file is not None:
            return f"{self.file}{f' ({self.named_by})' if self.named_by else ''}"
        return f"none{f' ({self.passed_over})' if self.passed_over else ''}"


def read_configuration(option: Path | None, environ: Mapping[str, str]) -> Configuration:
    """Read the file that applies, and join it with the environment.

    Raises:
        SettingsError: names every key and variable that is unknown or unusable, with file and line.
    """
    environment = Values(environ).over(_from_mira(environ))
    passed_over = ""
    for candidate in candidates(option, environ):
        sections = _sections(candidate)
        if isinstance(sections, str):
            passed_over = passed_over or sections
            continue
        # Only a file makes it worth to import every settings class.
        from satchel.cli.configuration.joining import join  # noqa: PLC0415

        values, keys = join(candidate, sections, environment)
        return Configuration(values, candidate.path, candidate.named_by, passed_over, keys)
    return Configuration(environment, passed_over=passed_over)


def _from_mira(environ: Mapping[str, str]) -> Values:
    """Return what MIRA's variables mean."""
    given = {name: text for name, text in environ.items() if name.startswith(_MIRA_PREFIX) and text}
    if not given:
        return Values({})
    from satchel.cli.configuration.conversions import Context  # noqa: PLC0415  # rarely needed
    from satchel.cli.configuration.mira import VARIABLES  # noqa: PLC0415

    texts: dict[str, str] = {}
    origins: dict[str, Origin] = {}
    problems: list[Problem] = []
    for name in sorted(given.keys() & VARIABLES.keys()):
        try:
            made = VARIABLES[name](given[name], Context())
        except BadValue as exc:
            problems.append(Problem(Origin(name), str(exc), exc.limit))
            continue
        texts.update(made)
        origins.update(dict.fromkeys(made, Origin(name)))
    if problems:
        raise SettingsError.of(problems)
    return Values(texts, origins)


def _sections(candidate: Candidate) -> "Mapping[str, Item] | str":
    """Return what a file says, or why it is another program's.

    Of the files that nobody named, one in the current folder may be anybody's. It is ours when it has a
    section that only ours have, or when every key in it is one of ours.
    """
    from satchel.cli.configuration.reading import read_file  # noqa: PLC0415  # only where there is a file

    is_certain = bool(candidate.named_by) or candidate.path.parent != Path.cwd()
    try:
        sections = read_file(candidate.path)
    except SettingsError as exc:
        if is_certain:
            raise
        return f"{candidate.path} is not taken for Satchel's: {exc}"
    if is_certain or sections.keys() & _DISTINCTIVE:
        return sections
    from satchel.cli.configuration.joining import first_unknown  # noqa: PLC0415

    unknown = first_unknown(sections)
    if sections and unknown is None:
        return sections
    why = "it is empty" if unknown is None else f"'{unknown[0]}' in line {unknown[1]} is no key of it"
    return f"{candidate.path} is not taken for Satchel's: {why}; name it with --config to use it"
