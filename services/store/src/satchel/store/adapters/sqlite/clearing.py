"""Units of work that delete the memories of a scope, a bounded number in each."""

import sqlite3
from typing import NamedTuple

from satchel.store.adapters.sqlite.rows import json_list
from satchel.store.adapters.sqlite.scoping import conditions
from satchel.store.errors import CountMismatch
from satchel.store.scope import Scope

CHUNK = 200  # memories of one write: some ten milliseconds


class Progress(NamedTuple):
    """How far a clearing has come: the last key that was looked at, what was deleted, the newest revision."""

    key: int
    deleted: int
    revision: int


def count(raw: sqlite3.Connection, scope: Scope) -> int:
    """Count the memories of a scope."""
    where = conditions(scope)
    found: int = raw.execute(
        f"SELECT count(*) FROM memories m WHERE {where.sql}",  # noqa: S608  # the values are parameters
        where.parameters,
    ).fetchone()[0]
    return found


def begin(scope: Scope, expected: int | None, now: int, raw: sqlite3.Connection) -> tuple[int, Progress]:
    """Delete the first memories; return the key of the last that is to be deleted, and how far it came.

    Raises:
        CountMismatch: there are not as many as expected; nothing was deleted.
    """
    if expected is not None and (actual := count(raw, scope)) != expected:
        raise CountMismatch(expected=expected, actual=actual)
    upto: int = raw.execute("SELECT ifnull(max(key), 0) FROM memories").fetchone()[0]
    return upto, delete_some(raw, scope, after=0, upto=upto, now=now)


def delete_some(raw: sqlite3.Connection, scope: Scope, *, after: int, upto: int, now: int) -> Progress:
    """Delete the next memories between two keys, with everything that hangs on them.

    Only their ids stay, in the change feed. At the end there are fewer than `CHUNK`.
    """
    where = conditions(scope)
    rows = raw.execute(
        "SELECT m.key, m.id FROM memories m NOT INDEXED "  # noqa: S608  # the values are parameters
        f"WHERE m.key > ? AND m.key <= ? AND {where.sql} ORDER BY m.key LIMIT ?",
        (after, upto, *where.parameters, CHUNK),
    ).fetchall()
    if not rows:
        return Progress(upto, 0, 0)
    ids = json_list(row[1] for row in rows)
    revision = _leave_tombstones(raw, ids, len(rows), scope.project, now)
    raw.execute("DELETE FROM requests WHERE memory_id IN (SELECT value FROM json_each(?))", (ids,))
    keys = json_list(row[0] for row in rows)
    raw.execute("DELETE FROM memories WHERE key IN (SELECT value FROM json_each(?))", (keys,))
    return Progress(rows[-1][0], len(rows), revision)


def forget_places(raw: sqlite3.Connection, project: str) -> None:
    """Remove the sessions of a project that have no memory left, and the places that hold none."""
    raw.execute(
        "DELETE FROM sessions WHERE project = ?1 AND NOT EXISTS (SELECT 1 FROM memories m "
        "WHERE m.project = ?1 AND m.session_id = sessions.session_id AND m.session_id <> '')",
        (project,),
    )
    raw.execute("DELETE FROM tallies WHERE project = ? AND memories = 0", (project,))


def _leave_tombstones(raw: sqlite3.Connection, ids: str, number: int, project: str, now: int) -> int:
    """Tell the followers of the change feed of deletions; return the newest revision."""
    taken = raw.execute("UPDATE head SET revision = revision + ? RETURNING revision", (number,))
    last: int = taken.fetchone()[0]
    raw.execute(
        "INSERT OR REPLACE INTO tombstones (revision, memory_id, project, deleted_at) "
        "SELECT ?1 + key + 1, value, ?2, ?3 FROM json_each(?4)",
        (last - number, project, now, ids),
    )
    return last
