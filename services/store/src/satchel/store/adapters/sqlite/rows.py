"""Rows of the database as the store's nouns."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from satchel.store.model import (
    Link,
    Memory,
    MemoryState,
    MemoryType,
    ModelIdentity,
    Relation,
    Sensitivity,
    TokenCosts,
)
from satchel.store.snapshots import load_component

Row: TypeAlias = tuple[Any, ...]

# How many passages a memory has vectors of; none while these are of another model than the one in use.
PASSAGES = (
    "iif(EXISTS (SELECT 1 FROM former_models) "
    "AND NOT EXISTS (SELECT 1 FROM embeddings WHERE memory = m.key), 0, m.passage_count)"
)
_HEAD = (
    "m.id, m.project, m.wing, m.room, m.path, m.type, m.declared, d.title, d.summary, d.body, d.tags, "
    "d.given_tags"
)
_TAIL = (
    "m.session_id, m.session_order, m.occurred_at, m.created_at, m.updated_at, m.source, m.sensitivity, "  # noqa: S608
    "m.state, m.version, m.revision, d.fingerprint, m.fact_count, m.verbatim_tokens, m.fingerprint_tokens, "
    f"m.header_tokens, {PASSAGES}, "
    "(SELECT count(*) FROM links WHERE cause = m.key) + (SELECT count(*) FROM links WHERE effect = m.key), "
    "m.archived_at, ifnull(m.archive_batch, ''), m.unarchived_at, m.key"
)
FULL = f"{_HEAD}, d.component, d.metadata, {_TAIL}"
BRIEF = f"{_HEAD}, '', '', {_TAIL}".replace("d.body", "iif(d.hidden, '', d.body)").replace(
    "m.verbatim_tokens", "iif(d.hidden, 0, m.verbatim_tokens)"
)
SOURCE = "memories m JOIN documents d ON d.memory = m.key"

BULKY = (8, 9, 10, 12, 24)  # places of summary, body, tags, component and fingerprint in `FULL` and `BRIEF`
METADATA = 13
PASSAGE_COUNT = 29
LINK_COUNT = 30  # those beyond `MOST_LINKS` included
MOST_LINKS = 1000  # that a memory shows; a link beyond is seen at its other end

_TYPES = tuple(MemoryType(max(1, number)) for number in range(6))
_STATES = tuple(MemoryState(max(1, number)) for number in range(4))
_SENSITIVITIES = tuple(Sensitivity(max(1, number)) for number in range(4))


def key_of(row: Row) -> int:
    """Return the internal key of a selected memory."""
    key: int = row[-1]
    return key


def to_memory(row: Row, links: tuple[Link, ...] = ()) -> Memory:
    """Read a row that was selected as `FULL` or `BRIEF`."""
    return Memory._make(
        (
            *row[:5],
            _TYPES[row[5]],
            row[6] == 1,
            *row[7:10],
            split_tags(row[10]),
            split_tags(row[11]),
            load_component(row[12]),
            *row[13:20],
            _SENSITIVITIES[row[20]],
            _STATES[row[21]],
            *row[22:26],
            TokenCosts(row[26], row[27], row[28]),
            row[29],
            links,
            *row[31:34],
        )
    )


def to_memories(raw: sqlite3.Connection, rows: Sequence[Row]) -> tuple[Memory, ...]:
    """Read rows, and the links of their memories."""
    links = links_of(raw, [key_of(row) for row in rows])
    return tuple(to_memory(row, links.get(key_of(row), ())) for row in rows)


def links_of(raw: sqlite3.Connection, keys: Sequence[int]) -> dict[int, tuple[Link, ...]]:
    """Return the links of memories by key, each list sorted by id, relation and direction, and bounded."""
    found: dict[int, list[Link]] = {}
    rows = raw.execute(
        "SELECT l.cause, m.id, l.relation, 1, l.phrase FROM json_each(?1) k "
        "JOIN links l ON l.cause = k.value JOIN memories m ON m.key = l.effect "
        "UNION ALL "
        "SELECT l.effect, m.id, l.relation, 0, l.phrase FROM json_each(?1) k "
        "JOIN links l ON l.effect = k.value JOIN memories m ON m.key = l.cause",
        (json_list(keys),),
    )
    for key, other, relation, outgoing, phrase in rows:
        found.setdefault(key, []).append(Link(other, Relation(relation), outgoing == 1, phrase))
    return {key: tuple(sorted(links)[:MOST_LINKS]) for key, links in found.items()}


def model_of(raw: sqlite3.Connection) -> ModelIdentity | None:
    """Return the model in use, that of the stored vectors; None while there are none."""
    row = raw.execute(
        "SELECT name, revision, sha256, dimension, max_tokens FROM models "
        "WHERE EXISTS (SELECT 1 FROM stored_embeddings)"
    ).fetchone()
    return None if row is None else ModelIdentity(*row)


def is_reembedding(raw: sqlite3.Connection) -> bool:
    """Tell whether there are vectors of another model than the one in use, which are to be made anew."""
    found = raw.execute(
        "SELECT 1 FROM stored_embeddings WHERE model IN (SELECT number FROM former_models) LIMIT 1"
    )
    return found.fetchone() is not None


def head_of(raw: sqlite3.Connection) -> int:
    """Return the newest revision."""
    revision: int = raw.execute("SELECT revision FROM head").fetchone()[0]
    return revision


def store_id_of(raw: sqlite3.Connection) -> str:
    """Return the id that the database was given when it was made."""
    store_id: str = raw.execute("SELECT store_id FROM properties").fetchone()[0]
    return store_id


def json_list(values: Iterable[int | str]) -> str:
    """Return values as one parameter for ``json_each``: one statement serves any number of them."""
    return json.dumps(list(values))


def split_tags(text: str) -> tuple[str, ...]:
    """Return the tags that `join_tags` joined."""
    return tuple(text.split("\n")) if text else ()


def join_tags(tags: Sequence[str]) -> str:
    """Return tags one a line; a tag holds no line break."""
    return "\n".join(tags)
