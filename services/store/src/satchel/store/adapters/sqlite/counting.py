"""Units of work that count."""

import sqlite3

from satchel.store.adapters.sqlite.reembedding import count_outdated
from satchel.store.adapters.sqlite.rows import head_of, model_of
from satchel.store.model import MemoryState, MemoryType, Status

_WINGS = 20


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
        outdated=count_outdated(raw, project),
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
