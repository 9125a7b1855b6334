"""Request ids: the first answer to a request, kept for 24 hours."""

import sqlite3

from satchel.store.errors import RequestIdReused
from satchel.store.model import RequestKey

WINDOW_US = 24 * 3600 * 1_000_000


def recall_answer(raw: sqlite3.Connection, key: RequestKey | None, now: int) -> str | None:
    """Return the answer that this request got before; None for a new one or without an id.

    Raises:
        RequestIdReused: the id came with another body.
    """
    if key is None:
        return None
    row = raw.execute(
        "SELECT digest, answer FROM requests WHERE request_id = ? AND created_at > ?",
        (key.request_id, now - WINDOW_US),
    ).fetchone()
    if row is None:
        return None
    if row[0] != key.digest:
        raise RequestIdReused(key.request_id)
    answer: str = row[1]
    return answer


def keep_answer(
    raw: sqlite3.Connection, key: RequestKey | None, answer: str, now: int, *, memory_id: str | None = None
) -> None:
    """Keep an answer, and drop those whose window is over.

    ``memory_id`` names the memory whose text the answer holds: it goes when the memory goes.
    """
    if key is None:
        return
    raw.execute("DELETE FROM requests WHERE created_at <= ?", (now - WINDOW_US,))
    raw.execute(
        "INSERT INTO requests (request_id, digest, answer, memory_id, created_at) VALUES (?, ?, ?, ?, ?)",
        (key.request_id, key.digest, answer, memory_id, now),
    )
