"""Units of work on deliveries: what is due, what became of a try, dead letters, and events of no memory."""

import json
import sqlite3
import uuid
from collections.abc import Sequence

from satchel.store.adapters.sqlite.rows import Row, head_of, json_list
from satchel.store.errors import WebhookNotFound
from satchel.store.webhooks.model import (
    GONE,
    Deliveries,
    Delivery,
    DeliveryQuery,
    DeliveryState,
    Due,
    Happening,
    Leased,
    Report,
    Totals,
)
from satchel.store.webhooks.pacing import MOST_FAILURES, Pacing, Verdict, after, judge

_COLUMNS = (
    "d.id, w.id, d.event_id, d.event, d.occurred_at, d.memory_id, d.project, d.state, d.tries, d.due_at, "
    "d.finished_at, d.last_status, d.last_error"
)
_SOURCE = "webhook_deliveries d JOIN webhooks w ON w.key = d.webhook"
# What may be sent now: a test always; else in the order of each memory's events, to endpoints that are
# enabled and not left alone, and to one that failed lately no more than one at a time.
_READY = f"""
d.state = 1 AND d.due_at <= ?1 AND (d.once = 1 OR (w.enabled = 1 AND w.open_until <= ?1
AND (d.memory_id = '' OR NOT EXISTS (
  SELECT 1 FROM webhook_deliveries b
  WHERE b.webhook = d.webhook AND b.memory_id = d.memory_id AND b.state = 1 AND b.key < d.key))
AND (w.failures < {MOST_FAILURES} OR NOT EXISTS (
  SELECT 1 FROM webhook_deliveries u
  WHERE u.webhook = d.webhook AND u.state = 1 AND u.lease_id IS NOT NULL AND u.due_at > ?1))))
"""  # noqa: S608  # only a number of ours is put in
_CONTENT = "iif(w.include_content = 1 AND t.hidden = 0, t.body, NULL)"
_LEASE = f"""
SELECT d.key, w.failures >= {MOST_FAILURES} AND d.once = 0, w.url, w.secret, d.data, {_CONTENT}, {_COLUMNS}
FROM {_SOURCE} LEFT JOIN memories m ON m.id = d.memory_id LEFT JOIN documents t ON t.memory = m.key
WHERE {_READY} ORDER BY d.once DESC, d.key LIMIT ?2
"""  # noqa: S608
_NEXT = f"""
SELECT min(max(d.due_at, iif(d.once = 1, 0, w.open_until))) FROM {_SOURCE}
WHERE d.state = 1 AND (w.enabled = 1 OR d.once = 1) AND max(d.due_at, iif(d.once = 1, 0, w.open_until)) > ?
"""  # noqa: S608
_REDRIVE = """
UPDATE webhook_deliveries SET
  state = 1, tries = 0, due_at = 0, lease_id = NULL, finished_at = 0
WHERE key IN (
  SELECT key FROM (
    SELECT d.key, w.pending + row_number() OVER (PARTITION BY d.webhook ORDER BY d.key) AS place, q.size
    FROM webhook_deliveries d JOIN webhooks w ON w.key = d.webhook JOIN webhook_queue q
    WHERE d.state = 3 AND (d.id IN (SELECT value FROM json_each(?1)) OR w.id = ?2))
  WHERE place <= size)
"""


def due(raw: sqlite3.Connection, now: int) -> Due:
    """Tell whether something can be leased; if not, when it might be."""
    is_due = raw.execute(f"SELECT EXISTS (SELECT 1 FROM {_SOURCE} WHERE {_READY})", (now,)).fetchone()[0] == 1  # noqa: S608
    next_at: int | None = raw.execute(_NEXT, (now,)).fetchone()[0]
    return Due(is_due, next_at, head_of(raw))


def lease(limit: int, now: int, until: int, raw: sqlite3.Connection) -> tuple[Leased, ...]:
    """Take deliveries that are due until some moment; each counts a try."""
    leased: list[Leased] = []
    slow: set[str] = set()
    for key, is_slow, url, secret, data, content, *row in raw.execute(_LEASE, (now, limit)).fetchall():
        found = _delivery(row)
        if is_slow and found.webhook_id in slow:
            continue
        if is_slow:
            slow.add(found.webhook_id)
        lease_id = str(uuid.uuid4())
        raw.execute(
            "UPDATE webhook_deliveries SET lease_id = ?, due_at = ?, tries = tries + 1 WHERE key = ?",
            (lease_id, until, key),
        )
        fields = json.loads(data) if content is None else {**json.loads(data), "content": content}
        leased.append(Leased(delivery=found, lease_id=lease_id, url=url, secret=secret, data=fields))
    return tuple(leased)


