"""The schema: numbered SQL files, each applied once, in order and in a transaction."""

import hashlib
import sqlite3
from importlib.resources import files
from typing import NamedTuple

from satchel.store.errors import StoreUnavailable

_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
  version    INTEGER NOT NULL PRIMARY KEY,
  name       TEXT    NOT NULL,
  sha256     TEXT    NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT
"""


class Migration(NamedTuple):
    """One step of the schema; ``version`` is the number that its file's name begins with."""

    version: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """Digest of the SQL text."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def packaged() -> tuple[Migration, ...]:
    """Return the migrations that this version of the store has, in order."""
    folder = files("satchel.store.adapters.sqlite") / "sql"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple(
        Migration(int(name[:4]), name, (folder / name).read_text(encoding="utf-8")) for name in names
    )


def applied(raw: sqlite3.Connection) -> tuple[int, ...]:
    """Return the versions of the migrations that a database has; none for a new one."""
    if raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").fetchone() is None:
        return ()
    return tuple(row[0] for row in raw.execute("SELECT version FROM schema_migrations ORDER BY version"))


def migrate(raw: sqlite3.Connection, now: int, migrations: tuple[Migration, ...] | None = None) -> int:
    """Apply what is missing and return the schema's version; ``now`` in microseconds.

    Raises:
        StoreUnavailable: the database is of a newer version, or was made by another text of a migration.
    """
    known = packaged() if migrations is None else migrations
    raw.execute(_TABLE)
    found = {row[0]: row[1] for row in raw.execute("SELECT version, sha256 FROM schema_migrations")}
    _check(found, known)
    for migration in known:
        if migration.version not in found:
            _apply(raw, migration, now)
    return max(migration.version for migration in known)


def _check(applied: dict[int, str], known: tuple[Migration, ...]) -> None:
    digests = {migration.version: migration.sha256 for migration in known}
    newer = sorted(set(applied) - set(digests))
    if newer:
        raise StoreUnavailable(
            f"The database has schema version {newer[-1]}, this Satchel knows {max(digests)}. "
            "Start the newer version of Satchel, or restore an older backup."
        )
    if changed := [version for version, digest in applied.items() if digests[version] != digest]:
        raise StoreUnavailable(
            f"Migration {changed[0]} of the database differs from the one of this Satchel. "
            "Start the version of Satchel that made the database, export, and import here."
        )


def _apply(raw: sqlite3.Connection, migration: Migration, now: int) -> None:
    values = f"({migration.version}, '{migration.name}', '{migration.sha256}', {now})"
    record = f"INSERT INTO schema_migrations VALUES {values};"  # noqa: S608  # all of it is ours
    try:
        raw.executescript(f"BEGIN IMMEDIATE;\n{migration.sql}\n;{record}\nCOMMIT;")
    except sqlite3.Error:
        if raw.in_transaction:
            raw.execute("ROLLBACK")
        raise
