"""Satchel in the configuration files of MCP clients."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.cli.actions.registering import setup
from satchel.cli.exits import CommandError, Exit
from satchel.cli.main import run
from satchel.cli.place import Given
from satchel.cli.registering import jsonc
from satchel.cli.registering.clients import CLIENTS, Client, Machine
from satchel.cli.registering.entry import Entry, FileUnusable
from satchel.cli.registering.files import read_file, replace_file

ENTRY = Entry("/opt/satchel", ("--data-dir", "/data", "mcp"))
BY_NAME = {client.name: client for client in CLIENTS}
CURSOR, CODEX, VSCODE = BY_NAME["cursor"], BY_NAME["codex"], BY_NAME["vscode"]
ALL = pytest.mark.parametrize("client", CLIENTS, ids=[client.name for client in CLIENTS])
COMMENTED = """\
// Servers of this machine.
{
\t"servers": {
\t\t"other": {"command": "x", "args": ["//no comment", "{"],}, /* kept */
\t},
\t"big": 12345678901234567890, // to the last digit
}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, in which no client is installed."""
    for variable in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "APPDATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


@ALL
def test_an_empty_file_gets_the_entry_in_the_form_that_the_client_reads(client: Client) -> None:
    text = client.changed("", ENTRY)
    found = tomllib.loads(text) if client.is_toml else json.loads(text)

    wanted = {"command": "/opt/satchel", "args": ["--data-dir", "/data", "mcp"]}
    assert found == {client.servers: {"satchel": wanted}}


@ALL
def test_what_is_registered_already_is_left_as_it_is(client: Client) -> None:
    text = client.changed("", ENTRY)

    assert client.changed(text, ENTRY) == text


def test_comments_order_and_numbers_of_a_file_stay_as_they_were_written() -> None:
    changed = VSCODE.changed(COMMENTED, ENTRY)

    lines = changed.splitlines(keepends=True)
    added = [place for place, line in enumerate(lines) if line not in COMMENTED.splitlines(keepends=True)]
    assert "".join(line for place, line in enumerate(lines) if place not in added) == COMMENTED
    assert added == list(range(added[0], added[-1] + 1))
    assert jsonc.read(changed)["servers"]["satchel"]["command"] == "/opt/satchel"  # type: ignore[call-overload,index]


def test_other_members_of_the_entry_and_other_servers_stay() -> None:
    before = {
        "mcpServers": {"other": {"command": "x"}, "satchel": {"command": "old", "env": {"A": "1"}}},
        "theme": "dark",
    }
    changed = json.loads(CURSOR.changed(json.dumps(before), ENTRY))

    assert changed["mcpServers"]["satchel"] == {
        "command": "/opt/satchel",
        "args": ["--data-dir", "/data", "mcp"],
        "env": {"A": "1"},
    }
    assert (changed["mcpServers"]["other"], changed["theme"]) == ({"command": "x"}, "dark")


def test_a_table_of_toml_gets_new_values_and_keeps_its_others_and_the_comments() -> None:
    before = """\
model = "x"  # mine
[mcp_servers.satchel]
command = "old"
args = [
  "a", # [why]
  "b",
]
startup_timeout_sec = 20

