"""The request that carries an event: body, headers and signatures. Pure."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event for one endpoint; ``occurred_at`` is an RFC 3339 time, ``data`` a JSON object."""

    delivery_id: str
    webhook_id: str
    event_id: str
    name: str
    occurred_at: str
    project: str
    memory_id: str
    data: Mapping[str, object]


def body_of(event: Event) -> bytes:
    """Return the JSON text; ``payload`` is ``data`` again, as receivers of MIRA's events read it."""
    content = {
        "id": event.event_id,
        "type": event.name,
        "timestamp": event.occurred_at,
        "project": event.project,
        "memory_id": event.memory_id,
        "data": event.data,
        "payload": event.data,
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def headers_of(event: Event, body: bytes, *, secret: str, sent_at: int) -> dict[str, str]:
    """Return the headers; ``sent_at`` in seconds since 1970. Without a secret there is no signature.

    Ours signs the time too, so that a receiver may refuse what is old; MIRA's signs the body alone.
    """
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Satchel-Webhooks",
        "X-Satchel-Event": event.name,
        "X-Satchel-Delivery": event.delivery_id,
        "X-Satchel-Timestamp": str(sent_at),
        "X-Webhook-ID": event.webhook_id,
        "X-Webhook-Event": event.name,
        "X-MIRA-Event-ID": event.event_id,
        "X-MIRA-Event-Type": event.name,
        "X-MIRA-Webhook-ID": event.webhook_id,
    }
    if secret:
        stamped = f"{sent_at}.".encode() + body
        headers["X-Satchel-Signature"] = f"v1={_mac(secret, stamped)}"
        headers["X-MIRA-Signature"] = f"sha256={_mac(secret, body)}"
        headers["X-MIRA-Signature-Version"] = "v1"
    return headers


def _mac(secret: str, text: bytes) -> str:
    """Return HMAC-SHA256 as hexadecimal digits. Source: RFC 2104."""
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
