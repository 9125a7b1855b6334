"""Deliveries by id, and by endpoint and state, so that a write reads none of the others."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

from satchel.store.webhooks.model import Delivery, DeliveryState


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
class Parcels:
    """All deliveries of one store."""

    _by_id: dict[str, Parcel] = field(default_factory=dict)
    _by_state: dict[tuple[str, DeliveryState], dict[str, Parcel]] = field(default_factory=dict)
    _places: int = 0

    def __iter__(self) -> Iterator[Parcel]:
        return iter(self._by_id.values())

    def get(self, delivery_id: str) -> Parcel | None:
        """Return a delivery, or `None`."""
        return self._by_id.get(delivery_id)

    def add(self, delivery: Delivery, data: dict[str, object], *, once: bool) -> None:
        """Add a delivery at the end of the queue."""
        self._places += 1
        parcel = Parcel(self._places, delivery, data, once)
        self._by_id[delivery.id] = parcel
        self._in_state(delivery)[delivery.id] = parcel

    def change(self, parcel: Parcel, delivery: Delivery) -> None:
        """Give a parcel another state of the same delivery."""
        del self._in_state(parcel.delivery)[delivery.id]
        parcel.delivery = delivery
        self._in_state(delivery)[delivery.id] = parcel

    def remove(self, delivery_id: str) -> None:
        """Forget a delivery, if it is there."""
        parcel = self._by_id.pop(delivery_id, None)
        if parcel is not None:
            del self._in_state(parcel.delivery)[delivery_id]

    def remove_of(self, webhook_id: str) -> None:
        """Forget the deliveries of an endpoint."""
        for state in DeliveryState:
            for delivery_id in self._by_state.pop((webhook_id, state), {}):
                del self._by_id[delivery_id]

    def count(self, webhook_id: str, state: DeliveryState) -> int:
        """Count the deliveries of an endpoint in a state."""
        return len(self._by_state.get((webhook_id, state), ()))

    def of(self, webhook_id: str, state: DeliveryState) -> list[Parcel]:
        """Return the deliveries of an endpoint in a state, oldest first."""
        return sorted(self._by_state.get((webhook_id, state), {}).values(), key=_place)

    def keep(self, webhook_id: str, state: DeliveryState, most: int) -> None:
        """Forget the oldest of an endpoint in a state that are more than ``most``."""
        held = self._by_state.get((webhook_id, state), {})
        for parcel in heapq.nsmallest(max(len(held) - most, 0), held.values(), key=_place):
            self.remove(parcel.delivery.id)

    def total(self, state: DeliveryState) -> int:
        """Count all deliveries in a state."""
        return sum(len(held) for (_, one), held in self._by_state.items() if one is state)

    def _in_state(self, delivery: Delivery) -> dict[str, Parcel]:
        return self._by_state.setdefault((delivery.webhook_id, delivery.state), {})


def _place(parcel: Parcel) -> int:
    return parcel.place
