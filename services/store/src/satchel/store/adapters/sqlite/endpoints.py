"""Units of work on webhook endpoints and on which events are written for them."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace

from satchel.store.adapters.sqlite.rows import Row
from satchel.store.errors import WebhookLimitReached, WebhookNotFound
from satchel.store.webhooks.model import EVENTS, MOST_ENDPOINTS, Webhook
from satchel.store.webhooks.naming import renewed, unnamed

_COLUMNS = (
    "id, url, secret, events, project, description, include_content, enabled, disabled_reason, configured, "
    "created_at, failures, open_until, pending, dead"
)
_SAVE = f"""
INSERT INTO webhooks ({_COLUMNS.removesuffix(", pending, dead")})
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
  url = excluded.url, secret = excluded.secret, events = excluded.events, project = excluded.project,
  description = excluded.description, include_content = excluded.include_content,
  enabled = excluded.enabled, disabled_reason = excluded.disabled_reason, configured = excluded.configured,
  failures = excluded.failures, open_until = excluded.open_until
"""  # noqa: S608  # only names of columns are put in


def is_open(raw: sqlite3.Connection, queue_size: int, *, enabled: bool) -> bool:
    """Tell whether events are written already as `open_events` would have it."""
    rows = raw.execute(
        "SELECT s.event, s.project, w.id FROM webhook_subscriptions s JOIN webhooks w ON w.key = s.webhook"
    )
    wanted = {(event, one.project, one.id) for one in (every(raw) if enabled else ()) for event in one.wanted}
    size: int = raw.execute("SELECT size FROM webhook_queue").fetchone()[0]
    return size == queue_size and set(rows) == wanted


def open_events(queue_size: int, enabled: bool, raw: sqlite3.Connection) -> None:  # noqa: FBT001  # for partial
    """Write events from now on with a queue of this size, or write none."""
    raw.execute("UPDATE webhook_queue SET size = ?", (queue_size,))
    raw.execute("DELETE FROM webhook_subscriptions")
    for webhook in every(raw) if enabled else ():
        _subscribe(raw, webhook)


def every(raw: sqlite3.Connection, project: str = "") -> tuple[Webhook, ...]:
    """Return the endpoints, oldest first; an empty project means any."""
    rows = raw.execute(
        f"SELECT {_COLUMNS} FROM webhooks WHERE ?1 IN ('', project) ORDER BY created_at, id",  # noqa: S608
        (project,),
    )
    return tuple(map(_webhook, rows))


def one(raw: sqlite3.Connection, webhook_id: str) -> Webhook:
    """Return an endpoint.

    Raises:
        WebhookNotFound: there is none.
    """
    row = raw.execute(f"SELECT {_COLUMNS} FROM webhooks WHERE id = ?", (webhook_id,)).fetchone()  # noqa: S608
    if row is None:
        raise WebhookNotFound(webhook_id)
    return _webhook(row)


def add(webhook: Webhook, raw: sqlite3.Connection) -> None:
    """Add an endpoint.

    Raises:
        WebhookLimitReached: there are as many as there may be.
    """
    _save(raw, webhook)
    _check_number(raw)


def change(webhook_id: str, fields: Mapping[str, object], raw: sqlite3.Connection) -> Webhook:
    """Set fields of an endpoint and return it.

    Raises:
        WebhookNotFound: there is none.
    """
    changed = replace(one(raw, webhook_id), **fields)  # type: ignore[arg-type]  # the engine typed the values
    _save(raw, changed)
    return changed


def configure(named: Sequence[Webhook], raw: sqlite3.Connection) -> tuple[Webhook, ...]:
    """Add or renew the endpoints of the configuration, and disable those that it names no more.

    Raises:
        WebhookLimitReached: there would be too many.
    """
    known = every(raw)
    for webhook in (*renewed(named, known), *unnamed(named, known)):
        _save(raw, webhook)
    _check_number(raw)
    return tuple(one(raw, webhook.id) for webhook in named)


def remove(webhook_id: str, raw: sqlite3.Connection) -> None:
    """Remove an endpoint with its deliveries.

    Raises:
        WebhookNotFound: there is none.
    """
    if raw.execute("DELETE FROM webhooks WHERE id = ?", (webhook_id,)).rowcount == 0:
        raise WebhookNotFound(webhook_id)


def _save(raw: sqlite3.Connection, webhook: Webhook) -> None:
    raw.execute(
        _SAVE,
        (
            webhook.id, webhook.url, webhook.secret, "\n".join(webhook.events), webhook.project,
            webhook.description, int(webhook.include_content), int(webhook.enabled), webhook.disabled_reason,
            int(webhook.configured), webhook.created_at, webhook.failures, webhook.open_until,
        ),
    )  # fmt: skip
    _subscribe(raw, webhook)


def _subscribe(raw: sqlite3.Connection, webhook: Webhook) -> None:
    """Let the events be written that an endpoint gets, and no others."""
    key: int = raw.execute("SELECT key FROM webhooks WHERE id = ?", (webhook.id,)).fetchone()[0]
    raw.execute("DELETE FROM webhook_subscriptions WHERE webhook = ?", (key,))
    raw.executemany(
        "INSERT INTO webhook_subscriptions (event, project, webhook) VALUES (?, ?, ?)",
        [(event, webhook.project, key) for event in EVENTS if event in webhook.wanted],
    )


def _check_number(raw: sqlite3.Connection) -> None:
    number: int = raw.execute("SELECT count(*) FROM webhooks").fetchone()[0]
    if number > MOST_ENDPOINTS:
        raise WebhookLimitReached(MOST_ENDPOINTS)


def _webhook(row: Row) -> Webhook:
    (id_, url, secret, events, project, description, content, enabled, reason, configured, created_at,
     failures, open_until, pending, dead) = row  # fmt: skip
    return Webhook(
        id=id_,
        url=url,
        secret=secret,
        events=tuple(events.split("\n")) if events else (),
        project=project,
        description=description,
        include_content=bool(content),
        enabled=bool(enabled),
        disabled_reason=reason,
        configured=bool(configured),
        created_at=created_at,
        failures=failures,
        open_until=open_until,
        pending=pending,
        dead=dead,
    )
