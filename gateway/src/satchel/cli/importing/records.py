"""What an importer makes of its input, free of any contract.

A `Draft` is a new memory, perhaps a `Turn` of a conversation; an `Exported` is a memory as an export wrote
it, kept as its JSON object; a `Refused` is a piece of the input that makes no memory, with the reason; a
`Skipped` one has no text. Every one has a label that leads a person back to it: a file and a line, a heading,
or a turn.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeAlias

# The limits of `StoreMemoryRequest`, in code points.
MAX_CONTENT = 65536
MAX_TITLE = 500
MAX_SESSION = 200
MAX_PLACE = 100

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class ImportFormatError(ValueError):
    """The input has not the form that its format asks for; the text says where and what to do."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Place of a memory in its conversation: the number of its turn, and of its part, from 1; 0 for no parts.

    ``order`` is its place among the memories of the session, from 1. Turns are told apart by their place, not
    by their text: people say "yes" more than once.
    """

    number: int
    order: int
    part: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory to store. Empty texts and `None` mean absent; ``occurred_at`` has a time zone."""

    label: str
    content: str
    wing: str = ""
    title: str = ""
    path: str = ""
    session_id: str = ""
    occurred_at: datetime | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """A memory as an export wrote it, or a request to store one, as a JSON object."""

    label: str
    fields: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Refused:
    """A piece of the input that makes no memory."""

    label: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A piece of the input without a text, such as a call of a tool in a chat."""

    label: str


Record: TypeAlias = Draft | Exported | Refused | Skipped


def place_name(text: str) -> str:
    """Make a wing or room of any text: letters, digits, ``-`` and ``_`` stay, other runs become ``-``."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:MAX_PLACE]


def parse_time(value: Json) -> datetime | None:
    """Read a time: RFC 3339 or another ISO 8601 form, or seconds (or milliseconds) since 1970.

    A time without a zone is taken as UTC. Anything else gives `None`.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _from_epoch(float(value))
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def _from_epoch(seconds: float) -> datetime | None:
    # Beyond the year 5138 in seconds: it is milliseconds.
    try:
        return datetime.fromtimestamp(seconds / 1000 if abs(seconds) >= 1e11 else seconds, UTC)  # noqa: PLR2004
    except (ValueError, OverflowError, OSError):
        return None
