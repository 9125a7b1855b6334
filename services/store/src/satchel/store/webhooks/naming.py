"""Endpoints that the configuration names: their ids, and what a start changes of them."""

import uuid
from collections.abc import Iterable
from dataclasses import replace

from satchel.store.webhooks.model import UNNAMED, Webhook


def id_of(url: str) -> str:
    """Return the id of an endpoint of the configuration: the same for the same URL, at every start.

    Source: RFC 9562, section 5.5 (version 5, in the name space of URLs).
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, url))


def renewed(named: Iterable[Webhook], known: Iterable[Webhook]) -> list[Webhook]:
    """Return the endpoints as the configuration has them now; what became of those known since stays."""
    before = {webhook.id: webhook for webhook in known}
    return [_renewed(webhook, before[webhook.id]) if webhook.id in before else webhook for webhook in named]


def unnamed(named: Iterable[Webhook], known: Iterable[Webhook]) -> list[Webhook]:
    """Return, disabled, those that the configuration named and names no more."""
    ids = {webhook.id for webhook in named}
    return [
        replace(webhook, enabled=False, disabled_reason=UNNAMED)
        for webhook in known
        if webhook.configured and webhook.enabled and webhook.id not in ids
    ]


def _renewed(named: Webhook, known: Webhook) -> Webhook:
    is_back = known.disabled_reason == UNNAMED
    return replace(
        known,
        secret=named.secret,
        events=named.events,
        description=named.description,
        configured=True,
        enabled=known.enabled or is_back,
        disabled_reason="" if is_back else known.disabled_reason,
    )
