"""The change feed."""

from itertools import takewhile

from satchel.store.adapters.memory.entries import Entry
from satchel.store.adapters.memory.sizing import change_bytes, leading
from satchel.store.adapters.memory.tables import Tables
from satchel.store.model import Change, Changes


def changes(
    tables: Tables, after: int, *, limit: int, max_bytes: int, project: str, with_vectors: bool
) -> Changes:
    """Return the newest change of each memory after a revision, in order, and what they cover."""
    live = takewhile(lambda one: one.revision > after, reversed(tables.entries.values()))
    gone = takewhile(lambda one: one.revision > after, reversed(tables.gone.values()))
    found: list[Entry | Change] = [*live, *gone]
    found.sort(key=lambda one: one.revision)
    sized = (
        (_change(one, with_vectors=with_vectors), _size(one, with_vectors=with_vectors))
        for one in found
        if project in ("", one.project)
    )
    taken, has_more = leading(sized, max_bytes=max_bytes, limit=limit)
    through = taken[-1].revision if has_more else max(tables.head, after)
    is_partial = bool(tables.outdated)
    return Changes(tuple(taken), through, tables.head, tables.model, tables.store_id, is_partial)


def _size(one: Entry | Change, *, with_vectors: bool) -> int:
    return change_bytes(one, with_vectors=with_vectors) if isinstance(one, Entry) else 0


def _change(one: Entry | Change, *, with_vectors: bool) -> Change:
    if isinstance(one, Change):
        return one
    memory, passages = one.memory, one.passages
    return Change(
        revision=memory.revision,
        memory_id=memory.id,
        project=memory.project,
        state=memory.state,
        changed_at=memory.updated_at,
        wing=memory.wing,
        room=memory.room,
        type=memory.type,
        effective_at=one.effective_at,
        session_id=memory.session_id,
        tags=tuple(sorted(one.tag_keys)),
        passage_count=memory.passage_count,
        vectors=passages.vectors if with_vectors and passages is not None else b"",
    )
