"""How an MCP client starts Satchel. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NAME = "satchel"


class FileUnusable(Exception):  # noqa: N818  # says what is the case; never reaches a service
    """A configuration file cannot be changed safely; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The program and its arguments; ``kind`` is what the client calls a server that it starts."""

    command: str
    arguments: Sequence[str]
    kind: str = ""

    @property
    def members(self) -> Mapping[str, str | list[str]]:
        """The members of the entry, in their order."""
        kind: dict[str, str | list[str]] = {"type": self.kind} if self.kind else {}
        return {**kind, "command": self.command, "args": list(self.arguments)}
