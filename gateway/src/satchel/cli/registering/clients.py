"""The MCP clients that are known: where each keeps its servers, and in which form. Pure.

Source: the clients' documentation, as of November 2026.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from satchel.cli.registering import jsonc, toml_text
from satchel.cli.registering.entry import NAME, Entry, FileUnusable


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a person's files are: ``system`` is as `sys.platform` has it, ``values`` the environment."""

    home: Path
    system: str
    values: Mapping[str, str]

    def applications(self) -> Path:
        """Return the folder in which programs with windows keep their files."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        if self.system == "win32":
            return Path(self.values.get("APPDATA") or self.home / "AppData" / "Roaming")
        return Path(self.values.get("XDG_CONFIG_HOME") or self.home / ".config")


@dataclass(frozen=True, slots=True)
class Client:
    """One client; ``servers`` is the member or table that holds its servers.

    It is taken as installed where its file or, with ``traces``, one of these is there.
    """

    name: str
    title: str
    servers: str
    file: Callable[[Machine], Path]
    traces: Callable[[Machine], tuple[Path, ...]]
    kind: str = ""
    is_toml: bool = False

    def is_installed(self, machine: Machine) -> bool:
        """Tell whether the client seems to be used on this machine."""
        return any(path.exists() for path in (self.file(machine), *self.traces(machine)))

    def changed(self, text: str, entry: Entry) -> str:
        """Return the text of the file with Satchel in it; the same text if it is there already.

        What the entry has besides, such as an environment, stays.

        Raises:
            FileUnusable: the text is not what the client reads, or is written in a way that is not known.
        """
        path = (self.servers, NAME)
        before = self._read(text)
        wanted = _joined(before, path, entry.members)
        if wanted == before:
            return text
        if self.is_toml:
            changed = toml_text.with_table(text, path, entry.members)
        else:
            changed = text
            for name, value in entry.members.items():
                changed = jsonc.with_member(changed, (*path, name), value)
        if not self._holds(changed, wanted):
            raise FileUnusable("It is written in a way that cannot be changed safely.")
        return changed

    def snippet(self, entry: Entry) -> str:
        """Return what the file needs to hold, by itself."""
        return self.changed("", entry)

    def _holds(self, text: str, wanted: object) -> bool:
        try:
            return self._read(text) == wanted
        except FileUnusable:
            return False

    def _read(self, text: str) -> object:
        return toml_text.read(text) if self.is_toml else jsonc.read(text)


def _joined(before: object, path: tuple[str, ...], members: Mapping[str, object]) -> object:
    """Return a value with members at a path of names, made where they are missing."""
    if not isinstance(before, Mapping):
        raise FileUnusable("It does not hold an object where the servers belong.")
    if not path:
        return {**before, **members}
    return {**before, path[0]: _joined(before.get(path[0], {}), path[1:], members)}


def _claude_code(machine: Machine) -> Path:
    folder = machine.values.get("CLAUDE_CONFIG_DIR")
    return (Path(folder) if folder else machine.home) / ".claude.json"


def _claude_desktop(machine: Machine) -> Path:
    return machine.applications() / "Claude" / "claude_desktop_config.json"


def _cursor(machine: Machine) -> Path:
    return machine.home / ".cursor" / "mcp.json"


def _windsurf(machine: Machine) -> Path:
    return machine.home / ".codeium" / "windsurf" / "mcp_config.json"


def _codex(machine: Machine) -> Path:
    return Path(machine.values.get("CODEX_HOME") or machine.home / ".codex") / "config.toml"


def _vscode(machine: Machine) -> Path:
    return machine.applications() / "Code" / "User" / "mcp.json"


def _folder_of(file: Callable[[Machine], Path]) -> Callable[[Machine], tuple[Path, ...]]:
    return lambda machine: (file(machine).parent,)


CLIENTS = (
    Client(
        "claude-code",
        "Claude Code",
        "mcpServers",
        _claude_code,
        lambda machine: (machine.home / ".claude",),
        kind="stdio",
    ),
    Client("claude-desktop", "Claude Desktop", "mcpServers", _claude_desktop, _folder_of(_claude_desktop)),
    Client("cursor", "Cursor", "mcpServers", _cursor, _folder_of(_cursor)),
    Client("windsurf", "Windsurf", "mcpServers", _windsurf, _folder_of(_windsurf)),
    Client("codex", "Codex", "mcp_servers", _codex, _folder_of(_codex), is_toml=True),
    Client("vscode", "VS Code", "servers", _vscode, _folder_of(_vscode), kind="stdio"),
)
