"""Units of work that read memories; each runs in one snapshot of the store."""

import sqlite3
from collections.abc import Sequence

from satchel.store.adapters.sqlite.rows import (
    BRIEF,
    FULL,
    SOURCE,
    Row,
    head_of,
    json_list,
    key_of,
    model_of,
    split_tags,
    to_memories,
)
from satchel.store.adapters.sqlite.scoping import conditions
from satchel.store.model import (
    Change,
    Changes,
    Fetched,
    Memory,
    MemoryState,
    MemoryType,
    Pending,
    Status,
    StoredVectors,
)
from satchel.store.ports import FetchQuery
from satchel.store.preparing import searchable_text
from satchel.store.scope import Place, Scope
from satchel.store.snapshots import load_component

_ACTIVE = int(MemoryState.ACTIVE)
_WINGS = 20

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

_CHANGES = """
SELECT m.revision, m.id, m.project, m.state, m.updated_at, m.wing, m.room, m.type, m.effective_at, m.session_id,
  d.tags, m.passage_count, {vectors}
FROM memories m JOIN documents d ON d.memory = m.key LEFT JOIN embeddings e ON e.memory = m.key
WHERE m.revision > ?1 AND (?3 = '' OR m.project = ?3)
ORDER BY m.revision LIMIT ?2
"""
_TOMBSTONES = """
SELECT revision, memory_id, project, deleted_at FROM tombstones
WHERE revision > ?1 AND (?3 = '' OR project = ?3) ORDER BY revision LIMIT ?2
"""


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
            "SELECT e.memory, e.spans, e.vectors FROM json_each(?1) k CROSS JOIN embeddings e ON e.memory = k.value",
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


def count(raw: sqlite3.Connection, scope: Scope) -> int:
    """Return how many memories a scope holds."""
    where = conditions(scope)
    found: int = raw.execute(
        f"SELECT count(*) FROM memories m WHERE {where.sql}",  # noqa: S608
        where.parameters,
    ).fetchone()[0]
    return found


def pending(raw: sqlite3.Connection, skip: frozenset[str], limit: int) -> tuple[Pending, ...]:
    """Return memories that wait for their vectors, oldest first."""
    rows = raw.execute(
        "SELECT m.id, m.version, d.title, d.body, d.component FROM memories m JOIN documents d ON d.memory = m.key "
        "WHERE m.passage_count = 0 AND m.id NOT IN (SELECT value FROM json_each(?)) ORDER BY m.key LIMIT ?",
        (json_list(skip), limit),
    )
    return tuple(
        Pending(
            memory_id,
            version,
            searchable_text(title=title, content=body, component=load_component(component)),
        )
        for memory_id, version, title, body, component in rows
    )


def changes(raw: sqlite3.Connection, after: int, *, limit: int, project: str, with_vectors: bool) -> Changes:
    """Return the newest change of each memory after a revision, in order, and what they cover."""
    parameters = (after, limit, project)
    vectors = "e.vectors" if with_vectors else "x''"
    live = raw.execute(_CHANGES.format(vectors=vectors), parameters).fetchall()
    gone = raw.execute(_TOMBSTONES, parameters).fetchall()
    found = sorted([*map(_live_change, live), *map(_gone_change, gone)])[:limit]
    head = head_of(raw)
    through = found[-1].revision if len(found) == limit else max(head, after)
    return Changes(tuple(found), through, head, model_of(raw))


def _live_change(row: Row) -> Change:
    (
        revision,
        memory_id,
        project,
        state,
        changed_at,
        wing,
        room,
        kind,
        effective_at,
        session,
        tags,
        count_,
        packed,
    ) = row
    return Change(
        revision, memory_id, project, MemoryState(state), changed_at, wing, room, MemoryType(kind), effective_at,
        session, split_tags(tags), count_, packed or b"",
    )  # fmt: skip


def _gone_change(row: Row) -> Change:
    revision, memory_id, project, deleted_at = row
    return Change(revision, memory_id, project, MemoryState.DELETED, deleted_at)


def status(raw: sqlite3.Connection, project: str, *, schema_version: int, database_bytes: int) -> Status:
    """Count by the tallies; no memory is read."""
    where, parameters = ("project = ?", (project,)) if project else ("1", ())
    rows = raw.execute(
        f"SELECT wing, type, state, memories, tokens, passages, pending FROM tallies WHERE {where}",  # noqa: S608
        parameters,
    ).fetchall()
    by_type, by_wing = dict.fromkeys(MemoryType, 0), dict[str, int]()
    for wing, kind, _, memories, *_ in rows:
        by_type[MemoryType(kind)] += memories
        by_wing[wing] = by_wing.get(wing, 0) + memories
    linked, links = _count_links(raw, project)
    return Status(
        memories=sum(row[3] for row in rows),
        archived=sum(row[3] for row in rows if row[2] == MemoryState.ARCHIVED),
        passages=sum(row[5] for row in rows),
        pending=sum(row[6] for row in rows),
        tokens=sum(row[4] for row in rows),
        linked_memories=linked,
        links=links,
        by_type={kind: number for kind, number in by_type.items() if number},
        wings=_largest(by_wing),
        head=head_of(raw),
        schema_version=schema_version,
        database_bytes=database_bytes,
        model=model_of(raw),
    )


def _largest(by_wing: dict[str, int]) -> tuple[str, ...]:
    ordered = sorted(((-number, wing) for wing, number in by_wing.items() if number))
    return tuple(wing for _, wing in ordered[:_WINGS])


def _count_links(raw: sqlite3.Connection, project: str) -> tuple[int, int]:
    """Return how many memories have a link, and how many links there are."""
    ends = "SELECT cause AS key FROM links UNION SELECT effect FROM links"
    if not project:
        return (
            raw.execute(f"SELECT count(*) FROM ({ends})").fetchone()[0],  # noqa: S608
            raw.execute("SELECT count(*) FROM links").fetchone()[0],
        )
    return (
        raw.execute(
            f"SELECT count(*) FROM ({ends}) e JOIN memories m ON m.key = e.key WHERE m.project = ?",  # noqa: S608
            (project,),
        ).fetchone()[0],
        raw.execute(
            "SELECT count(*) FROM links l JOIN memories m ON m.key = l.cause WHERE m.project = ?", (project,)
        ).fetchone()[0],
    )
