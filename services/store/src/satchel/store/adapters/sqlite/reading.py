"""Units of work that read memories; each runs in one snapshot of the store."""

import sqlite3
from collections.abc import Iterable, Sequence

from satchel.store.adapters.sqlite.metering import Meter, take
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
    MemoryState,
    Slice,
    StoredVectors,
)
from satchel.store.ports import FetchQuery
from satchel.store.scope import Place, Scope

_ACTIVE = int(MemoryState.ACTIVE)
_FLOAT_BYTES = 4
_SPAN_BYTES = 12  # of the two edges of a passage

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
    """Return memories by id with what the query asks for beside them.

    When that is more than the query allows, the first half of the ids is tried, and so on.
    """
    wanted = tuple(dict.fromkeys(query.ids))
    model = model_of(raw) if query.with_vectors else None
    dimension = 0 if model is None else model.dimension
    count = len(wanted)
    while (rows := _read(raw, query, wanted[:count], dimension)) is None:
        count //= 2
    found, near = rows
    memories = to_memories(raw, [*found, *near])
    vectors = _vectors(raw, [*found, *near]) if dimension else ()
    known = {row[0] for row in found}
    return Fetched(
        memories[: len(found)],
        tuple(memory_id for memory_id in wanted[:count] if memory_id not in known),
        memories[len(found) :],
        vectors,
        dimension if vectors else 0,
        wanted[count:],
    )


def _read(
    raw: sqlite3.Connection, query: FetchQuery, wanted: Sequence[str], dimension: int
) -> tuple[list[Row], list[Row]] | None:
    """Return the memories in the order of the ids, and their neighbours; None if that is too much."""
    columns = FULL if query.with_details else BRIEF
    rows = raw.execute(
        f"SELECT {columns} FROM json_each(?1) k CROSS JOIN memories m ON m.id = k.value "  # noqa: S608
        "JOIN documents d ON d.memory = m.key WHERE (?2 = '' OR m.project = ?2)",
        (json_list(wanted), query.project),
    )
    meter = Meter(query.max_bytes, passage_bytes=_FLOAT_BYTES * dimension + _SPAN_BYTES)
    may_be_cut = len(wanted) > 1
    found = list[Row]()
    for row in rows:
        if not meter.fits(row) and may_be_cut:
            return None
        found.append(row)
    near = list[Row]()
    for row in _neighbors(raw, found, query, columns):
        if not meter.fits(row) and may_be_cut:
            return None
        near.append(row)
    by_id = {row[0]: row for row in found}
    return [by_id[memory_id] for memory_id in wanted if memory_id in by_id], near


def _neighbors(
    raw: sqlite3.Connection, found: Sequence[Row], query: FetchQuery, columns: str
) -> Iterable[Row]:
    if not query.neighbors or not found:
        return ()
    own = {key_of(row) for row in found}
    near = raw.execute(_NEIGHBORS, (json_list(own), query.neighbors))
    others = [key for (key,) in near if key not in own]
    return raw.execute(
        f"SELECT {columns} FROM json_each(?1) k CROSS JOIN memories m ON m.key = k.value "  # noqa: S608
        "JOIN documents d ON d.memory = m.key ORDER BY m.project, m.session_id, m.session_order, m.id",
        (json_list(others),),
    )


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


def page(raw: sqlite3.Connection, scope: Scope, after: Place | None, limit: int, max_bytes: int) -> Slice:
    """Return a page of memories by descending creation time, then ascending id."""
    where = conditions(scope)
    if after is not None:
        where.add("m.created_at <= ?", after.created_at)
        where.add("(m.created_at < ? OR m.id > ?)", after.created_at, after.id)
    rows = raw.execute(
        f"SELECT {FULL} FROM {SOURCE} WHERE {where.sql} ORDER BY m.created_at DESC, m.id LIMIT ?",  # noqa: S608
        (*where.parameters, limit + 1),
    )
    taken, has_more = take(rows, Meter(max_bytes), limit=limit)
    return Slice(to_memories(raw, taken), has_more)
