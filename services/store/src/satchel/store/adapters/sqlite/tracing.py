"""Units of work on causal links: making, removing and listing them, and following them."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from functools import partial

from satchel.store.adapters.sqlite.linking import add_link
from satchel.store.adapters.sqlite.rows import SOURCE, Row, json_list
from satchel.store.causality.walking import Reached, Step, walk
from satchel.store.errors import LinkedBackwards, MemoryNotFound
from satchel.store.graph import (
    MOST_TRACED,
    CauseAndEffect,
    Edge,
    Linked,
    LinkSlice,
    Node,
    Trace,
    TraceQuery,
)
from satchel.store.model import Link, MemoryState, MemoryType, Relation
from satchel.store.preparing import searchable_text
from satchel.store.snapshots import load_component
from satchel.store.summaries import READ_FOR_SUMMARY, summary_of

_LINKS = """
SELECT id, relation, outgoing, phrase FROM (
  SELECT m.id, l.relation, 1 AS outgoing, l.phrase FROM links l JOIN memories m ON m.key = l.effect
  WHERE l.cause = ?1
  UNION ALL
  SELECT m.id, l.relation, 0, l.phrase FROM links l JOIN memories m ON m.key = l.cause WHERE l.effect = ?1
) WHERE (id, relation, outgoing) > (?2, ?3, ?4) ORDER BY id, relation, outgoing LIMIT ?5
"""
_STEPS = """
SELECT o.effective_at, o.id, l.relation, v.id
FROM json_each(?1) k CROSS JOIN memories v ON v.id = k.value JOIN links l ON l.{near} = v.key
JOIN memories o ON o.key = l.{far} WHERE l.relation IN (SELECT value FROM json_each(?2))
"""
_TO_CAUSES = _STEPS.format(near="effect", far="cause")
_TO_EFFECTS = _STEPS.format(near="cause", far="effect")
_NODES = f"""
SELECT m.id, m.effective_at, m.type, m.wing, m.room, m.state, d.title, d.hidden,
  iif(d.hidden, '', substr(d.body, 1, {READ_FOR_SUMMARY})), iif(d.hidden, d.component, '')
FROM json_each(?1) k CROSS JOIN {SOURCE} WHERE m.id = k.value
"""  # noqa: S608  # a number of ours is put in; the values are parameters


def link(raw: sqlite3.Connection, pair: CauseAndEffect, relation: Relation, project: str) -> Linked:
    """Link two memories of one project, or make a found link a given one."""
    cause, effect = _ends(raw, pair, project)
    if _is_linked(raw, effect, cause, relation):
        raise LinkedBackwards(cause_id=pair.cause, effect_id=pair.effect)
    known = _is_linked(raw, cause, effect, relation)
    add_link(raw, cause, effect, Link(pair.effect, relation, outgoing=True))
    return Linked(Edge(*pair, relation, ""), not known)


def _is_linked(raw: sqlite3.Connection, cause: int, effect: int, relation: Relation) -> bool:
    row = raw.execute(
        "SELECT 1 FROM links WHERE cause = ? AND effect = ? AND relation = ?", (cause, effect, int(relation))
    ).fetchone()
    return row is not None


def unlink(raw: sqlite3.Connection, pair: CauseAndEffect, relation: Relation | None, project: str) -> int:
    """Remove the links of two memories, of one relation or all."""
    cause, effect = _ends(raw, pair, project)
    return raw.execute(
        "DELETE FROM links WHERE cause = ?1 AND effect = ?2 AND ifnull(relation = ?3, 1)",
        (cause, effect, relation),
    ).rowcount


def _ends(raw: sqlite3.Connection, pair: CauseAndEffect, project: str) -> tuple[int, int]:
    """Return the keys of two memories of one project.

    Raises:
        MemoryNotFound: names the first that is not there.
    """
    cause, its_project = _find(raw, pair.cause, project)
    effect, _ = _find(raw, pair.effect, its_project)
    return cause, effect


def _find(raw: sqlite3.Connection, memory_id: str, project: str) -> tuple[int, str]:
    row: tuple[int, str] | None = raw.execute(
        "SELECT key, project FROM memories WHERE id = ?1 AND (?2 = '' OR project = ?2)", (memory_id, project)
    ).fetchone()
    if row is None:
        raise MemoryNotFound(memory_id)
    return row


def links(raw: sqlite3.Connection, memory_id: str, project: str, after: Link | None, limit: int) -> LinkSlice:
    """Return links of a memory by the other id, relation and direction."""
    key, _ = _find(raw, memory_id, project)
    place = ("", 0, 0) if after is None else (after.memory_id, int(after.relation), int(after.outgoing))
    rows = raw.execute(_LINKS, (key, *place, limit + 1)).fetchall()
    found = (Link(other, Relation(kind), outgoing == 1, phrase) for other, kind, outgoing, phrase in rows)
    return LinkSlice(tuple(found)[:limit], len(rows) > limit)


def trace(raw: sqlite3.Connection, query: TraceQuery) -> Trace:
    """Follow links to causes, and to consequences if asked for, with what of the bound is left."""
    _find(raw, query.memory_id, query.project)
    relations = json_list(sorted(map(int, query.followed)))
    back = walk(
        query.memory_id,
        partial(_steps, raw, _TO_CAUSES, relations),
        max_depth=query.max_depth,
        limit=MOST_TRACED,
    )
    causes = _nodes(raw, back.reached)
    if not query.with_consequences:
        return Trace(causes, (), back.truncated)
    forth = walk(
        query.memory_id,
        partial(_steps, raw, _TO_EFFECTS, relations),
        max_depth=query.max_depth,
        limit=MOST_TRACED - len(causes),
    )
    return Trace(causes, _nodes(raw, forth.reached), back.truncated or forth.truncated)


def _steps(raw: sqlite3.Connection, sql: str, relations: str, ids: Collection[str]) -> Iterator[Step]:
    for at, other, relation, via in raw.execute(sql, (json_list(ids), relations)):
        yield Step(at, other, Relation(relation), via)


def _nodes(raw: sqlite3.Connection, reached: Sequence[Reached]) -> tuple[Node, ...]:
    rows = raw.execute(_NODES, (json_list(one.id for one in reached),))
    known = {row[0]: row for row in rows}
    return tuple(_node(known[one.id], one) for one in reached)


def _node(row: Row, reached: Reached) -> Node:
    _, at, kind, wing, room, state, title, hidden, text, component = row
    if hidden:
        text, title = searchable_text(title=title, content="", component=load_component(component)), ""
    return Node(
        id=reached.id,
        type=MemoryType(kind),
        summary=summary_of(text, title=title),
        at=at,
        wing=wing,
        room=room,
        state=MemoryState(state),
        depth=reached.depth,
        relation=reached.relation,
        via=reached.via,
    )
