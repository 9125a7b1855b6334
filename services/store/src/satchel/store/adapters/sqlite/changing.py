"""Units of work that change or delete memories, and that give them their vectors."""

import sqlite3
from collections.abc import Sequence

from satchel.store.adapters.sqlite.deliveries import tell_embedded
from satchel.store.adapters.sqlite.inserting import (
    accept_model,
    check_path,
    document_values,
    forget_words,
    next_revision,
    write_passages,
    write_words,
)
from satchel.store.adapters.sqlite.linking import find_links_again
from satchel.store.adapters.sqlite.requests import keep_answer, recall_answer
from satchel.store.adapters.sqlite.rows import FULL, SOURCE, to_memories
from satchel.store.errors import MemoryNotFound, VersionMismatch
from satchel.store.model import Deleted, Embedded, Memory, Passages, Prepared, RequestKey
from satchel.store.ports import Attached
from satchel.store.snapshots import dump_deleted, dump_memory, load_deleted, load_memory

_UPDATE_MEMORY = """
UPDATE memories SET
  wing = ?, room = ?, path = ?, path_key = ?, type = ?, declared = ?, occurred_at = ?, updated_at = ?,
  effective_at = ?, source = ?, sensitivity = ?, version = version + 1, revision = ?, content_hash = ?,
  verbatim_tokens = ?, fingerprint_tokens = ?, header_tokens = ?, fact_count = ?, passage_count = ?
WHERE key = ?
"""
_UPDATE_DOCUMENT = """
UPDATE documents SET
  title = ?, summary = ?, body = ?, hidden = ?, tags = ?, given_tags = ?, fingerprint = ?, component = ?,
  metadata = ?
WHERE memory = ?
"""


def replace(
    raw: sqlite3.Connection,
    memory: Prepared,
    *,
    base_version: int,
    keep_passages: bool,
    key: RequestKey | None,
    now: int,
    versions_kept: int,
) -> Memory:
    """Put a memory in place of its version ``base_version``, which is kept as a snapshot."""
    if (answer := recall_answer(raw, key, now)) is not None:
        return load_memory(answer)
    row_key, old = _read(raw, memory.id)
    if old.version != base_version:
        raise VersionMismatch(memory_id=memory.id, expected=base_version, actual=old.version)
    check_path(raw, memory, own_key=row_key)
    _keep_version(raw, row_key, old, now, versions_kept)
    _rewrite(raw, row_key, memory, keep_passages=keep_passages)
    find_links_again(raw, row_key, memory, old, same_text=keep_passages)
    _, changed = _read(raw, memory.id)
    keep_answer(raw, key, dump_memory(changed), now, memory_id=memory.id)
    return changed


def keep_unchanged(
    raw: sqlite3.Connection, memory_id: str, *, base_version: int, key: RequestKey, now: int
) -> Memory:
    """Keep the answer to an update that changes nothing of the version ``base_version``."""
    if (answer := recall_answer(raw, key, now)) is not None:
        return load_memory(answer)
    _, memory = _read(raw, memory_id)
    if memory.version != base_version:
        raise VersionMismatch(memory_id=memory_id, expected=base_version, actual=memory.version)
    keep_answer(raw, key, dump_memory(memory), now, memory_id=memory_id)
    return memory


def delete(
    raw: sqlite3.Connection,
    memory_id: str,
    *,
    project: str,
    expected_version: int,
    key: RequestKey | None,
    now: int,
) -> Deleted:
    """Delete a memory with everything that hangs on it; only its id stays, in the change feed."""
    if (answer := recall_answer(raw, key, now)) is not None:
        return load_deleted(answer)
    row = raw.execute("SELECT key, project, version FROM memories WHERE id = ?", (memory_id,)).fetchone()
    if row is None or project not in ("", row[1]):
        raise MemoryNotFound(memory_id)
    if expected_version not in (0, row[2]):
        raise VersionMismatch(memory_id=memory_id, expected=expected_version, actual=row[2])
    revision = next_revision(raw)
    raw.execute("DELETE FROM memories WHERE key = ?", (row[0],))
    raw.execute("DELETE FROM requests WHERE memory_id = ?", (memory_id,))
    raw.execute(
        "INSERT OR REPLACE INTO tombstones (revision, memory_id, project, deleted_at) VALUES (?, ?, ?, ?)",
        (revision, memory_id, row[1], now),
    )
    deleted = Deleted(memory_id, revision)
    keep_answer(raw, key, dump_deleted(deleted), now)
    return deleted


def attach(raw: sqlite3.Connection, embedded: Sequence[Embedded]) -> Attached:
    """Give vectors to memories that still wait for them in the version that was embedded."""
    count, refused = 0, False
    for one in embedded:
        row = raw.execute(
            "SELECT key FROM memories WHERE id = ? AND version = ? AND passage_count = 0",
            (one.id, one.version),
        ).fetchone()
        if row is None:
            continue
        if not accept_model(raw, one.passages):
            refused = True
            continue
        write_passages(raw, row[0], one.passages)
        raw.execute(
            "UPDATE memories SET passage_count = ?, revision = ? WHERE key = ?",
            (one.passages.count, next_revision(raw), row[0]),
        )
        count += 1
    return Attached(count, refused)


def _read(raw: sqlite3.Connection, memory_id: str) -> tuple[int, Memory]:
    row = raw.execute(f"SELECT {FULL} FROM {SOURCE} WHERE m.id = ?", (memory_id,)).fetchone()  # noqa: S608
    if row is None:
        raise MemoryNotFound(memory_id)
    return row[-1], to_memories(raw, [row])[0]


def _keep_version(raw: sqlite3.Connection, key: int, old: Memory, now: int, versions_kept: int) -> None:
    raw.execute(
        "INSERT INTO versions (memory, version, replaced_at, snapshot) VALUES (?, ?, ?, ?)",
        (key, old.version, now, dump_memory(old)),
    )
    raw.execute("DELETE FROM versions WHERE memory = ? AND version <= ?", (key, old.version - versions_kept))


def _rewrite(raw: sqlite3.Connection, key: int, memory: Prepared, *, keep_passages: bool) -> None:
    count = _new_passages(raw, key, memory.passages, keep=keep_passages)
    new, costs = memory.new, memory.costs
    effective_at = memory.created_at if new.occurred_at is None else new.occurred_at
    raw.execute(
        _UPDATE_MEMORY,
        (
            new.wing, memory.room, new.path, memory.path_key, int(memory.type), int(memory.declared),
            new.occurred_at, memory.updated_at, effective_at, new.source, int(new.sensitivity),
            next_revision(raw), memory.content_hash, costs.verbatim, costs.fingerprint, costs.header,
            memory.fact_count, count, key,
        ),
    )  # fmt: skip
    raw.execute(_UPDATE_DOCUMENT, (*document_values(memory), key))
    if count and not keep_passages:
        tell_embedded(raw, key)
    forget_words(raw, key)
    write_words(raw, key, memory)


def _new_passages(raw: sqlite3.Connection, key: int, passages: Passages | None, *, keep: bool) -> int:
    """Write, keep or drop the passages of a memory; return how many it has now."""
    if keep:
        count: int = raw.execute("SELECT passage_count FROM memories WHERE key = ?", (key,)).fetchone()[0]
        return count
    raw.execute("DELETE FROM stored_embeddings WHERE memory = ?", (key,))
    if passages is None or not accept_model(raw, passages):
        return 0
    write_passages(raw, key, passages)
    return passages.count
