"""Units of work for those who follow the store: the change feed, and memories that wait for vectors."""

import sqlite3
from collections.abc import Iterable

from satchel.store.adapters.sqlite.rows import (
    SOURCE,
    Row,
    head_of,
    is_reembedding,
    json_list,
    model_of,
    split_tags,
    store_id_of,
)
from satchel.store.model import Change, Changes, MemoryState, MemoryType, Pending
from satchel.store.preparing import searchable_text
from satchel.store.snapshots import load_component

_CHANGES = """
SELECT m.revision, m.id, m.project, m.state, m.updated_at, m.wing, m.room, m.type, m.effective_at,
  m.session_id, (SELECT group_concat(t.tag, char(10)) FROM memory_tags t WHERE t.memory = m.key),
  iif(e.memory IS NULL, 0, m.passage_count), {vectors}
FROM memories m LEFT JOIN embeddings e ON e.memory = m.key
WHERE m.revision > ?1 AND (?3 = '' OR m.project = ?3)
ORDER BY m.revision LIMIT ?2
"""
_TOMBSTONES = """
SELECT revision, memory_id, project, deleted_at FROM tombstones
WHERE revision > ?1 AND (?3 = '' OR project = ?3) ORDER BY revision LIMIT ?2
"""
_FIXED_BYTES = 2048  # of a change without tags and vectors


def changes(
    raw: sqlite3.Connection, after: int, *, limit: int, max_bytes: int, project: str, with_vectors: bool
) -> Changes:
    """Return the newest change of each memory after a revision, in order, and what they cover."""
    parameters = (after, limit, project)
    vectors = "e.vectors" if with_vectors else "x''"
    live, is_cut = _take(raw.execute(_CHANGES.format(vectors=vectors), parameters), max_bytes)
    gone = [_gone_change(row) for row in raw.execute(_TOMBSTONES, parameters)]
    if is_cut:
        gone = [change for change in gone if change.revision < live[-1].revision]
    found = sorted([*live, *gone])[:limit]
    head = head_of(raw)
    through = found[-1].revision if is_cut or len(found) == limit else max(head, after)
    return Changes(tuple(found), through, head, model_of(raw), store_id_of(raw), is_reembedding(raw))


def _take(rows: Iterable[Row], max_bytes: int) -> tuple[list[Change], bool]:
    """Read changes that fit, at least one; tell whether some were left out."""
    taken: list[Change] = []
    for row in rows:
        max_bytes -= _FIXED_BYTES + len(row[-1] or b"") + 4 * len(row[10] or "")
        if taken and max_bytes < 0:
            return taken, True
        taken.append(_live_change(row))
    return taken, False


def _live_change(row: Row) -> Change:
    revision, memory_id, project, state, changed_at, wing, room, kind, effective_at, session, tags, *rest = (
        row
    )
    passage_count, vectors = rest
    return Change(
        revision=revision,
        memory_id=memory_id,
        project=project,
        state=MemoryState(state),
        changed_at=changed_at,
        wing=wing,
        room=room,
        type=MemoryType(kind),
        effective_at=effective_at,
        session_id=session,
        tags=tuple(sorted(split_tags(tags or ""))),
        passage_count=passage_count,
        vectors=vectors or b"",
    )


def _gone_change(row: Row) -> Change:
    revision, memory_id, project, deleted_at = row
    return Change(revision, memory_id, project, MemoryState.DELETED, deleted_at)


def pending(raw: sqlite3.Connection, skip: frozenset[str], limit: int) -> tuple[Pending, ...]:
    """Return memories that wait for their vectors, oldest first."""
    rows = raw.execute(
        f"SELECT m.id, m.version, d.title, d.body, d.component FROM {SOURCE} "  # noqa: S608
        "WHERE m.passage_count = 0 AND m.id NOT IN (SELECT value FROM json_each(?)) ORDER BY m.key LIMIT ?",
        (json_list(skip), limit),
    )
    return tuple(map(to_pending, rows))


def to_pending(row: Row) -> Pending:
    """Return the memory of a row of id, version, title, body and component, with the text to be embedded."""
    memory_id, version, title, body, component = row
    text = searchable_text(title=title, content=body, component=load_component(component))
    return Pending(memory_id, version, text)
