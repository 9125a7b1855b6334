"""Units of work that read the order of time, and what memories were."""

import sqlite3
from collections.abc import Iterator

from satchel.store.adapters.sqlite.rows import FULL, SOURCE, Row, key_of, to_memories
from satchel.store.adapters.sqlite.scoping import conditions
from satchel.store.errors import MemoryNotFound, VersionNotFound
from satchel.store.lifecycle import (
    Timeline,
    TimelineItem,
    Version,
    Versions,
    size_of,
)
from satchel.store.model import Memory, MemoryType
from satchel.store.preparing import searchable_text
from satchel.store.scope import Place, Scope
from satchel.store.snapshots import load_component, load_memory
from satchel.store.summaries import READ_FOR_SUMMARY, summary_of

_ITEMS = f"""
SELECT m.id, m.effective_at, m.type, m.wing, m.room, d.title, d.hidden,
  iif(d.hidden, '', substr(d.body, 1, {READ_FOR_SUMMARY})), iif(d.hidden, d.component, '')
FROM {SOURCE} WHERE {{where}} ORDER BY m.effective_at DESC, m.id LIMIT ?
"""  # noqa: S608  # a number of ours is put in; the values are parameters


def timeline(raw: sqlite3.Connection, scope: Scope, after: Place | None, limit: int) -> Timeline:
    """Return memories by descending time of happening, then ascending id."""
    where = conditions(scope)
    if after is not None:
        where.add("m.effective_at <= ?", after.created_at)
        where.add("(m.effective_at < ? OR m.id > ?)", after.created_at, after.id)
    rows = raw.execute(_ITEMS.format(where=where.sql), (*where.parameters, limit + 1)).fetchall()
    return Timeline(tuple(map(_item, rows[:limit])), len(rows) > limit)


def _item(row: Row) -> TimelineItem:
    memory_id, at, kind, wing, room, title, hidden, text, component = row
    if hidden:
        text, title = searchable_text(title=title, content="", component=load_component(component)), ""
    return TimelineItem(memory_id, at, MemoryType(kind), summary_of(text, title=title), wing, room)


def versions(
    raw: sqlite3.Connection, memory_id: str, *, project: str, below: int | None, limit: int, max_bytes: int
) -> Versions:
    """Return versions by descending number, as many as fit, but at least one."""
    row = raw.execute(
        f"SELECT {FULL} FROM {SOURCE} WHERE m.id = ?1 AND (?2 = '' OR m.project = ?2)",  # noqa: S608  # columns
        (memory_id, project),
    ).fetchone()
    if row is None:
        raise MemoryNotFound(memory_id)
    taken: list[Version] = []
    for one in _each(raw, row, below):
        max_bytes -= size_of(one.memory)
        if taken and (len(taken) == limit or max_bytes < 0):
            return Versions(tuple(taken), has_more=True)
        taken.append(one)
    return Versions(tuple(taken), has_more=False)


def _each(raw: sqlite3.Connection, row: Row, below: int | None) -> Iterator[Version]:
    (current,) = to_memories(raw, [row])
    if below is None or current.version < below:
        yield Version(current, None)
    rows = raw.execute(
        "SELECT snapshot, replaced_at FROM versions WHERE memory = ? AND version < ? ORDER BY version DESC",
        (key_of(row), current.version if below is None else below),
    )
    for snapshot, replaced_at in rows:
        yield Version(load_memory(snapshot)._replace(links=()), replaced_at)


def version(raw: sqlite3.Connection, memory_id: str, number: int) -> Memory:
    """Return what a memory was in a version."""
    row = raw.execute(
        "SELECT v.snapshot FROM memories m JOIN versions v ON v.memory = m.key "
        "WHERE m.id = ? AND v.version = ?",
        (memory_id, number),
    ).fetchone()
    if row is None:
        raise VersionNotFound(memory_id=memory_id, version=number)
    return load_memory(row[0])._replace(links=())
