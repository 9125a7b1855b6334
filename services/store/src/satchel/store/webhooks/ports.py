"""What the engine asks of a database and of a name server about webhooks, in the store's own terms."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from satchel.store.webhooks.model import (
    Deliveries,
    DeliveryQuery,
    Due,
    Happening,
    Leased,
    Report,
    Totals,
    Webhook,
)
from satchel.store.webhooks.pacing import Pacing, Verdict

# Returns the addresses of a host, as texts; none where it is not known.
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class WebhookStore(Protocol):
    """A part of `satchel.store.ports.MemoryStore`, to which the same errors and promises apply.

    Events of memories are written by the changes themselves, in their transactions. ``now`` is in
    microseconds.
    """

    async def open(self, *, queue_size: int, enabled: bool) -> None:
        """Begin to write events, with at most so many that wait for one endpoint; or write none."""
        ...

    async def webhooks(self, project: str = "") -> tuple[Webhook, ...]:
        """Return the endpoints, oldest first; an empty project means any."""
        ...

    async def webhook(self, webhook_id: str) -> Webhook:
        """Return an endpoint.

        Raises:
            WebhookNotFound: there is none.
        """
        ...

    async def add(self, webhook: Webhook) -> None:
        """Add an endpoint.

        Raises:
            WebhookLimitReached: there are as many as there may be.
        """
        ...

    async def change(self, webhook_id: str, fields: Mapping[str, object]) -> Webhook:
        """Set fields of `Webhook` and return the endpoint.

        Raises:
            WebhookNotFound: there is none.
        """
        ...

    async def configure(self, named: Sequence[Webhook]) -> tuple[Webhook, ...]:
        """Add or renew the endpoints of the configuration, and disable those that it names no more.

        Raises:
            WebhookLimitReached: there would be more than there may be; nothing was changed.
        """
        ...

    async def remove(self, webhook_id: str) -> None:
        """Remove an endpoint with all of its deliveries.

        Raises:
            WebhookNotFound: there is none.
        """
        ...

    async def due(self, now: int) -> Due:
        """Tell whether something can be leased."""
        ...

    async def lease(self, limit: int, *, now: int, until: int) -> tuple[Leased, ...]:
        """Take deliveries that are due, the oldest first, until some moment."""
        ...

    async def finish(self, report: Report, *, pacing: Pacing, share: float, now: int) -> Verdict | None:
        """Note what became of a try, as `judge` says; None where another has the delivery now."""
        ...

    async def deliveries(self, query: DeliveryQuery) -> Deliveries:
        """List deliveries."""
        ...

    async def redrive(self, ids: Sequence[str], webhook_id: str) -> int:
        """Let dead letters wait again, those of ids or of an endpoint; return how many.

        Raises:
            WebhookNotFound: there is no such endpoint.
        """
        ...

    async def tell(self, happening: Happening) -> None:
        """Write an event for all who want it."""
        ...

    async def begin_test(self, webhook_id: str, happening: Happening) -> str:
        """Put an event for one endpoint before all others, for one try, and return its delivery's id.

        Raises:
            WebhookNotFound: there is none.
        """
        ...

    async def drop(self, delivery_id: str) -> None:
        """Forget a delivery, if it is there."""
        ...

    async def totals(self) -> Totals:
        """Count deliveries."""
        ...
