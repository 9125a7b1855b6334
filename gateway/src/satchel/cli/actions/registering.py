"""What the command setup does."""

import difflib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from satchel.cli.asking import require_agreement
from satchel.cli.exits import CommandError, Exit
from satchel.cli.output import tell, write_line
from satchel.cli.place import Given
from satchel.cli.registering.clients import CLIENTS, Client, Machine
from satchel.cli.registering.entry import Entry, FileUnusable
from satchel.cli.registering.files import ConfigFile, read_file, replace_file


@dataclass(frozen=True, slots=True)
class _Change:
    """What would be written for a client."""

    client: Client
    place: Path
    before: ConfigFile
    after: str


def setup(given: Given, names: Sequence[str], *, only_print: bool, yes: bool) -> None:
    """Register Satchel with the clients of these names, or with all that are found.

    Raises:
        CommandError: a client is not known, none is found, a file cannot be changed, or the answer was no.
    """
    machine = Machine(Path.home(), sys.platform, os.environ)
    clients = _chosen(names, machine)
    entries = {client.name: _entry(given, client) for client in clients}
    if only_print:
        for client in clients:
            write_line(f"# {client.title}: {client.file(machine)}\n{client.snippet(entries[client.name])}")
        return
    changes = [_planned(client, machine, entries) for client in clients]
    due = [change for change in changes if change is not None]
    for change in due:
        _show(change)
    if due:
        require_agreement("Change these files?", yes=yes, act="change", verb="change them", done="changed")
    for change in due:
        _write(change)


def _chosen(names: Sequence[str], machine: Machine) -> list[Client]:
    known = {client.name: client for client in CLIENTS}
    if unknown := [name for name in names if name not in known]:
        raise CommandError(f"'{unknown[0]}' is not known. Name one of {', '.join(known)}.", Exit.USAGE)
    found = [known[name] for name in dict.fromkeys(names)]
    found = found or [client for client in CLIENTS if client.is_installed(machine)]
    if not found:
        raise CommandError(
            f"No MCP client is found. Name one with --client: {', '.join(known)}.", Exit.NOT_FOUND
        )
    return found


def _entry(given: Given, client: Client) -> Entry:
    """Return how the client starts the Satchel that these global options mean.

    Clients that are started from a desktop know neither the shell's folders nor its variables, so that paths
    are whole and options are written out. A key is not: a file of settings is no place for it.
    """
    options: Mapping[str, str] = {
        "--config": str(given.config.expanduser().absolute()) if given.config else "",
        "--data-dir": str(given.data_dir.expanduser().absolute()) if given.data_dir else "",
        "--url": given.url,
        "--project": given.project,
    }
    chosen = [part for name, value in options.items() if value for part in (name, value)]
    return Entry(*_program(chosen), kind=client.kind)


def _program(options: Sequence[str]) -> tuple[str, list[str]]:
    """Return the program that runs just now, by its whole path, and its arguments."""
    beside = Path(sys.executable).with_name("satchel")
    found = str(beside) if beside.exists() else shutil.which("satchel")
    if found is None:
        return sys.executable, ["-m", "satchel.cli.main", *options, "mcp"]
    return found, [*options, "mcp"]


def _planned(client: Client, machine: Machine, entries: Mapping[str, Entry]) -> _Change | None:
    """Return what would be written, or nothing where Satchel is registered already.

    Raises:
        CommandError: the file cannot be read or changed.
    """
    place = client.file(machine)
    try:
        before = read_file(place)
        after = client.changed(before.text, entries[client.name])
    except FileUnusable as error:
        snippet = client.snippet(entries[client.name])
        raise CommandError(f"{place} is left as it is. {error} Add this to it by hand:\n{snippet}") from error
    if after == before.text:
        tell(f"{client.title}: registered already, in {place}.")
        return None
    return _Change(client, place, before, after)


def _show(change: _Change) -> None:
    lines = difflib.unified_diff(
        change.before.text.splitlines(), change.after.splitlines(), f"{change.place}", "changed", lineterm=""
    )
    tell(f"{change.client.title}:\n" + "\n".join(lines))


def _write(change: _Change) -> None:
    try:
        backup = replace_file(change.before, change.after)
    except FileUnusable as error:
        raise CommandError(f"{change.place} is left as it is. {error}") from error
    kept = f" The file of before is {backup}." if backup else ""
    tell(f"{change.client.title}: registered in {change.place}.{kept} Start {change.client.title} anew.")
