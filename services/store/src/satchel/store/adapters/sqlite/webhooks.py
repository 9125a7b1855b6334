"""The port `WebhookStore` on one SQLite file."""

from collections.abc import Mapping, Sequence
from functools import partial

from satchel.store.adapters.sqlite import deliveries, endpoints
from satchel.store.adapters.sqlite.connection import ReaderPool
from satchel.store.adapters.sqlite.group_commit import GroupCommit
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


class SqliteWebhooks:
    """See `satchel.store.webhooks.ports.WebhookStore`."""

    def __init__(self, writer: GroupCommit, readers: ReaderPool) -> None:
        self._writer = writer
        self._readers = readers

    async def open(self, *, queue_size: int, enabled: bool) -> None:
        """See the port. A database that can only be read is left alone where nothing changes."""
        if not await self._readers.run(lambda raw: endpoints.is_open(raw, queue_size, enabled=enabled)):
            await self._writer.run(partial(endpoints.open_events, queue_size, enabled))

    async def webhooks(self, project: str = "") -> tuple[Webhook, ...]:
        """See the port."""
        return await self._readers.run(lambda raw: endpoints.every(raw, project))

    async def webhook(self, webhook_id: str) -> Webhook:
        """See the port."""
        return await self._readers.run(lambda raw: endpoints.one(raw, webhook_id))

    async def add(self, webhook: Webhook) -> None:
        """See the port."""
        await self._writer.run(partial(endpoints.add, webhook))

    async def change(self, webhook_id: str, fields: Mapping[str, object]) -> Webhook:
        """See the port."""
        return await self._writer.run(partial(endpoints.change, webhook_id, fields))

    async def configure(self, named: Sequence[Webhook]) -> tuple[Webhook, ...]:
        """See the port."""
        return await self._writer.run(partial(endpoints.configure, named))

    async def remove(self, webhook_id: str) -> None:
        """See the port."""
        await self._writer.run(partial(endpoints.remove, webhook_id))

    async def due(self, now: int) -> Due:
        """See the port."""
        return await self._readers.run(lambda raw: deliveries.due(raw, now))

    async def lease(self, limit: int, *, now: int, until: int) -> tuple[Leased, ...]:
        """See the port."""
        return await self._writer.run(partial(deliveries.lease, limit, now, until))

    async def finish(self, report: Report, *, pacing: Pacing, share: float, now: int) -> Verdict | None:
        """See the port."""
        return await self._writer.run(partial(deliveries.finish, report, pacing, share, now))

    async def deliveries(self, query: DeliveryQuery) -> Deliveries:
        """See the port."""
        return await self._readers.run(lambda raw: deliveries.listed(raw, query))

    async def redrive(self, ids: Sequence[str], webhook_id: str) -> int:
        """See the port."""
        return await self._writer.run(partial(deliveries.redrive, ids, webhook_id))

    async def tell(self, happening: Happening) -> None:
        """See the port."""
        await self._writer.run(partial(deliveries.tell, happening))

    async def begin_test(self, webhook_id: str, happening: Happening) -> str:
        """See the port."""
        return await self._writer.run(partial(deliveries.begin_test, webhook_id, happening))

    async def drop(self, delivery_id: str) -> None:
        """See the port."""
        await self._writer.run(partial(deliveries.drop, delivery_id))

    async def totals(self) -> Totals:
        """See the port."""
        return await self._readers.run(deliveries.totals)
