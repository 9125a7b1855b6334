"""Puts together what tells other programs of events; a part of the composition root."""

import logging
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc

from satchel.api.store.v1 import webhook_service_pb2_grpc
from satchel.runtime.addresses import resolve as resolve_name
from satchel.runtime.errors import ServiceError
from satchel.runtime.metrics.scraping import read_at_scrape
from satchel.store import metrics
from satchel.store.engine.delivering import Delivering
from satchel.store.engine.endpoints import Endpoints
from satchel.store.ids import Stamps
from satchel.store.ports import MemoryStore
from satchel.store.servicers.webhooks import WebhookServicer
from satchel.store.settings import WebhookRules
from satchel.store.webhooks.ports import Resolve

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What webhooks take from outside: names are resolved, and waits drawn, by these."""

    resolve: Resolve = resolve_name
    share: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Webhooks:
    """What can be done with webhooks."""

    endpoints: Endpoints
    delivering: Delivering
    allow_private: bool

    def register(self, server: grpc.aio.Server) -> None:
        """Add the servicer to a server; it is there also while webhooks are off, and says so."""
        servicer = WebhookServicer(self.endpoints, self.delivering, allow_private=self.allow_private)
        webhook_service_pb2_grpc.add_WebhookServiceServicer_to_server(servicer, server)


@asynccontextmanager
async def open_webhooks(
    rules: WebhookRules,
    store: MemoryStore,
    stamps: Stamps,
    *,
    clock: Callable[[], int],
    surroundings: Surroundings,
) -> AsyncIterator[Webhooks]:
    """Begin to write events, and yield the use cases; times are in microseconds.

    A database that can only be read keeps what it says of subscriptions; that is logged.
    """
    delivering = Delivering(store, rules, clock=clock, share=surroundings.share)
    endpoints = Endpoints(
        store, stamps, rules, resolve=surroundings.resolve, on_change=delivering.endpoints_changed
    )
    try:
        await endpoints.open()
    except ServiceError as error:
        log.warning("webhooks.not_opened", extra={"reason": error.reason})

    async def show() -> None:
        found = await store.webhooks.totals()
        metrics.WEBHOOK_PENDING.set(found.pending)
        metrics.WEBHOOK_DEAD.set(found.dead)
        metrics.WEBHOOK_OVERFLOWS.set(found.overflowed)

    with read_at_scrape("webhooks", metrics.WEBHOOKS, show):
        yield Webhooks(endpoints, delivering, rules.allow_private)
