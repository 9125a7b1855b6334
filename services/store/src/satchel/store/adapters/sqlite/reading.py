"""Units of work that read memories; each runs in one snapshot of the store."""

import sqlite3
from collections.abc import Sequence

from satchel.store.adapters.sqlite.rows import (
    BRIEF,
    FULL,
    SOURCE,
    Row,
    json_list,
    key_of,
    model_of,
    to_memories,
)
from satchel.store.adapters.sqlite.scoping import conditions
from satchel.store.model import (
    Fetched,
    Memory,
    MemoryState,
    StoredVectors,
)
from satchel.store.ports import FetchQuery
from satchel.store.scope import Place, Scope

_ACTIVE = int(MemoryState.ACTIVE)

# For each memory with a session, the nearest active ones on either side: two range reads of one index.
_NEIGHBORS = f"""
SELECT DISTINCT n.key
FROM json_each(?1) k JOIN memories a ON a.key = k.value JOIN memories n ON n.key IN (
  SELECT key FROM (
    SELECT b.key FROM memories b
    WHERE b.project = a.project AND b.session_id = a.session_id AND b.session_id <> ''
      AND b.session_order < a.session_order AND b.state = {_ACTIVE}
    ORDER BY b.session_order DESC LIMIT ?2
  ) UNION ALL SELECT key FROM (
    SELECT c.key FROM memories c
    WHERE c.project = a.project AND c.session_id = a.session_id AND c.session_id <> ''
      AND c.session_order > a.session_order AND c.state = {_ACTIVE}
    ORDER BY c.session_order LIMIT ?2
  )
)
WHERE a.session_id <> ''
"""  # noqa: S608  # only the number of a state is put in


def fetch(raw: sqlite3.Connection, query: FetchQuery) -> Fetched:
    """Return memories by id with what the query asks for beside them."""
    columns = FULL if query.with_details else BRIEF
    rows = raw.execute(
        f"SELECT {columns} FROM json_each(?1) k CROSS JOIN memories m ON m.id = k.value "  # noqa: S608
        "JOIN documents d ON d.memory = m.key WHERE (?2 = '' OR m.project = ?2)",
        (json_list(query.ids), query.project),
    ).fetchall()
    by_id: dict[str, Row] = {row[0]: row for row in rows}
    wanted = dict.fromkeys(query.ids)
    found = [by_id[memory_id] for memory_id in wanted if memory_id in by_id]
    near = _neighbors(raw, found, query, columns)
    memories = to_memories(raw, [*found, *near])
    vectors = _vectors(raw, [*found, *near]) if query.with_vectors else ()
    model = model_of(raw) if vectors else None
    return Fetched(
        memories[: len(found)],
        tuple(memory_id for memory_id in wanted if memory_id not in by_id),
        memories[len(found) :],
        vectors,
        0 if model is None else model.dimension,
    )


def _neighbors(raw: sqlite3.Connection, found: Sequence[Row], query: FetchQuery, columns: str) -> list[Row]:
    if not query.neighbors or not found:
        return []
    own = {key_of(row) for row in found}
    near = raw.execute(_NEIGHBORS, (json_list(own), query.neighbors))
    others = [key for (key,) in near if key not in own]
    return raw.execute(
        f"SELECT {columns} FROM json_each(?1) k CROSS JOIN memories m ON m.key = k.value "  # noqa: S608
        "JOIN documents d ON d.memory = m.key ORDER BY m.project, m.session_id, m.session_order, m.id",
        (json_list(others),),
    ).fetchall()


def _vectors(raw: sqlite3.Connection, rows: Sequence[Row]) -> tuple[StoredVectors, ...]:
    packed = {
        key: (spans, vectors)
        for key, spans, vectors in raw.execute(
            "SELECT e.memory, e.spans, e.vectors FROM json_each(?1) k "
            "CROSS JOIN embeddings e ON e.memory = k.value",
            (json_list(key_of(row) for row in rows),),
        )
    }
    return tuple(StoredVectors(row[0], *packed[key_of(row)]) for row in rows if key_of(row) in packed)


def page(raw: sqlite3.Connection, scope: Scope, after: Place | None, limit: int) -> tuple[Memory, ...]:
    """Return a page of memories by descending creation time, then ascending id."""
    where = conditions(scope)
    if after is not None:
        where.add("m.created_at <= ?", after.created_at)
        where.add("(m.created_at < ? OR m.id > ?)", after.created_at, after.id)
    rows = raw.execute(
        f"SELECT {FULL} FROM {SOURCE} WHERE {where.sql} ORDER BY m.created_at DESC, m.id LIMIT ?",  # noqa: S608
        (*where.parameters, limit),
    ).fetchall()
    return to_memories(raw, rows)


def export_page(raw: sqlite3.Connection, scope: Scope, after: Place | None, limit: int) -> tuple[Memory, ...]:
    """Return the next memories of an export by ascending creation time and id."""
    where = conditions(scope)
    if after is not None:
        where.add("(m.created_at, m.id) > (?, ?)", after.created_at, after.id)
    rows = raw.execute(
        f"SELECT {FULL} FROM {SOURCE} WHERE {where.sql} ORDER BY m.created_at, m.id LIMIT ?",  # noqa: S608
        (*where.parameters, limit),
    ).fetchall()
    return to_memories(raw, rows)