[mcp_servers.other]
command = "y"
"""
    changed = CODEX.changed(before, ENTRY)

    assert tomllib.loads(changed) == {
        "model": "x",
        "mcp_servers": {
            "satchel": {
                "command": "/opt/satchel",
                "args": ["--data-dir", "/data", "mcp"],
                "startup_timeout_sec": 20,
            },
            "other": {"command": "y"},
        },
    }
    assert "# mine" in changed


@pytest.mark.parametrize(
    ("client", "text"),
    [
        (CURSOR, "{"),
        (CURSOR, "[]"),
        (CURSOR, '{"mcpServers": []}'),
        (CURSOR, '{"mcpServers": {"satchel": 1}}'),
        (CURSOR, "not JSON"),
        (CODEX, "a ="),
        (CODEX, 'mcp_servers = "x"'),
        (CODEX, 'mcp_servers = { satchel = { command = "x" } }'),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_refused(client: Client, text: str) -> None:
    with pytest.raises(FileUnusable):
        client.changed(text, ENTRY)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(), _VALUES, max_size=4),
    st.dictionaries(st.text().filter(lambda name: name != "satchel"), _VALUES, max_size=3) | st.none(),
    st.sampled_from([None, 0, 2, "\t"]),
)
def test_nothing_but_the_entry_changes_whatever_a_file_holds(
    others: dict[str, object], servers: dict[str, object] | None, indent: int | str | None
) -> None:
    before = others | ({} if servers is None else {"mcpServers": servers})
    if servers is None:
        before.pop("mcpServers", None)
    changed = json.loads(CURSOR.changed(json.dumps(before, indent=indent), ENTRY))

    assert changed.pop("mcpServers").pop("satchel")["command"] == "/opt/satchel"
    before.pop("mcpServers", None)
    assert changed == before


def test_the_old_file_is_kept_and_the_new_one_has_its_rights(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("{}")
    real.chmod(0o600)
    link.symlink_to(real)

    backup = replace_file(read_file(link), '{"new": 1}')

    assert backup is not None
    assert (backup.read_text(), real.read_text(), link.is_symlink()) == ("{}", '{"new": 1}', True)
    assert real.stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([backup.name, "link.json", "real.json"])


def test_a_file_that_was_changed_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("{}")
    before = read_file(file)
    file.write_text('{"by": "somebody else"}')

    with pytest.raises(FileUnusable):
        replace_file(before, '{"new": 1}')
    assert file.read_text() == '{"by": "somebody else"}'
    assert list(tmp_path.iterdir()) == [file]


def test_the_byte_order_mark_of_a_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(b"\xef\xbb\xbf{}")

    replace_file(read_file(file), '{"new": 1}')

    assert file.read_bytes() == b'\xef\xbb\xbf{"new": 1}'


def test_lines_of_toml_keep_their_ends() -> None:
    added = CODEX.changed('model = "x"\r\n', ENTRY)
    changed = CODEX.changed(added.replace("/opt/satchel", "old"), ENTRY)

    assert added == changed
    assert added.count("\r\n") == added.count("\n") > 3


@pytest.mark.parametrize("text", ['mcp_servers = { other = { command = "x" } }', '[mcp_servers."satchel"]'])
def test_toml_that_is_written_in_another_way_is_not_called_broken(text: str) -> None:
    with pytest.raises(FileUnusable, match="cannot be changed safely"):
        CODEX.changed(text, ENTRY)


def test_the_clients_that_are_found_are_registered_and_a_second_time_changes_nothing(home: Path) -> None:
    (home / ".cursor").mkdir()
    (home / ".codex").mkdir()

    setup(Given(data_dir=home / "data"), [], only_print=False, yes=True)
    first = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    setup(Given(data_dir=home / "data"), [], only_print=False, yes=True)
    second = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}

    assert sorted(path.name for path in first) == ["config.toml", "mcp.json"]
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["satchel"]
    assert entry["args"][-3:] == ["--data-dir", str(home / "data"), "mcp"]
    assert Path(entry["command"]).is_absolute()
    assert first == second


def test_nothing_is_written_without_an_answer(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".cursor").mkdir()

    with pytest.raises(CommandError) as failure:
        setup(Given(), [], only_print=False, yes=False)

    assert failure.value.exit_code is Exit.USAGE
    assert '+      "command"' in capsys.readouterr().err
    assert list((home / ".cursor").iterdir()) == []


def test_print_shows_what_belongs_into_the_file_and_writes_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["setup", "--client", "vscode", "--print"])

    title, _, snippet = capsys.readouterr().out.partition("\n")
    assert ended.value.code == 0
    assert title.startswith("# VS Code: ")
    assert json.loads(snippet)["servers"]["satchel"]["type"] == "stdio"
    assert list(home.iterdir()) == []


def test_where_no_client_is_found_the_known_ones_are_named(home: Path) -> None:
    assert list(home.iterdir()) == []
    with pytest.raises(CommandError, match="claude-desktop") as failure:
        setup(Given(), [], only_print=False, yes=True)

    assert failure.value.exit_code is Exit.NOT_FOUND


def test_a_file_that_is_refused_comes_with_what_to_add_by_hand(home: Path) -> None:
    file = CURSOR.file(Machine(home, "linux", {}))
    file.parent.mkdir()
    file.write_text("{ broken")

    with pytest.raises(CommandError, match="by hand") as failure:
        setup(Given(), ["cursor"], only_print=False, yes=True)

    assert '"satchel"' in failure.value.message
    assert file.read_text() == "{ broken"


@pytest.mark.parametrize(
    ("name", "system", "expected"),
    [
        ("claude-code", "linux", ".claude.json"),
        ("claude-desktop", "darwin", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", ".config/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("cursor", "linux", ".cursor/mcp.json"),
        ("windsurf", "linux", ".codeium/windsurf/mcp_config.json"),
        ("codex", "linux", ".codex/config.toml"),
        ("vscode", "linux", ".config/Code/User/mcp.json"),
        ("vscode", "darwin", "Library/Application Support/Code/User/mcp.json"),
    ],
)
def test_each_client_keeps_its_servers_where_its_documentation_says(
    name: str, system: str, expected: str
) -> None:
    home = Path("/home/ada")

    assert BY_NAME[name].file(Machine(home, system, {})) == home / expected
