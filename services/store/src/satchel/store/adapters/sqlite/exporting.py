"""An export: one snapshot of the store, read batch by batch in order."""

import sqlite3

from satchel.store.adapters.sqlite.metering import Meter, take
from satchel.store.adapters.sqlite.rows import FULL, json_list, to_memories
from satchel.store.adapters.sqlite.scoping import conditions
from satchel.store.model import Memory
from satchel.store.scope import Scope

_MOST = 200  # memories of a batch

_READ = f"""
SELECT {FULL} FROM json_each(?1) k CROSS JOIN memories m ON m.key = k.value
JOIN documents d ON d.memory = m.key
"""  # noqa: S608


class ExportReader:
    """Reads memories by ascending creation time and id, in the read transaction that it begins.

    One statement stays open and gives the order, so that it is sorted once, whatever the scope.
    """

    def __init__(self, raw: sqlite3.Connection, scope: Scope, max_bytes: int) -> None:
        raw.execute("BEGIN")
        where = conditions(scope)
        self.total: int = raw.execute(
            f"SELECT count(*) FROM memories m WHERE {where.sql}",  # noqa: S608
            where.parameters,
        ).fetchone()[0]
        self._keys = raw.execute(
            f"SELECT m.key FROM memories m WHERE {where.sql} ORDER BY m.created_at, m.id",  # noqa: S608
            where.parameters,
        )
        self._max_bytes = max_bytes
        self._waiting: list[int] = []

    def read(self, raw: sqlite3.Connection) -> tuple[Memory, ...]:
        """Return the next memories, as many as fit; none at the end."""
        more = self._keys.fetchmany(_MOST - len(self._waiting))
        keys = [*self._waiting, *(key for (key,) in more)]
        rows, _ = take(raw.execute(_READ, (json_list(keys),)), Meter(self._max_bytes), limit=_MOST)
        self._waiting = keys[len(rows) :]
        return to_memories(raw, rows)
