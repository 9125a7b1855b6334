"""Endpoints and the deliveries to them, in memory; changes of memories raise their events here."""

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from satchel.store.adapters.memory.parcels import Parcel, Parcels
from satchel.store.errors import WebhookNotFound
from satchel.store.model import Memory, Relation
from satchel.store.webhooks import model
from satchel.store.webhooks.model import Delivery, DeliveryState, Happening, Webhook
from satchel.store.webhooks.pacing import MOST_FAILURES


@dataclass(slots=True)
class Outbox:
    """Nothing is written while ``is_open`` is false."""

    queue_size: int = 0
    is_open: bool = False
    overflowed: int = 0
    webhooks: dict[str, Webhook] = field(default_factory=dict)
    parcels: Parcels = field(default_factory=Parcels)

    def told(self, event: str, memory: Memory) -> None:
        """Raise an event of a memory."""
        self.tell(event, memory_id=memory.id, project=memory.project, data=model.data_of(memory))

    def told_of_vectors(self, memory: Memory) -> None:
        """Raise the event that a memory has vectors, or has none although it should."""
        self.told(model.EMBEDDED if memory.passage_count else model.NOT_EMBEDDED, memory)

    def told_of_cause(self, cause: str, effect: Memory, relation: Relation) -> None:
        """Raise the event that a link was found in the text of its effect."""
        data = model.causal_data(cause, effect.id, relation)
        self.tell(model.CAUSAL, memory_id=effect.id, project=effect.project, data=data)

    def tell(
        self,
        event: str,
        *,
        data: dict[str, object],
        memory_id: str = "",
        project: str = "",
        event_id: str = "",
    ) -> None:
        """Raise an event for all who want it."""
        wanting = [one for one in self.webhooks.values() if self._wants(one, event, project)]
        event_id, now = event_id or str(uuid.uuid4()), time.time_ns() // 1000
        for webhook in wanting:
            fits = self.parcels.count(webhook.id, DeliveryState.PENDING) < self.queue_size
            self.overflowed += not fits
            self.put(
                Delivery(
                    id=str(uuid.uuid4()),
                    webhook_id=webhook.id,
                    event_id=event_id,
                    event=event,
                    occurred_at=now,
                    memory_id=memory_id,
                    project=project,
                    state=DeliveryState.PENDING if fits else DeliveryState.DEAD,
                    finished_at=0 if fits else now,
                    last_error="" if fits else model.OVERFLOWED,
                ),
                data,
            )

    def put(self, delivery: Delivery, data: dict[str, object], *, once: bool = False) -> None:
        """Add a delivery at the end of the queue."""
        self.parcels.add(delivery, data, once=once)
        self.prune(delivery.webhook_id)

    def begin_test(self, webhook_id: str, happening: Happening) -> str:
        """Add an event for one endpoint and return the id of its delivery."""
        delivery = Delivery(
            id=str(uuid.uuid4()),
            webhook_id=self.webhook(webhook_id).id,
            event_id=happening.event_id,
            event=happening.event,
            occurred_at=happening.at,
        )
        self.put(delivery, dict(happening.data), once=True)
        return delivery.id

    def webhook(self, webhook_id: str) -> Webhook:
        """Return an endpoint with its counts.

        Raises:
            WebhookNotFound: there is none.
        """
        if webhook_id not in self.webhooks:
            raise WebhookNotFound(webhook_id)
        return replace(
            self.webhooks[webhook_id],
            pending=self.parcels.count(webhook_id, DeliveryState.PENDING),
            dead=self.parcels.count(webhook_id, DeliveryState.DEAD),
        )

    def ready(self, now: int) -> list[Parcel]:
        """Return what may be sent now: tests first, then the oldest."""
        ready = [parcel for webhook in self.webhooks.values() for parcel in self._ready_of(webhook, now)]
        return sorted(ready, key=lambda one: (not one.once, one.place))

    def prune(self, webhook_id: str) -> None:
        """Forget the oldest that are too many of what was delivered or given up."""
        for state, kept in (
            (DeliveryState.DELIVERED, model.KEPT_DELIVERED),
            (DeliveryState.DEAD, model.KEPT_DEAD),
        ):
            self.parcels.keep(webhook_id, state, kept)

    def is_slow(self, webhook_id: str) -> bool:
        """Tell whether an endpoint failed so often that it gets one delivery at a time."""
        return self.webhooks[webhook_id].failures >= MOST_FAILURES

    def _wants(self, webhook: Webhook, event: str, project: str) -> bool:
        return self.is_open and event in webhook.wanted and webhook.project in ("", project)

    def _ready_of(self, webhook: Webhook, now: int) -> Iterator[Parcel]:
        """Yield what may be sent to an endpoint: of one memory nothing before what is older."""
        waiting = self.parcels.of(webhook.id, DeliveryState.PENDING)
        is_open = webhook.enabled and webhook.open_until <= now
        is_busy = self.is_slow(webhook.id) and any(
            one.lease_id and one.delivery.due_at > now for one in waiting
        )
        older: set[str] = set()
        for parcel in waiting:
            memory_id = parcel.delivery.memory_id
            may_go = parcel.once or (is_open and not is_busy and memory_id not in older)
            if may_go and parcel.delivery.due_at <= now:
                yield parcel
            older.update([memory_id] if memory_id else [])
