"""Causal links of new memories, also those whose other end comes later in an import."""

import sqlite3

from satchel.store.errors import LinkTargetNotFound
from satchel.store.model import Link, Prepared


def link_all(raw: sqlite3.Connection, key: int, memory: Prepared, *, must_exist: bool) -> None:
    """Make the links of a new memory, and those that waited for it.

    Raises:
        LinkTargetNotFound: the other end is not there and must be; else the link waits for it.
    """
    for link in memory.new.links:
        other = raw.execute(
            "SELECT key FROM memories WHERE id = ? AND project = ?", (link.memory_id, memory.new.project)
        ).fetchone()
        if other is not None:
            _link(raw, key, other[0], link)
        elif must_exist:
            raise LinkTargetNotFound(link.memory_id)
        else:
            raw.execute(
                "INSERT OR IGNORE INTO awaited_links (other_id, memory, relation, outgoing) "
                "VALUES (?, ?, ?, ?)",
                (link.memory_id, key, int(link.relation), int(link.outgoing)),
            )
    _link_awaited(raw, key, memory)


def _link_awaited(raw: sqlite3.Connection, key: int, memory: Prepared) -> None:
    """Make the links that waited for this memory."""
    if not memory.new.id:
        return
    waiting = raw.execute(
        "SELECT a.memory, a.relation, a.outgoing FROM awaited_links a JOIN memories m ON m.key = a.memory "
        "WHERE a.other_id = ? AND m.project = ?",
        (memory.id, memory.new.project),
    ).fetchall()
    for other, relation, outgoing in waiting:
        _link(raw, other, key, Link("", relation, outgoing == 1))
    if waiting:
        raw.execute("DELETE FROM awaited_links WHERE other_id = ?", (memory.id,))


def _link(raw: sqlite3.Connection, key: int, other: int, link: Link) -> None:
    cause, effect = (key, other) if link.outgoing else (other, key)
    raw.execute(
        "INSERT OR IGNORE INTO links (cause, effect, relation) VALUES (?, ?, ?)",
        (cause, effect, int(link.relation)),
    )
