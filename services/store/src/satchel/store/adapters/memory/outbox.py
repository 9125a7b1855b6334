"""Endpoints and the deliveries to them, in memory; changes of memories raise their events here."""

import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from satchel.store.errors import WebhookNotFound
from satchel.store.model import Memory, Relation
from satchel.store.webhooks import model
from satchel.store.webhooks.model import Delivery, DeliveryState, Happening, Webhook
from satchel.store.webhooks.pacing import MOST_FAILURES


@dataclass(slots=True)
class Parcel:
    """A delivery with what is kept of it beside; ``once`` marks a test."""

    place: int
    delivery: Delivery
    data: dict[str, object]
    once: bool = False
    lease_id: str = ""

    @property
    def is_pending(self) -> bool:
        """Whether it waits or is under way."""
        return self.delivery.state is DeliveryState.PENDING


@dataclass(slots=True)
class Outbox:
    """Nothing is written while ``is_open`` is false."""

    queue_size: int = 0
    is_open: bool = False
    overflowed: int = 0
    webhooks: dict[str, Webhook] = field(default_factory=dict)
    parcels: dict[str, Parcel] = field(default_factory=dict)
    _places: int = 0

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
            fits = self.count(webhook.id, DeliveryState.PENDING) < self.queue_size
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
        self._places += 1
        self.parcels[delivery.id] = Parcel(self._places, delivery, data, once)
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
        counts = (self.count(webhook_id, DeliveryState.PENDING), self.count(webhook_id, DeliveryState.DEAD))
        return replace(self.webhooks[webhook_id], pending=counts[0], dead=counts[1])

    def count(self, webhook_id: str, state: DeliveryState) -> int:
        """Count the deliveries of an endpoint in a state."""
        return sum(1 for one in self.of(webhook_id) if one.delivery.state is state)

    def of(self, webhook_id: str) -> Iterable[Parcel]:
        """Return the deliveries of an endpoint, oldest first."""
        return [one for one in self.parcels.values() if one.delivery.webhook_id == webhook_id]

    def ready(self, now: int) -> list[Parcel]:
        """Return what may be sent now: tests first, then the oldest."""
        found = [one for one in self.parcels.values() if one.is_pending and one.delivery.due_at <= now]
        ready = [one for one in found if self._may_go(one, now)]
        return sorted(ready, key=lambda one: (not one.once, one.place))

    def prune(self, webhook_id: str) -> None:
        """Forget the oldest that are too many of what was delivered or given up."""
        for state, kept in (
            (DeliveryState.DELIVERED, model.KEPT_DELIVERED),
            (DeliveryState.DEAD, model.KEPT_DEAD),
        ):
            old = [one for one in self.of(webhook_id) if one.delivery.state is state]
            for parcel in old[: max(len(old) - kept, 0)]:
                del self.parcels[parcel.delivery.id]

    def is_slow(self, webhook_id: str) -> bool:
        """Tell whether an endpoint failed so often that it gets one delivery at a time."""
        return self.webhooks[webhook_id].failures >= MOST_FAILURES

    def _wants(self, webhook: Webhook, event: str, project: str) -> bool:
        return self.is_open and event in webhook.wanted and webhook.project in ("", project)

    def _may_go(self, parcel: Parcel, now: int) -> bool:
        if parcel.once:
            return True
        webhook = self.webhooks[parcel.delivery.webhook_id]
        if not webhook.enabled or webhook.open_until > now:
            return False
        others = [one for one in self.of(webhook.id) if one.is_pending and one is not parcel]
        if self.is_slow(webhook.id) and any(one.lease_id and one.delivery.due_at > now for one in others):
            return False
        memory_id = parcel.delivery.memory_id
        return not any(
            memory_id and one.delivery.memory_id == memory_id and one.place < parcel.place for one in others
        )
