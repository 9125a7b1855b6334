"""Runs a store with webhooks on, and plays the part of a deliverer."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

from contract.store.backends import RunningStore
from unit.store.fakes import Client, FakeEmbedder

from satchel.api.store.v1 import webhook_service_pb2 as pb
from satchel.store.main import wall_clock
from satchel.store.settings import WebhookRules
from satchel.store.webhook_building import Surroundings

T = TypeVar("T")

HOUR_US = 3600 * 1_000_000
PUBLIC = "93.184.215.14"


class Clock:
    """A clock that goes when it is told to; it begins at the real time, at which events happen."""

    def __init__(self) -> None:
        self.now = wall_clock()

    def __call__(self) -> int:
        return self.now


async def to_a_public_address(host: str, port: int) -> Sequence[str]:
    """Resolve every name to the same public address."""
    assert host
    assert port
    return [PUBLIC]


def running_hooks(
    running_store: RunningStore,
    *,
    clock: Callable[[], int] = wall_clock,
    embedder: FakeEmbedder | None = None,
    resolve: Callable[[str, int], Coroutine[Any, Any, Sequence[str]]] = to_a_public_address,
    share: Callable[[], float] = lambda: 0.0,
    **rules: object,
) -> AbstractAsyncContextManager[Client]:
    """Run a store with webhooks on; ``rules`` are fields of `WebhookRules`."""
    return running_store(
        clock=clock,
        embedder=embedder,
        webhooks=WebhookRules(enabled=True, **rules),  # type: ignore[arg-type]  # names of settings
        surroundings=Surroundings(resolve=resolve, share=share),
    )


async def create(client: Client, url: str = "https://hooks.example/in", **fields: object) -> pb.Webhook:
    """Register an endpoint."""
    request = pb.CreateWebhookRequest(url=url, **fields)  # type: ignore[arg-type]  # fields of the message
    return (await client.webhooks.CreateWebhook(request)).webhook


async def lease(
    client: Client, *, limit: int = 1, lease_s: float = 60, wait_s: float = 0
) -> list[pb.LeasedDelivery]:
    """Take what is due."""
    request = pb.LeaseDeliveriesRequest(limit=limit, lease_s=lease_s, wait_s=wait_s)
    return list((await client.webhooks.LeaseDeliveries(request)).deliveries)


async def succeed(client: Client, found: pb.LeasedDelivery) -> int:
    """Report that a delivery was made, and return where it is then."""
    request = pb.FinishDeliveryRequest(id=found.id, lease_id=found.lease_id, status=204, latency_ms=5)
    return (await client.webhooks.FinishDelivery(request)).state


async def fail(client: Client, found: pb.LeasedDelivery, *, status: int, retry_after_s: float = 0) -> int:
    """Report that a delivery failed, and return where it is then."""
    request = pb.FinishDeliveryRequest(
        id=found.id,
        lease_id=found.lease_id,
        status=status,
        error="It failed.",
        retry_after_s=retry_after_s,
    )
    return (await client.webhooks.FinishDelivery(request)).state


async def dead(client: Client) -> list[pb.Delivery]:
    """Return the dead letters, newest first."""
    request = pb.ListDeliveriesRequest(state=pb.DELIVERY_STATE_DEAD)
    return list((await client.webhooks.ListDeliveries(request)).deliveries)


@asynccontextmanager
async def outside(work: Coroutine[Any, Any, T]) -> AsyncIterator["asyncio.Task[T]"]:
    """Run some work beside the block; it has ended when the block is left."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
