"""The check of the database file, beside a running Satchel or without one."""

from satchel.cli.actions.checks import Check, fail, ok
from satchel.gateway.data_folder import DataFolder
from satchel.store.adapters.sqlite.connection import Options, open_connection
from satchel.store.errors import StoreUnavailable

_REMEDY = (
    "Stop Satchel, copy the data folder aside, and import your last export into a new folder; "
    "what can still be read can be exported from the copy."
)


async def check_database(folder: DataFolder) -> Check:
    """Read the whole database and check its structure, its indexes and its references.

    Source: https://www.sqlite.org/pragma.html, integrity_check and foreign_key_check.
    """
    try:
        connection = await open_connection(Options(path=folder.database), read_only=True)
        try:
            found = await connection.run(lambda raw: raw.execute("PRAGMA integrity_check(3)").fetchall())
            loose = await connection.run(lambda raw: raw.execute("PRAGMA foreign_key_check").fetchall())
        finally:
            await connection.close()
    except StoreUnavailable as error:
        is_damaged = error.message == StoreUnavailable.damaged().message  # which names this very command
        why = "it is damaged" if is_damaged else error.message.rstrip(".")
        return fail("database", f"{folder.database} cannot be read: {why}.", _REMEDY)
    if found != [("ok",)]:
        return fail("database", f"It is damaged: {found[0][0]}.", _REMEDY)
    if loose:
        return fail("database", f"{len(loose)} rows refer to rows that are not there.", _REMEDY)
    log = folder.database.with_name(f"{folder.database.name}-wal")  # part of the database, as `status` counts
    mebibytes = sum(file.stat().st_size for file in (folder.database, log) if file.exists()) / 2**20
    return ok("database", f"integrity checked, {mebibytes:,.1f} MiB")
