"""Units of work that archive memories and bring them back; each writes a bounded number of them."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from satchel.store.adapters.sqlite.rows import json_list
from satchel.store.adapters.sqlite.scoping import conditions
from satchel.store.errors import BatchNotFound, MemoryNotFound
from satchel.store.lifecycle import Shelved, ToArchive, ToUnarchive
from satchel.store.model import MemoryState, MemoryType

CHUNK = 500  # memories of one write: some ten milliseconds
Shelving: TypeAlias = tuple[list[Shelved], int]  # memories that were moved, and the newest revision

_NO_LIMIT = -1
_ACTIVE, _ARCHIVED = int(MemoryState.ACTIVE), int(MemoryState.ARCHIVED)
_AGE_FROM = "ifnull(m.unarchived_at, m.created_at)"

# Repeats the conditions of the index `memories_by_age`, so that only what is due is read.
_AGED = f"""
SELECT m.key, m.id, m.type, m.verbatim_tokens FROM memories m
WHERE m.state = {_ACTIVE} AND m.type IN ({int(MemoryType.SESSION_NOTE)}, {int(MemoryType.DEBUG_LOG)})
AND m.type = ? AND {_AGE_FROM} <= ? AND {{where}} ORDER BY {_AGE_FROM}, m.id LIMIT ?
"""  # noqa: S608  # only numbers of our enums are put in
_BY_ID = """
SELECT m.key, m.id, m.type, m.verbatim_tokens, m.state
FROM json_each(?1) k CROSS JOIN memories m ON m.id = k.value WHERE ?2 = '' OR m.project = ?2
"""
_BY_BATCH = """
SELECT key, id, type, verbatim_tokens FROM memories
WHERE archive_batch = ?1 AND (?2 = '' OR project = ?2) AND state = ?3 ORDER BY key LIMIT ?4
"""
_HAS_BATCH = "SELECT 1 FROM memories WHERE archive_batch = ?1 AND (?2 = '' OR project = ?2) LIMIT 1"
_SET_STATE = """
UPDATE memories SET
  state = ?2, archived_at = ?3, archive_batch = ifnull(?4, archive_batch),
  unarchived_at = ifnull(?5, unarchived_at),
  revision = ?6 + k.key + 1
FROM json_each(?1) k WHERE memories.key = k.value
"""


def archivable(raw: sqlite3.Connection, wanted: ToArchive) -> list[Shelved]:
    """Return what would be archived."""
    if wanted.ids:
        return list(_named(raw, wanted.scope.project, wanted.ids, MemoryState.ACTIVE).values())
    parts = (_aged(raw, wanted, kind, _NO_LIMIT) for kind in sorted(wanted.until))
    return [one for part in parts for one in part.values()]


def archive_ids(wanted: ToArchive, batch: str, now: int, raw: sqlite3.Connection) -> Shelving:
    """Archive the memories of ids, all or none."""
    found = _named(raw, wanted.scope.project, wanted.ids, MemoryState.ACTIVE)
    return list(found.values()), set_archived(raw, list(found), batch=batch, now=now)


def archive_aged(
    wanted: ToArchive, kind: MemoryType, batch: str, now: int, raw: sqlite3.Connection
) -> Shelving:
    """Archive the oldest memories of a type that are old enough, at most a chunk."""
    found = _aged(raw, wanted, kind, CHUNK)
    return list(found.values()), set_archived(raw, list(found), batch=batch, now=now)


def unarchive_ids(wanted: ToUnarchive, now: int, raw: sqlite3.Connection) -> Shelving:
    """Bring the memories of ids back, all or none."""
    found = _named(raw, wanted.project, wanted.ids, MemoryState.ARCHIVED)
    return list(found.values()), set_active(raw, list(found), now=now)


def unarchive_batch(wanted: ToUnarchive, now: int, raw: sqlite3.Connection) -> Shelving:
    """Bring memories of a batch back, at most a chunk.

    Raises:
        BatchNotFound: there is none.
    """
    if raw.execute(_HAS_BATCH, (wanted.batch, wanted.project)).fetchone() is None:
        raise BatchNotFound(wanted.batch)
    found = _shelved(raw.execute(_BY_BATCH, (wanted.batch, wanted.project, _ARCHIVED, CHUNK)))
    return list(found.values()), set_active(raw, list(found), now=now)


def set_archived(raw: sqlite3.Connection, keys: Sequence[int], *, batch: str, now: int) -> int:
    """Archive active memories under a batch and return the newest revision; 0 without any.

    Each gets a revision, in the order of the keys.
    """
    return _set_state(raw, keys, (_ARCHIVED, now, batch, None))


def set_active(raw: sqlite3.Connection, keys: Sequence[int], *, now: int) -> int:
    """Bring archived memories back and return the newest revision; 0 without any.

    Each gets a revision, in the order of the keys. Their batch stays known, for whoever repeats the call.
    """
    return _set_state(raw, keys, (_ACTIVE, None, None, now))


def _set_state(raw: sqlite3.Connection, keys: Sequence[int], values: tuple[int | str | None, ...]) -> int:
    """Set state, time and batch of archiving, unless that is `None`, and time of the return."""
    if not keys:
        return 0
    taken = raw.execute("UPDATE head SET revision = revision + ? RETURNING revision", (len(keys),))
    last: int = taken.fetchone()[0]
    raw.execute(_SET_STATE, (json_list(keys), *values, last - len(keys)))
    return last


def _aged(raw: sqlite3.Connection, wanted: ToArchive, kind: MemoryType, limit: int) -> dict[int, Shelved]:
    """Return active memories of a type that are old enough, by key; the oldest first, then by id."""
    where = conditions(wanted.scope)
    parameters = (int(kind), wanted.until[kind], *where.parameters, limit)
    return _shelved(raw.execute(_AGED.format(where=where.sql), parameters))


def _named(
    raw: sqlite3.Connection, project: str, ids: Sequence[str], state: MemoryState
) -> dict[int, Shelved]:
    """Return those of the memories that are in a state, by key; an empty project means any.

    Raises:
        MemoryNotFound: one of them is not there.
    """
    rows = raw.execute(_BY_ID, (json_list(ids), project)).fetchall()
    known = {row[1] for row in rows}
    for memory_id in ids:
        if memory_id not in known:
            raise MemoryNotFound(memory_id)
    return _shelved(row[:4] for row in rows if row[4] == int(state))


def _shelved(rows: Iterable[tuple[int, str, int, int]]) -> dict[int, Shelved]:
    return {key: Shelved(memory_id, MemoryType(kind), tokens) for key, memory_id, kind, tokens in rows}
