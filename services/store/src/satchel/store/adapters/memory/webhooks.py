"""The port `WebhookStore` over tables in memory."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace

from satchel.store.adapters.memory.outbox import Outbox
from satchel.store.adapters.memory.parcels import Parcel
from satchel.store.adapters.memory.tables import Tables
from satchel.store.errors import WebhookLimitReached
from satchel.store.webhooks.model import (
    GONE,
    MOST_ENDPOINTS,
    Deliveries,
    DeliveryQuery,
    DeliveryState,
    Due,
    Happening,
    Leased,
    Report,
    Totals,
    Webhook,
)
from satchel.store.webhooks.naming import renewed, unnamed
from satchel.store.webhooks.pacing import Pacing, Verdict, after, judge


class InMemoryWebhooks:
    """See `satchel.store.webhooks.ports.WebhookStore`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @property
    def _outbox(self) -> Outbox:
        return self._tables.outbox

    async def open(self, *, queue_size: int, enabled: bool) -> None:
        """See the port."""
        self._outbox.queue_size, self._outbox.is_open = queue_size, enabled

    async def webhooks(self, project: str = "") -> tuple[Webhook, ...]:
        """See the port."""
        found = [self._outbox.webhook(one.id) for one in self._outbox.webhooks.values()]
        inside = (one for one in found if project in ("", one.project))
        return tuple(sorted(inside, key=lambda one: (one.created_at, one.id)))

    async def webhook(self, webhook_id: str) -> Webhook:
        """See the port."""
        return self._outbox.webhook(webhook_id)

    async def add(self, webhook: Webhook) -> None:
        """See the port."""
        await self._save([webhook])

    async def change(self, webhook_id: str, fields: Mapping[str, object]) -> Webhook:
        """See the port."""
        changed = replace(self._outbox.webhook(webhook_id), **fields)  # type: ignore[arg-type]  # the engine typed the values
        self._outbox.webhooks[webhook_id] = changed
        return changed

    async def configure(self, named: Sequence[Webhook]) -> tuple[Webhook, ...]:
        """See the port."""
        known = tuple(self._outbox.webhooks.values())
        await self._save([*renewed(named, known), *unnamed(named, known)])
        return tuple(self._outbox.webhook(one.id) for one in named)

    async def _save(self, webhooks: Sequence[Webhook]) -> None:
        every = self._outbox.webhooks | {one.id: one for one in webhooks}
        if len(every) > MOST_ENDPOINTS:
            raise WebhookLimitReached(MOST_ENDPOINTS)
        self._outbox.webhooks = every

    async def remove(self, webhook_id: str) -> None:
        """See the port."""
        self._outbox.parcels.remove_of(self._outbox.webhook(webhook_id).id)
        del self._outbox.webhooks[webhook_id]

    async def due(self, now: int) -> Due:
        """See the port."""
        later = (moment for one in self._outbox.parcels if (moment := self._due_at(one)) > now)
        return Due(bool(self._outbox.ready(now)), min(later, default=None), self._tables.head)

    def _due_at(self, parcel: Parcel) -> int:
        """Return when a delivery might be due; 0 where time alone changes nothing."""
        webhook = self._outbox.webhooks[parcel.delivery.webhook_id]
        if not parcel.is_pending or not (webhook.enabled or parcel.once):
            return 0
        return max(parcel.delivery.due_at, 0 if parcel.once else webhook.open_until)

    async def lease(self, limit: int, *, now: int, until: int) -> tuple[Leased, ...]:
        """See the port."""
        leased: list[Leased] = []
        slow: set[str] = set()
        for parcel in self._outbox.ready(now)[:limit]:
            webhook_id = parcel.delivery.webhook_id
            if webhook_id in slow:
                continue
            if self._outbox.is_slow(webhook_id) and not parcel.once:
                slow.add(webhook_id)
            leased.append(self._leased(parcel, until))
        return tuple(leased)

    def _leased(self, parcel: Parcel, until: int) -> Leased:
        found, webhook = parcel.delivery, self._outbox.webhooks[parcel.delivery.webhook_id]
        parcel.lease_id = str(uuid.uuid4())
        self._outbox.parcels.change(parcel, replace(found, due_at=until, tries=found.tries + 1))
        entry = self._tables.entries.get(found.memory_id)
        shown = entry is not None and webhook.include_content and not entry.hidden
        data = dict(parcel.data)
        if entry is not None and shown:
            data["content"] = entry.memory.content
        return Leased(
            delivery=found, lease_id=parcel.lease_id, url=webhook.url, secret=webhook.secret, data=data
        )

    async def finish(self, report: Report, *, pacing: Pacing, share: float, now: int) -> Verdict | None:
        """See the port."""
        parcel = self._outbox.parcels.get(report.id)
        if parcel is None or not parcel.is_pending or parcel.lease_id != report.lease_id:
            return None
        verdict = judge(report, tries=parcel.delivery.tries, pacing=pacing, share=share, now=now)
        if parcel.once:
            self._outbox.parcels.remove(report.id)
            return verdict
        parcel.lease_id = ""
        finished = replace(
            parcel.delivery,
            state=verdict.state,
            due_at=verdict.due_at,
            finished_at=0 if verdict.state is DeliveryState.PENDING else now,
            last_status=report.status,
            last_error=report.error,
        )
        self._outbox.parcels.change(parcel, finished)
        self._note(parcel.delivery.webhook_id, verdict, now)
        return verdict

    def _note(self, webhook_id: str, verdict: Verdict, now: int) -> None:
        webhook = self._outbox.webhooks[webhook_id]
        breaker = after(webhook.failures, is_delivered=verdict.state is DeliveryState.DELIVERED, now=now)
        webhook = replace(webhook, failures=breaker.failures, open_until=breaker.open_until)
        if verdict.is_gone:
            webhook = replace(webhook, enabled=False, disabled_reason=GONE)
        self._outbox.webhooks[webhook_id] = webhook
        self._outbox.prune(webhook_id)

    async def deliveries(self, query: DeliveryQuery) -> Deliveries:
        """See the port."""
        found = [one for one in self._outbox.parcels if _is_asked_for(one, query)]
        found.sort(key=lambda one: -one.place)
        shown = found[: query.limit]
        last = shown[-1].place if len(found) > query.limit else None
        return Deliveries(tuple(one.delivery for one in shown), last)

    async def redrive(self, ids: Sequence[str], webhook_id: str) -> int:
        """See the port."""
        if webhook_id:
            self._outbox.webhook(webhook_id)
        count, wanted = 0, set(ids)
        for parcel in tuple(self._outbox.parcels):
            found = parcel.delivery
            is_meant = found.id in wanted or found.webhook_id == webhook_id
            waiting = self._outbox.parcels.count(found.webhook_id, DeliveryState.PENDING)
            if not is_meant or found.state is not DeliveryState.DEAD or waiting >= self._outbox.queue_size:
                continue
            again = replace(found, state=DeliveryState.PENDING, tries=0, due_at=0, finished_at=0)
            self._outbox.parcels.change(parcel, again)
            count += 1
        return count

    async def tell(self, happening: Happening) -> None:
        """See the port."""
        self._outbox.tell(happening.event, data=dict(happening.data), event_id=happening.event_id)

    async def begin_test(self, webhook_id: str, happening: Happening) -> str:
        """See the port."""
        return self._outbox.begin_test(webhook_id, happening)

    async def drop(self, delivery_id: str) -> None:
        """See the port."""
        self._outbox.parcels.remove(delivery_id)

    async def totals(self) -> Totals:
        """See the port."""
        total = self._outbox.parcels.total
        return Totals(total(DeliveryState.PENDING), total(DeliveryState.DEAD), self._outbox.overflowed)


def _is_asked_for(parcel: Parcel, query: DeliveryQuery) -> bool:
    found = parcel.delivery
    return (
        not parcel.once
        and query.state in (None, found.state)
        and query.webhook_id in ("", found.webhook_id)
        and query.project in ("", found.project)
        and (query.before is None or parcel.place < query.before)
    )
