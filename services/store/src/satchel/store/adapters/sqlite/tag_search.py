"""Hits by tags: which memories have most of the query's words among their tags."""

import sqlite3
from collections.abc import Sequence

import numpy as np

from satchel.store.adapters.sqlite.rows import json_list
from satchel.store.adapters.sqlite.scoping import Conditions
from satchel.store.scope import TagHit

# One text of all keys: a row for each would take several times as long.
_KEYS = "SELECT group_concat(memory) FROM memory_tags WHERE tag IN (SELECT value FROM json_each(?))"
_READ = """
SELECT m.key, m.id FROM json_each(?) k CROSS JOIN memories m ON m.key = k.value WHERE {where}
"""


def search_tags(
    raw: sqlite3.Connection, words: Sequence[str], where: Conditions, *, wanted: int, enough: int | None
) -> tuple[TagHit, ...]:
    """Return at most ``wanted`` memories of the scope, most matches first, then by id.

    Of the whole store the first ``enough`` are looked at, oldest first among equals; None means all.
    """
    keys, matches = _matches(raw, words)
    for number in (enough, None) if enough is not None else (None,):
        shown = json_list(keys[:number])
        ids = raw.execute(_READ.format(where=where.sql), (shown, *where.parameters)).fetchall()
        if len(ids) >= wanted or number is None or number >= len(keys):
            break
    count_of = dict(zip(keys[:number], matches, strict=False))
    hits = [TagHit(memory_id, count_of[key]) for key, memory_id in ids]
    hits.sort(key=lambda hit: (-hit.matches, hit.memory_id))
    return tuple(hits[:wanted])


def _matches(raw: sqlite3.Connection, words: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the keys of all memories with one of the tags, most matches first, and these numbers."""
    listed: str | None = raw.execute(_KEYS, (json_list(dict.fromkeys(words)),)).fetchone()[0]
    if listed is None:
        return [], []
    keys, counts = np.unique(np.fromstring(listed, dtype=np.int64, sep=","), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return keys[order].tolist(), counts[order].tolist()
