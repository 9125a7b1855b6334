"""Endpoints, events and deliveries in the store's own terms. Times are microseconds since 1970 in UTC."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from satchel.store.model import Memory, Relation

STORED = "store.completed"
UPDATED = "memory.updated"
DELETED = "memory.deleted"
ARCHIVED = "memory.archived"
UNARCHIVED = "memory.unarchived"
CAUSAL = "causal.detected"
EMBEDDED = "embedding.completed"
NOT_EMBEDDED = "embedding.failed"
MAINTENANCE = "index.maintenance"
TEST = "webhook.test"

# What an endpoint may subscribe to; everybody gets the test.
EVENTS = (
    STORED, UPDATED, DELETED, ARCHIVED, UNARCHIVED, CAUSAL, EMBEDDED, NOT_EMBEDDED, MAINTENANCE,
)  # fmt: skip

MOST_ENDPOINTS = 100
KEPT_DELIVERED = 1000
KEPT_DEAD = 10_000

GONE = "It answered 410: it is gone."
UNNAMED = "The configuration names it no more."
OVERFLOWED = "The queue of the endpoint was full."


class DeliveryState(enum.IntEnum):
    """Where a delivery is; what is under way is pending."""

    PENDING = 1
    DELIVERED = 2
    DEAD = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """An endpoint.

    Without ``events`` it gets all, with an empty ``project`` those of every one; an empty ``secret`` signs
    nothing. ``failures`` counts those since the last success, and until ``open_until`` nothing is sent.
    """

    id: str
    url: str
    secret: str
    created_at: int
    events: tuple[str, ...] = ()
    project: str = ""
    description: str = ""
    include_content: bool = False
    enabled: bool = True
    disabled_reason: str = ""
    configured: bool = False
    pending: int = 0
    dead: int = 0
    failures: int = 0
    open_until: int = 0

    @property
    def wanted(self) -> tuple[str, ...]:
        """The events that it gets now."""
        return (self.events or EVENTS) if self.enabled else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event on its way to one endpoint.

    ``due_at`` is when the next try is due, 0 for at once; of one that is under way it is the end of the
    lease. ``finished_at`` is 0 while it waits.
    """

    id: str
    webhook_id: str
    event_id: str
    event: str
    occurred_at: int
    memory_id: str = ""
    project: str = ""
    state: DeliveryState = DeliveryState.PENDING
    tries: int = 0
    due_at: int = 0
    finished_at: int = 0
    last_status: int = 0
    last_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leased:
    """A delivery to be made now, with what is needed for it; ``data`` is a JSON object."""

    delivery: Delivery
    lease_id: str
    url: str
    secret: str
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Due:
    """Whether something can be leased now; if not, when it might be, and the store's newest revision."""

    is_due: bool
    next_at: int | None
    head: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of a try: ``status`` is 0 without an answer, ``error`` empty when it was delivered."""

    id: str
    lease_id: str
    status: int = 0
    error: str = ""
    latency_ms: float = 0.0
    retry_after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Totals:
    """How many deliveries of all endpoints wait and are dead, and how many found the queue full, ever."""

    pending: int
    dead: int
    overflowed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryQuery:
    """Which deliveries to list, newest first: from before ``before``, a place that a listing gave."""

    state: DeliveryState | None = None
    webhook_id: str = ""
    project: str = ""
    before: int | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Deliveries:
    """Some deliveries of a listing, and the place from before which it goes on; None at the end."""

    deliveries: tuple[Delivery, ...]
    last: int | None


@dataclass(frozen=True, slots=True)
class Happening:
    """An event that no memory raised: its id, its name and its data."""

    event_id: str
    event: str
    at: int
    data: Mapping[str, object]


def data_of(memory: Memory) -> dict[str, object]:
    """Return what an event says of a memory: where it is and what it is, never its text."""
    return {
        "wing": memory.wing,
        "room": memory.room,
        "type": memory.type.name.lower(),
        "state": memory.state.name.lower(),
        "version": memory.version,
        "revision": memory.revision,
        "session_id": memory.session_id,
        "fact_count": memory.fact_count,
        "token_count": memory.costs.verbatim,
        "passage_count": memory.passage_count,
    }


def causal_data(cause_id: str, effect_id: str, relation: Relation) -> dict[str, object]:
    """Return what an event says of a causal link."""
    return {"cause_id": cause_id, "effect_id": effect_id, "relation": relation.name.lower()}
