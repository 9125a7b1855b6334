"""What the command migrate does: the steps of the schema that a database lacks, and nothing else."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from satchel.cli.actions.serve import database_file, environment
from satchel.cli.exits import CommandError, Exit
from satchel.cli.logs import setup_command_logs
from satchel.cli.output import write_json, write_line
from satchel.cli.place import Place
from satchel.gateway.data_folder import DataFolder, FileLock, FolderBusy, Ownership
from satchel.store.adapters.sqlite.connection import Options, open_connection
from satchel.store.adapters.sqlite.migrations import applied, packaged
from satchel.store.adapters.sqlite.migrations import migrate as apply_missing

_REMEDY = "Stop it, and migrate then; or start it with this version of Satchel, which migrates by itself."


@dataclass(frozen=True, slots=True)
class Migrated:
    """What was done: the schema's version before (0 for a new database) and after, and the steps between."""

    database: str
    before: int
    after: int
    applied: tuple[str, ...]


def migrate(place: Place, *, as_json: bool) -> None:
    """Apply what is missing and print what that was; no model is loaded and nothing listens.

    Raises:
        CommandError: there is another Satchel than that of a data folder, or nothing that lasts.
        FolderBusy: a Satchel runs on the database.
        StoreUnavailable: the database is of a newer version, or cannot be read.
    """
    setup_command_logs(place.values)
    done = asyncio.run(_migrate(place))
    if as_json:
        write_json(asdict(done))
    elif done.applied:
        write_line(f"{done.database}: schema version {done.before} is now {done.after}.")
        for name in done.applied:
            write_line(f"  applied {name}")
    else:
        write_line(f"{done.database}: schema version {done.after} is the newest, and nothing was to be done.")


async def _migrate(place: Place) -> Migrated:
    if place.url:
        raise CommandError(
            "--url names a running Satchel, which migrates by itself when it starts.", Exit.USAGE
        )
    folder = DataFolder(place.data_dir)
    file = database_file(environment("store", "", {}, folder, place.values)["SATCHEL_STORE_URL"])
    if file is None:
        raise CommandError(
            "The store is in memory (SATCHEL_STORE_URL): there is nothing to migrate.", Exit.USAGE
        )
    with _owned(folder, file):
        connection = await open_connection(Options(path=file), read_only=False)
        try:
            before = set(await connection.run(applied))
            after = await connection.run(lambda raw: apply_missing(raw, time.time_ns() // 1000))
        finally:
            await connection.close()
    steps = tuple(step.name for step in packaged() if step.version not in before)
    return Migrated(str(file), max(before, default=0), after, steps)


@contextmanager
def _owned(folder: DataFolder, file: Path) -> Iterator[None]:
    """Own the database's folder for a ``with`` block."""
    if file == folder.database.resolve():
        folder.prepare()
    else:
        folder = DataFolder(file.parent)
    lock = FileLock.try_acquire(folder.lock_file)
    if lock is None:
        raise FolderBusy(folder, folder.owner(), _REMEDY)
    ownership = Ownership(lock)
    try:
        yield
    finally:
        ownership.release()
