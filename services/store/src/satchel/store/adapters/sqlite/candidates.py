"""Fetches the candidates of a recall; the hot path, so that rows stay tuples and become columns at once."""

import sqlite3
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from satchel.store.adapters.sqlite.rows import Row, json_list, links_of, model_of
from satchel.store.adapters.sqlite.scoping import conditions
from satchel.store.candidates import CandidateQuery, Candidates
from satchel.store.model import MemoryState

_ACTIVE = int(MemoryState.ACTIVE)
_SPAN_BYTES = 8

# Column of `Candidates` by what is selected for it; the passages and the key follow.
_SELECTED = {
    "ids": "m.id",
    "contents": "iif(d.hidden, '', d.body)",
    "fingerprints": "iif(d.hidden, '', d.fingerprint)",
    "wings": "m.wing",
    "rooms": "m.room",
    "session_ids": "m.session_id",
    "session_orders": "m.session_order",
    "types": "m.type",
    "created": "m.created_at",
    "effective": "m.effective_at",
    "occurred": "m.occurred_at IS NOT NULL",
    "versions": "m.version",
    "token_counts": "iif(d.hidden, 0, m.verbatim_tokens)",
    "fact_counts": "m.fact_count",
}
_COLUMNS = ", ".join([*_SELECTED.values(), "{codes}", "e.spans", "e.vectors", "m.key"])
_FROM = (
    "FROM json_each(?1) k CROSS JOIN memories m ON {join} = k.value "
    "JOIN documents d ON d.memory = m.key LEFT JOIN embeddings e ON e.memory = m.key {codes_from}"
)
_ASKED = (
    f"SELECT {_COLUMNS} {_FROM} WHERE (?2 = '' OR m.project = ?2) "  # noqa: S608  # only texts of ours
    "AND m.state IN (SELECT value FROM json_each(?3))"
)
_BESIDE = f"SELECT {_COLUMNS} {_FROM}"

# What stands for the codes in a statement, by whether they are wanted. They come with the vectors only.
_CODES_SQL = {
    False: {"codes": "NULL, NULL", "codes_from": ""},
    True: {"codes": "t.counts, t.codes", "codes_from": "LEFT JOIN token_codes t ON t.memory = e.memory"},
}

# For each memory with a session the nearest active ones on one side: a range read of one index, which has
# only memories with a session.
_NEAR = f"""
SELECT b.key FROM json_each(?1) k CROSS JOIN memories a ON a.key = k.value CROSS JOIN memories b ON b.key IN (
  SELECT key FROM memories WHERE project = ?2 AND session_id = a.session_id AND session_id <> ''
  AND session_order {{beyond}} AND state = {_ACTIVE} ORDER BY session_order {{direction}} LIMIT ?3
)
"""  # noqa: S608  # only the number of a state is put in
_ON_BOTH_SIDES = " UNION ".join(
    [
        _NEAR.format(beyond="< a.session_order", direction="DESC"),
        _NEAR.format(beyond="> a.session_order", direction="ASC"),
    ]
)

_BODY = list(_SELECTED).index("contents")
_IN_LINE = itemgetter(*(list(_SELECTED).index(name) for name in ("session_ids", "session_orders", "ids")))
_CODE_COUNTS, _CODES, _SPANS, _VECTORS, _KEY = -5, -4, -3, -2, -1


def fetch_candidates(raw: sqlite3.Connection, query: CandidateQuery) -> Candidates:
    """Return the candidates that exist, in the order of the ids, then their neighbours."""
    asked, remaining = _asked(raw, query)
    beside = _beside(raw, asked, query)
    rows = [*asked, *beside]
    if not rows:
        return Candidates(remaining=remaining)
    columns: list[Any] = list(zip(*rows, strict=True))
    model = model_of(raw)
    return Candidates(
        **dict(zip(_SELECTED, columns, strict=False)),
        asked_count=len(asked),
        in_filter=[True] * len(asked) + _in_filter(raw, beside, query),
        passage_counts=[len(spans) // _SPAN_BYTES if spans else 0 for spans in columns[_SPANS]],
        spans=b"".join(filter(None, columns[_SPANS])),
        vectors=b"".join(filter(None, columns[_VECTORS])),
        dimension=0 if model is None else model.dimension,
        code_counts=_code_counts(rows) if query.with_codes else b"",
        codes=b"".join(filter(None, columns[_CODES])),
        links=_links(raw, columns[_KEY]),
        remaining=remaining,
    )


def _code_counts(rows: Iterable[Row]) -> bytes:
    """Return the packed counts of all passages; 0 for those that have no codes."""
    return b"".join(row[_CODE_COUNTS] or bytes(len(row[_SPANS] or b"") // 2) for row in rows)


def _asked(raw: sqlite3.Connection, query: CandidateQuery) -> tuple[list[Row], tuple[str, ...]]:
    """Return the leading rows that fit, at least one, and the ids from the first that does not."""
    wanted = tuple(dict.fromkeys(query.ids))
    states = json_list(
        map(int, query.scope.states or MemoryState)
    )  # an index may not know yet what was archived
    sql = _ASKED.format(join="m.id", **_CODES_SQL[query.with_codes])
    found = raw.execute(sql, (json_list(wanted), query.scope.project, states))  # in the order of the ids
    rows, late = _fitting(found, query.max_bytes)
    return rows, wanted[wanted.index(late[0]) :] if late else ()


def _fitting(rows: Iterable[Row], max_bytes: int) -> tuple[list[Row], Row | None]:
    """Return the leading rows that fit, at least one, and the first that does not."""
    taken: list[Row] = []
    size = 0
    for row in rows:
        size += 4 * len(row[_BODY]) + len(row[_VECTORS] or b"") + len(row[_CODES] or b"")
        if taken and size > max_bytes:
            return taken, row
        taken.append(row)
    return taken, None


def _beside(raw: sqlite3.Connection, asked: Sequence[Row], query: CandidateQuery) -> list[Row]:
    if not query.neighbors:
        return []
    own = [row[_KEY] for row in asked]
    leading = json_list(own[: query.neighbors_of_first or None])
    near = raw.execute(_ON_BOTH_SIDES, (leading, query.scope.project, query.neighbors))
    others = sorted({key for (key,) in near}.difference(own))
    sql = _BESIDE.format(join="m.key", **_CODES_SQL[query.with_codes])
    rows, _ = _fitting(raw.execute(sql, (json_list(others),)), query.max_bytes)
    return sorted(rows, key=_IN_LINE)  # SQLite would carry texts and vectors through its sorter


def _in_filter(raw: sqlite3.Connection, beside: Sequence[Row], query: CandidateQuery) -> list[bool]:
    """Tell of each neighbour, which no search has filtered, whether it is in the scope."""
    if not beside or query.scope.is_wide:
        return [True] * len(beside)
    where = conditions(query.scope)
    keys = json_list(row[_KEY] for row in beside)
    inside = {
        key
        for (key,) in raw.execute(
            f"SELECT m.key FROM json_each(?) k CROSS JOIN memories m ON m.key = k.value WHERE {where.sql}",  # noqa: S608
            (keys, *where.parameters),
        )
    }
    return [row[_KEY] in inside for row in beside]


def _links(raw: sqlite3.Connection, keys: Sequence[int]) -> dict[int, tuple[str, ...]]:
    linked = links_of(raw, keys)
    return {
        place: tuple(sorted({link.memory_id for link in linked[key]}))
        for place, key in enumerate(keys)
        if linked.get(key)
    }
