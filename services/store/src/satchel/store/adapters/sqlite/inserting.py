"""Units of work that add memories."""

import sqlite3
from collections.abc import Sequence

from satchel.store.adapters.sqlite.linking import find_links, link_all
from satchel.store.adapters.sqlite.requests import keep_answer, recall_answer
from satchel.store.adapters.sqlite.rows import Row, join_tags, json_list
from satchel.store.errors import MemoryIdTaken, PathTaken
from satchel.store.model import (
    MemoryState,
    MemoryType,
    ModelIdentity,
    Passages,
    Prepared,
    RequestKey,
    Stored,
)
from satchel.store.snapshots import dump_component, dump_stored, load_stored

_ANSWER = (
    "id, type, fact_count, verbatim_tokens, passage_count, revision, created_at, wing, room, version, "
    "content_hash"
)
_INSERT_MEMORY = """
INSERT INTO memories (
  id, project, wing, room, path, path_key, type, declared, session_id, session_order, occurred_at, created_at,
  updated_at, effective_at, source, sensitivity, state, version, revision, content_hash, verbatim_tokens,
  fingerprint_tokens, header_tokens, fact_count, passage_count, archived_at, archive_batch, unarchived_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_DOCUMENT = """
INSERT INTO documents (
  memory, title, summary, body, hidden, tags, given_tags, fingerprint, component, metadata
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def add_all(
    raw: sqlite3.Connection, batch: Sequence[Prepared], key: RequestKey | None, now: int
) -> tuple[Stored, ...]:
    """Add memories in order; a request that came before gets its first answer."""
    if (answer := recall_answer(raw, key, now)) is not None:
        return load_stored(answer)
    stored = tuple(add(raw, memory) for memory in batch)
    keep_answer(raw, key, dump_stored(stored), now)
    return stored


def add(raw: sqlite3.Connection, memory: Prepared) -> Stored:
    """Add one memory, unless its text is there already in the same place, session, time and path."""
    return find_duplicate(raw, memory) or insert(raw, memory, links_must_exist=True)


def import_one(raw: sqlite3.Connection, memory: Prepared) -> Stored:
    """Add one record of an import, keeping what it brings.

    A record with an id is a duplicate when that id is stored with the same text, and only then. One
    without is a new memory like any other. A link whose other end is not there yet waits for it.
    """
    if not memory.new.id:
        return add(raw, memory)
    row = raw.execute(f"SELECT {_ANSWER}, project FROM memories WHERE id = ?", (memory.id,)).fetchone()  # noqa: S608
    if row is None:
        raw.execute("DELETE FROM tombstones WHERE memory_id = ?", (memory.id,))
        return insert(raw, memory, links_must_exist=False)
    *answer, project = row
    if project != memory.new.project or answer[-1] != memory.content_hash:
        raise MemoryIdTaken(memory.id)
    return _answer(raw, tuple(answer))


def is_stored(raw: sqlite3.Connection, memory: Prepared) -> bool:
    """Tell whether adding this memory would find it there."""
    if not memory.new.id:
        return find_duplicate(raw, memory) is not None
    return raw.execute("SELECT 1 FROM memories WHERE id = ?", (memory.id,)).fetchone() is not None


def find_duplicate(raw: sqlite3.Connection, memory: Prepared) -> Stored | None:
    """Return the active memory that says the same in the same place, or None."""
    new = memory.new
    row = raw.execute(
        f"SELECT {_ANSWER} FROM memories WHERE content_hash = ? AND project = ? AND wing = ? AND room = ? "  # noqa: S608
        "AND session_id = ? AND occurred_at IS ? AND path_key IS ? AND state = ? ORDER BY key LIMIT 1",
        (
            memory.content_hash, new.project, new.wing, memory.room,
            new.session_id, new.occurred_at, memory.path_key, int(MemoryState.ACTIVE),
        ),
    ).fetchone()  # fmt: skip
    return None if row is None else _answer(raw, row)


def insert(raw: sqlite3.Connection, memory: Prepared, *, links_must_exist: bool) -> Stored:
    """Write a memory and all that belongs to it, at the next revision."""
    check_path(raw, memory, own_key=None)
    passages = memory.passages if accept_model(raw, memory.passages) else None
    revision = next_revision(raw)
    key = _insert_memory(raw, memory, passages, revision)
    raw.execute(_INSERT_DOCUMENT, (key, *document_values(memory)))
    write_words(raw, key, memory)
    if passages is not None:
        write_passages(raw, key, passages)
    link_all(raw, key, memory, must_exist=links_must_exist)
    find_links(raw, key, memory)
    return _stored(memory, passages, revision)


def next_revision(raw: sqlite3.Connection) -> int:
    """Take the store's next revision."""
    revision: int = raw.execute("UPDATE head SET revision = revision + 1 RETURNING revision").fetchone()[0]
    return revision


def check_path(raw: sqlite3.Connection, memory: Prepared, *, own_key: int | None) -> None:
    """Refuse a path that another memory of the project has.

    Raises:
        PathTaken: names the other memory.
    """
    if memory.path_key is None:
        return
    row = raw.execute(
        "SELECT key, id FROM memories WHERE project = ? AND path_key = ?",
        (memory.new.project, memory.path_key),
    ).fetchone()
    if row is not None and row[0] != own_key:
        raise PathTaken(path=memory.new.path, memory_id=row[1])


def accept_model(raw: sqlite3.Connection, passages: Passages | None) -> bool:
    """Tell whether vectors of this model may be stored; vectors of two models are never mixed.

    The first vectors decide; once the last of them is gone, or when a re-embedding began, another model may
    follow.
    """
    if passages is None:
        return False
    known = raw.execute("SELECT sha256 FROM models").fetchone()
    if known is not None and known[0] == passages.model.sha256:
        return True
    if known is not None and raw.execute("SELECT 1 FROM stored_embeddings LIMIT 1").fetchone() is not None:
        return False
    _set_model(raw, passages.model)
    return True


def write_passages(raw: sqlite3.Connection, key: int, passages: Passages) -> None:
    """Put the passages of a memory, of the model in use, in place of those it has."""
    raw.execute(
        "INSERT OR REPLACE INTO stored_embeddings (memory, spans, vectors, model) "
        "VALUES (?, ?, ?, (SELECT number FROM models))",
        (key, passages.spans, passages.vectors),
    )
    if passages.codes:
        raw.execute(
            "INSERT INTO token_codes (memory, counts, codes) VALUES (?, ?, ?)",
            (key, passages.code_counts, passages.codes),
        )
    if not passages.code_counts:
        raw.execute("INSERT INTO without_codes (memory) VALUES (?)", (key,))


def write_words(raw: sqlite3.Connection, key: int, memory: Prepared) -> None:
    """Add the words and the tags of a memory that has none."""
    words = memory.words
    raw.execute(
        "INSERT INTO words (memory, title, tags, summary, body, fields) VALUES (?, ?, ?, ?, ?, ?)",
        (key, words.title, words.tags, words.summary, words.body, words.fields),
    )
    raw.execute(
        "INSERT INTO memory_tags (tag, memory) SELECT value, ? FROM json_each(?)",
        (key, json_list(memory.tag_keys)),
    )


def forget_words(raw: sqlite3.Connection, key: int) -> None:
    """Remove the words and the tags of a memory."""
    raw.execute("DELETE FROM words WHERE memory = ?", (key,))
    raw.execute("DELETE FROM memory_tags WHERE memory = ?", (key,))


def document_values(memory: Prepared) -> tuple[object, ...]:
    """Return the columns of ``documents`` after the key, in the order of the table."""
    new = memory.new
    return (
        new.title, new.summary, new.content, int(memory.hidden), join_tags(memory.tags),
        join_tags(memory.given_tags), memory.fingerprint, dump_component(new.component), new.metadata,
    )  # fmt: skip


def _insert_memory(
    raw: sqlite3.Connection, memory: Prepared, passages: Passages | None, revision: int
) -> int:
    new, costs = memory.new, memory.costs
    effective_at = memory.created_at if new.occurred_at is None else new.occurred_at
    cursor = raw.execute(
        _INSERT_MEMORY,
        (
            memory.id, new.project, new.wing, memory.room, new.path, memory.path_key, int(memory.type),
            int(memory.declared), new.session_id, _session_order(raw, memory), new.occurred_at,
            memory.created_at, memory.updated_at, effective_at, new.source, int(new.sensitivity),
            int(new.state), new.version, revision, memory.content_hash, costs.verbatim, costs.fingerprint,
            costs.header, memory.fact_count, 0 if passages is None else passages.count, new.archived_at,
            new.archive_batch or None, new.unarchived_at,
        ),
    )  # fmt: skip
    key = cursor.lastrowid
    if key is None:
        raise sqlite3.DatabaseError("The insertion gave no key.")
    return key


def _session_order(raw: sqlite3.Connection, memory: Prepared) -> int:
    """Return the memory's place in its session: the one it brings, else the next; 0 without a session."""
    new = memory.new
    if not new.session_id:
        return 0
    order: int = raw.execute(
        "INSERT INTO sessions (project, session_id, last_order) VALUES (?1, ?2, max(?3, 1)) "
        "ON CONFLICT DO UPDATE SET last_order = iif(?3 > 0, max(last_order, ?3), last_order + 1) "
        "RETURNING iif(?3 > 0, ?3, last_order)",
        (new.project, new.session_id, new.session_order),
    ).fetchone()[0]
    return order


def _set_model(raw: sqlite3.Connection, model: ModelIdentity) -> None:
    raw.execute("DELETE FROM models")
    raw.execute("DELETE FROM former_models")
    raw.execute(
        "INSERT INTO models (sha256, name, revision, dimension, max_tokens) VALUES (?, ?, ?, ?, ?)",
        (model.sha256, model.name, model.revision, model.dimension, model.max_tokens),
    )


def _stored(memory: Prepared, passages: Passages | None, revision: int) -> Stored:
    """Return what storing a memory gave that was not there yet."""
    return Stored(
        id=memory.id,
        type=memory.type,
        fact_count=memory.fact_count,
        token_count=memory.costs.verbatim,
        model_sha256="" if passages is None else passages.model.sha256,
        embedded=passages is not None,
        duplicate=False,
        revision=revision,
        created_at=memory.created_at,
        wing=memory.new.wing,
        room=memory.room,
        version=memory.new.version,
    )


def _answer(raw: sqlite3.Connection, row: Row) -> Stored:
    """Return the answer to a memory that is there already."""
    (memory_id, kind, facts, tokens, passages, revision, created_at, wing, room, version, *_) = row
    sha256 = _sha256_of_vectors(raw, memory_id) if passages else ""
    return Stored(
        id=memory_id,
        type=MemoryType(kind),
        fact_count=facts,
        token_count=tokens,
        model_sha256=sha256,
        embedded=bool(sha256),
        duplicate=True,
        revision=revision,
        created_at=created_at,
        wing=wing,
        room=room,
        version=version,
    )


def _sha256_of_vectors(raw: sqlite3.Connection, memory_id: str) -> str:
    """Return the model in use if a memory has its vectors, else nothing."""
    row = raw.execute(
        "SELECT sha256 FROM models WHERE EXISTS ("
        "SELECT 1 FROM memories m JOIN embeddings e ON e.memory = m.key WHERE m.id = ?)",
        (memory_id,),
    ).fetchone()
    return "" if row is None else row[0]
