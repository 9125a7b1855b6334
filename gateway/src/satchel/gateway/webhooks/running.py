"""Runs a deliverer beside a block."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from satchel.gateway.clients import Clients
from satchel.gateway.settings import WebhookSettings
from satchel.gateway.webhooks.deliverer import Deliverer
from satchel.gateway.webhooks.sending import open_sender
from satchel.runtime.background import running


@asynccontextmanager
async def delivering(clients: Clients, settings: WebhookSettings) -> AsyncIterator[None]:
    """Deliver events for the length of the block, with the rights of ``clients``.

    The endpoints of the configuration are registered before the block begins, if the store answers by then.
    """
    async with open_sender(timeout_s=settings.timeout_seconds, tasks=settings.workers) as sender:
        deliverer = Deliverer(clients.webhooks, sender, settings)
        await deliverer.register()
        async with running(deliverer.run()):
            yield