def finish(report: Report, pacing: Pacing, share: float, now: int, raw: sqlite3.Connection) -> Verdict | None:
    """Note what became of a try; None where the lease is not the last one."""
    row = raw.execute(
        "SELECT d.key, d.once, d.tries, w.key, w.failures FROM webhook_deliveries d "
        "JOIN webhooks w ON w.key = d.webhook WHERE d.id = ? AND d.lease_id = ? AND d.state = 1",
        (report.id, report.lease_id),
    ).fetchone()
    if row is None:
        return None
    key, once, tries, webhook, failures = row
    verdict = judge(report, tries=tries, pacing=pacing, share=share, now=now)
    if once:
        raw.execute("DELETE FROM webhook_deliveries WHERE key = ?", (key,))
        return verdict
    finished_at = 0 if verdict.state is DeliveryState.PENDING else now
    raw.execute(
        "UPDATE webhook_deliveries SET state = ?, due_at = ?, lease_id = NULL, finished_at = ?, "
        "last_status = ?, last_error = ? WHERE key = ?",
        (int(verdict.state), verdict.due_at, finished_at, report.status, report.error, key),
    )
    breaker = after(failures, is_delivered=verdict.state is DeliveryState.DELIVERED, now=now)
    raw.execute(
        "UPDATE webhooks SET failures = ?, open_until = ? WHERE key = ?",
        (breaker.failures, breaker.open_until, webhook),
    )
    if verdict.is_gone:
        _disable(raw, webhook)
    return verdict


def listed(raw: sqlite3.Connection, query: DeliveryQuery) -> Deliveries:
    """List deliveries, newest first; tests are left out."""
    rows = raw.execute(
        f"SELECT d.key, {_COLUMNS} FROM {_SOURCE} WHERE d.once = 0 AND ?1 IN (0, d.state) "  # noqa: S608
        "AND ?2 IN ('', w.id) AND ?3 IN ('', d.project) AND (?4 IS NULL OR d.key < ?4) "
        "ORDER BY d.key DESC LIMIT ?5",
        (int(query.state or 0), query.webhook_id, query.project, query.before, query.limit + 1),
    ).fetchall()
    shown = rows[: query.limit]
    last = shown[-1][0] if len(rows) > query.limit else None
    return Deliveries(tuple(_delivery(row[1:]) for row in shown), last)


def redrive(ids: Sequence[str], webhook_id: str, raw: sqlite3.Connection) -> int:
    """Let dead letters wait again, as many as the queues have room for.

    Raises:
        WebhookNotFound: there is no such endpoint.
    """
    if webhook_id:
        _key_of(raw, webhook_id)
    return raw.execute(_REDRIVE, (json_list(ids), webhook_id)).rowcount


def tell(happening: Happening, raw: sqlite3.Connection) -> None:
    """Write an event for all who want it."""
    raw.execute(
        "INSERT INTO webhook_outbox (hex, event, memory_id, project, data) VALUES (?, ?, '', '', ?)",
        (happening.event_id.replace("-", ""), happening.event, json.dumps(dict(happening.data))),
    )


def tell_embedded(raw: sqlite3.Connection, key: int) -> None:
    """Write the event that a changed memory has new vectors; every other event the triggers write."""
    raw.execute(
        "INSERT INTO webhook_outbox (hex, event, memory_id, project, data) "
        "SELECT lower(hex(randomblob(16))), 'embedding.completed', id, project, data "
        "FROM webhook_memories WHERE key = ? AND EXISTS (SELECT 1 FROM webhook_subscriptions)",
        (key,),
    )


def begin_test(webhook_id: str, happening: Happening, raw: sqlite3.Connection) -> str:
    """Write an event for one endpoint, for one try, and return the id of its delivery.

    Raises:
        WebhookNotFound: there is none.
    """
    delivery_id = str(uuid.uuid4())
    raw.execute(
        "INSERT INTO webhook_deliveries "
        "(id, webhook, event_id, event, memory_id, project, occurred_at, data, state, once) "
        "VALUES (?, ?, ?, ?, '', '', ?, ?, 1, 1)",
        (
            delivery_id, _key_of(raw, webhook_id), happening.event_id, happening.event, happening.at,
            json.dumps(dict(happening.data)),
        ),
    )  # fmt: skip
    return delivery_id


def drop(delivery_id: str, raw: sqlite3.Connection) -> None:
    """Forget a delivery."""
    raw.execute("DELETE FROM webhook_deliveries WHERE id = ?", (delivery_id,))


def totals(raw: sqlite3.Connection) -> Totals:
    """Count deliveries."""
    pending, dead = raw.execute("SELECT total(pending), total(dead) FROM webhooks").fetchone()
    return Totals(int(pending), int(dead), raw.execute("SELECT overflowed FROM webhook_queue").fetchone()[0])


def _disable(raw: sqlite3.Connection, webhook: int) -> None:
    raw.execute("UPDATE webhooks SET enabled = 0, disabled_reason = ? WHERE key = ?", (GONE, webhook))
    raw.execute("DELETE FROM webhook_subscriptions WHERE webhook = ?", (webhook,))


def _key_of(raw: sqlite3.Connection, webhook_id: str) -> int:
    row = raw.execute("SELECT key FROM webhooks WHERE id = ?", (webhook_id,)).fetchone()
    if row is None:
        raise WebhookNotFound(webhook_id)
    key: int = row[0]
    return key


def _delivery(row: Row) -> Delivery:
    (id_, webhook_id, event_id, event, occurred_at, memory_id, project, state, tries, due_at, finished_at,
     status, error) = row  # fmt: skip
    return Delivery(
        id=id_,
        webhook_id=webhook_id,
        event_id=event_id,
        event=event,
        occurred_at=occurred_at,
        memory_id=memory_id,
        project=project,
        state=DeliveryState(state),
        tries=tries,
        due_at=due_at,
        finished_at=finished_at,
        last_status=status,
        last_error=error,
    )
