"""Units of work that put one memory in place of several, and undo it."""

import sqlite3
from collections.abc import Sequence

import numpy as np

from satchel.store.adapters.sqlite import archiving
from satchel.store.adapters.sqlite.inserting import insert
from satchel.store.adapters.sqlite.rows import json_list, model_of
from satchel.store.adapters.sqlite.scoping import conditions
from satchel.store.consolidation.clustering import mean_vector
from satchel.store.consolidation_ports import Comparable, Merge, SourceVersion
from satchel.store.errors import VersionMismatch
from satchel.store.lifecycle import ToUnarchive
from satchel.store.model import MemoryState, Stored
from satchel.store.scope import Scope

_ACTIVE = int(MemoryState.ACTIVE)
_COMPARABLE = """
SELECT m.id, e.vectors
FROM memories m JOIN embeddings e ON e.memory = m.key JOIN documents d ON d.memory = m.key
WHERE {where} AND m.path_key IS NULL AND d.component = '' ORDER BY m.effective_at DESC, m.id LIMIT ?
"""
# Those that were given come first, so that a link is a given one if it is that of any source.
_INHERIT = """
INSERT OR IGNORE INTO links ({near}, {far}, relation, phrase)
SELECT ?1, {far}, relation, phrase FROM links
WHERE {near} IN (SELECT value FROM json_each(?2)) AND {far} <> ?1
  AND {far} NOT IN (SELECT value FROM json_each(?2))
ORDER BY phrase
"""
_INHERIT_BOTH = tuple(
    _INHERIT.format(near=near, far=far) for near, far in (("cause", "effect"), ("effect", "cause"))
)


def comparable(raw: sqlite3.Connection, scope: Scope, limit: int) -> Comparable:
    """Return the newest memories of a scope that can be compared, with the mean of their passages."""
    model = model_of(raw)
    if model is None:
        return Comparable((), np.empty((0, 0), np.float32))
    where = conditions(scope)
    rows = raw.execute(_COMPARABLE.format(where=where.sql), (*where.parameters, limit))
    found = [(memory_id, mean_vector(vectors, model.dimension)) for memory_id, vectors in rows]
    vectors = (
        np.stack([vector for _, vector in found]) if found else np.empty((0, model.dimension), np.float32)
    )
    return Comparable(tuple(memory_id for memory_id, _ in found), vectors)


def merge_all(raw: sqlite3.Connection, merges: Sequence[Merge], batch: str, now: int) -> tuple[Stored, ...]:
    """Store memories, and archive what they replace."""
    keys = [[_current(raw, source) for source in one.sources] for one in merges]
    stored = tuple(_merge(raw, one, sources, batch) for one, sources in zip(merges, keys, strict=True))
    archiving.set_archived(raw, [key for sources in keys for key in sources], batch=batch, now=now)
    return stored


def _merge(raw: sqlite3.Connection, merge: Merge, sources: Sequence[int], batch: str) -> Stored:
    stored = insert(raw, merge.memory, links_must_exist=True)
    key: int = raw.execute("SELECT key FROM memories WHERE id = ?", (stored.id,)).fetchone()[0]
    for sql in _INHERIT_BOTH:
        raw.execute(sql, (key, json_list(sources)))
    raw.execute("INSERT INTO merged (batch, memory) VALUES (?, ?)", (batch, key))
    return stored


def _current(raw: sqlite3.Connection, source: SourceVersion) -> int:
    """Return the key of an active memory that still has a version."""
    row = raw.execute(
        "SELECT key, version FROM memories WHERE id = ? AND state = ?", (source.id, _ACTIVE)
    ).fetchone()
    if row is None or row[1] != source.version:
        actual = 0 if row is None else row[1]
        raise VersionMismatch(memory_id=source.id, expected=source.version, actual=actual)
    key: int = row[0]
    return key


def unarchive_batch(wanted: ToUnarchive, now: int, raw: sqlite3.Connection) -> archiving.Shelving:
    """Bring memories of a batch back, at most a chunk, and archive what they became."""
    _archive_merged(raw, wanted.batch, wanted.project, now)
    return archiving.unarchive_batch(wanted, now, raw)


def _archive_merged(raw: sqlite3.Connection, batch: str, project: str, now: int) -> None:
    """Archive what memories of a batch became.

    Each gets its own id as that of the batch, so that it does not come back with its sources.
    """
    rows = raw.execute(
        "SELECT m.key, m.id, m.state FROM merged g JOIN memories m ON m.key = g.memory "
        "WHERE g.batch = ?1 AND (?2 = '' OR m.project = ?2) ORDER BY m.key",
        (batch, project),
    ).fetchall()
    raw.execute(
        "DELETE FROM merged WHERE batch = ? AND memory IN (SELECT value FROM json_each(?))",
        (batch, json_list(row[0] for row in rows)),
    )
    for key, memory_id, state in rows:
        if state == _ACTIVE:
            archiving.set_archived(raw, [key], batch=memory_id, now=now)
