"""The pages about the command line and operations say what is true of the code."""

import re
from pathlib import Path

import typer

from satchel.allocator.settings import AllocatorSettings
from satchel.cli.actions.serve import DEFAULT_ADDRESSES
from satchel.cli.exits import Exit
from satchel.cli.main import app
from satchel.embedder.settings import EmbedderSettings
from satchel.gateway.settings import GatewaySettings
from satchel.index.settings import IndexSettings
from satchel.runtime.settings import describe
from satchel.store.settings import StoreSettings

DOCS = Path(__file__).parents[3] / "docs"
SETTINGS: dict[str, type] = {
    "SATCHEL_ALLOCATOR": AllocatorSettings,
    "SATCHEL_EMBEDDER": EmbedderSettings,
    "SATCHEL_GATEWAY": GatewaySettings,
    "SATCHEL_INDEX": IndexSettings,
    "SATCHEL_STORE": StoreSettings,
}


def test_every_command_and_every_option_is_documented() -> None:
    text = (DOCS / "cli.md").read_text()
    group = typer.main.get_command(app)

    commands = getattr(group, "commands")  # noqa: B009  # the type of typer's groups is private
    missing = [name for name in commands if f"`satchel {name}" not in text]
    for command in [group, *commands.values()]:
        missing += [option for param in command.params for option in param.opts if _is_missing(option, text)]

    assert missing == []


def _is_missing(option: str, text: str) -> bool:
    return option.startswith("--") and option != "--help" and option not in text


def test_every_exit_code_is_documented() -> None:
    text = (DOCS / "cli.md").read_text()

    assert [code for code in Exit if f"| {code.value} |" not in text] == []


def test_the_documented_settings_exist_and_have_the_documented_default() -> None:
    known = {doc.variable: doc.default for prefix, cls in SETTINGS.items() for doc in describe(cls, prefix)}
    pattern = r"^\| `(SATCHEL_(?:ALLOCATOR|EMBEDDER|GATEWAY|INDEX|STORE)_\w+)` \| ([^|]*)\|"
    documented = re.findall(pattern, (DOCS / "operations.md").read_text(), re.MULTILINE)

    assert len(documented) > 5
    for variable, default in documented:
        assert variable in known
        told = default.strip().strip("`")
        assert told in {"", "in the data folder"} or told == known[variable].removesuffix(".0"), variable


def test_the_documented_addresses_are_the_defaults() -> None:
    text = (DOCS / "operations.md").read_text()

    assert [address for address in DEFAULT_ADDRESSES.values() if address not in text] == []
