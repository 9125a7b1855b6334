"""Causal links of memories: given with them, also where the other end comes later in an import, or found."""

import sqlite3

from satchel.store.causality import Earlier, best_cause
from satchel.store.errors import LinkTargetNotFound
from satchel.store.model import Link, Memory, Prepared

# A link that was given stays given, and one that was found becomes given when it is given too.
_LINK = """
INSERT INTO links (cause, effect, relation, phrase) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET phrase = '' WHERE excluded.phrase = ''
"""
_MOMENT = "(m.effective_at, m.created_at, m.id)"
_EARLIER = f"""
SELECT m.key, d.fingerprint FROM memories m JOIN documents d ON d.memory = m.key
WHERE m.project = ? AND m.wing = ? AND m.effective_at >= ? AND {_MOMENT} < (?, ?, ?)
ORDER BY m.effective_at DESC, m.created_at DESC, m.id DESC LIMIT ?
"""  # noqa: S608  # only names of columns are put in
_OUTDATED = f"""
DELETE FROM links WHERE cause = ? AND phrase <> '' AND EXISTS (
  SELECT 1 FROM memories m WHERE m.key = links.effect AND (m.wing <> ? OR {_MOMENT} < (?, ?, ?))
)
"""  # noqa: S608


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
            add_link(raw, key, other[0], link)
        elif must_exist:
            raise LinkTargetNotFound(link.memory_id)
        else:
            raw.execute(
                "INSERT OR IGNORE INTO awaited_links (other_id, memory, relation, outgoing, phrase) "
                "VALUES (?, ?, ?, ?, ?)",
                (link.memory_id, key, int(link.relation), int(link.outgoing), link.phrase),
            )
    _link_awaited(raw, key, memory)


def _link_awaited(raw: sqlite3.Connection, key: int, memory: Prepared) -> None:
    """Make the links that waited for this memory."""
    if not memory.new.id:
        return
    waiting = raw.execute(
        "SELECT a.memory, a.relation, a.outgoing, a.phrase "
        "FROM awaited_links a JOIN memories m ON m.key = a.memory WHERE a.other_id = ? AND m.project = ?",
        (memory.id, memory.new.project),
    ).fetchall()
    for other, relation, outgoing, phrase in waiting:
        add_link(raw, other, key, Link("", relation, outgoing == 1, phrase))
    if waiting:
        raw.execute(
            "DELETE FROM awaited_links WHERE other_id = ? "
            "AND memory IN (SELECT key FROM memories WHERE project = ?)",
            (memory.id, memory.new.project),
        )


def add_link(raw: sqlite3.Connection, key: int, other: int, link: Link) -> None:
    """Link a memory to another one."""
    cause, effect = (key, other) if link.outgoing else (other, key)
    raw.execute(_LINK, (cause, effect, int(link.relation), link.phrase))


def find_links(raw: sqlite3.Connection, key: int, memory: Prepared) -> int:
    """Link a memory to the earlier one that its text tells of, and return how many links that gives.

    At most one by each relation.
    """
    clues = memory.clues
    if clues is None:
        return 0
    at = _effective_at(memory)
    place = (memory.new.project, memory.new.wing, at - clues.max_age)
    rows = raw.execute(_EARLIER, (*place, at, memory.created_at, memory.id, clues.lookback))
    cause = best_cause(clues, map(Earlier._make, rows))
    if cause is None:
        return 0
    for relation, phrase in clues.triggers:
        add_link(raw, key, cause, Link("", relation, outgoing=False, phrase=phrase))
    return len(clues.triggers)


def find_links_again(
    raw: sqlite3.Connection, key: int, memory: Prepared, old: Memory, *, same_text: bool
) -> int:
    """Find the links of a memory that took the place of ``old``, and return how many there are.

    What was found and no longer holds goes: links to its causes always, and links to effects that are in
    another wing or earlier.
    """
    at = _effective_at(memory)
    same_place = (old.wing, _effective_at_of(old)) == (memory.new.wing, at)
    if same_text and same_place:
        return 0
    if not same_place:
        raw.execute(_OUTDATED, (key, memory.new.wing, at, memory.created_at, memory.id))
    raw.execute("DELETE FROM links WHERE effect = ? AND phrase <> ''", (key,))
    return find_links(raw, key, memory)


def _effective_at(memory: Prepared) -> int:
    return memory.created_at if memory.new.occurred_at is None else memory.new.occurred_at


def _effective_at_of(memory: Memory) -> int:
    return memory.created_at if memory.occurred_at is None else memory.occurred_at
