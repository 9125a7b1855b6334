"""Takes what is due from the store, sends it, and reports; as many at a time as there are workers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

import grpc

from satchel.api.store.v1 import webhook_service_pb2 as pb
from satchel.gateway.metrics import count_delivery
from satchel.gateway.settings import WebhookSettings
from satchel.gateway.transcoder import codec
from satchel.gateway.webhooks.envelope import Event
from satchel.gateway.webhooks.sending import Outcome, Sender
from satchel.runtime.errors import Code, ServiceError
from satchel.runtime.status import from_rpc_error
from satchel.runtime.telemetry import span

if TYPE_CHECKING:
    from satchel.api.store.v1.webhook_service_pb2_grpc import WebhookServiceAsyncStub

log = logging.getLogger(__name__)

Pause = Callable[[float], Awaitable[None]]

_WAIT_S = 5.0  # short, so that a store that stops is not held up
_CALL_S = 10.0
_FIRST_CALL_S = 3.0  # the start waits for this one
_LEASE_MARGIN_S = 30.0
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_MAY_PASS = (Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.CANCELLED)


class Deliverer:
    """Serves the queue of a store; several deliverers may serve one.

    An event whose report does not arrive is sent again when its lease is over.
    """

    def __init__(
        self,
        store: "WebhookServiceAsyncStub",
        sender: Sender,
        settings: WebhookSettings,
        *,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._store = store
        self._sender = sender
        self._settings = settings
        self._pause = pause
        self._is_on = True
        self._is_registered = False

    async def register(self) -> None:
        """Try once to register what the configuration names; where the store is silent `run` does it."""
        try:
            await self._configure(_FIRST_CALL_S)
        except grpc.aio.AioRpcError as failed:
            log.info("webhooks.registered_later", extra={"reason": from_rpc_error(failed).reason})

    async def run(self) -> None:
        """Register what the configuration names, then deliver for ever; end where webhooks are off."""
        if not self._is_registered:
            await self._until_done(self._configure)
        if not self._is_on:
            return
        async with asyncio.TaskGroup() as group:
            for _ in range(self._settings.workers):
                group.create_task(self._deliver_for_ever())

    async def _deliver_for_ever(self) -> None:
        while True:
            await self._until_done(self._deliver_next)

    async def _until_done(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do some work, again and again until it succeeds."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                await work()
            except grpc.aio.AioRpcError as failed:
                _tell(from_rpc_error(failed), pause_s)
            except Exception:  # what one delivery breaks must not end the others
                log.exception("webhooks.delivery_broke", extra={"retry_s": pause_s})
            else:
                return
            await self._pause(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def _configure(self, timeout_s: float = _CALL_S) -> None:
        """Register the endpoints; what the store refuses is logged, and the others are served."""
        request = pb.ConfigureWebhooksRequest(
            webhooks=[
                pb.WebhookConfiguration(
                    url=one.url, secret=one.secret.reveal(), events=one.events, description=one.description
                )
                for one in self._settings.endpoints
            ]
        )
        try:
            self._is_on = (await self._store.ConfigureWebhooks(request, timeout=timeout_s)).enabled
        except grpc.aio.AioRpcError as failed:
            error = from_rpc_error(failed)
            if error.code in _MAY_PASS:
                raise
            log.error(  # noqa: TRY400  # the sentence says all
                "webhooks.configuration_refused", extra={"reason": error.reason, "problem": error.message}
            )
        self._is_registered = True

    async def _deliver_next(self) -> None:
        """Deliver what is due next; nothing may be."""
        request = pb.LeaseDeliveriesRequest(
            limit=1, lease_s=self._settings.timeout_seconds + _LEASE_MARGIN_S, wait_s=_WAIT_S
        )
        answer = await self._store.LeaseDeliveries(request, timeout=_WAIT_S + _CALL_S)
        for delivery in answer.deliveries:
            await self._report(delivery, await self._send(delivery))

    async def _send(self, delivery: pb.LeasedDelivery) -> Outcome:
        with span("satchel.webhook.send", event=delivery.event, attempt=delivery.tries) as current:
            outcome = await self._sender.send(
                delivery.url,
                event_of(delivery),
                secret=delivery.secret,
                allow_private=delivery.allow_private,
            )
            current.set(status=outcome.status)
        count_delivery(is_delivered=not outcome.error, seconds=outcome.latency_ms / 1000)
        if outcome.error:
            details = {"webhook": delivery.webhook_id, "delivery": delivery.id, "attempt": delivery.tries}
            log.warning("webhooks.try_failed", extra={**details, "problem": outcome.error})
        return outcome

    async def _report(self, delivery: pb.LeasedDelivery, outcome: Outcome) -> None:
        await self._store.FinishDelivery(
            pb.FinishDeliveryRequest(
                id=delivery.id,
                lease_id=delivery.lease_id,
                status=outcome.status,
                error=outcome.error,
                latency_ms=outcome.latency_ms,
                retry_after_s=outcome.retry_after_s,
            ),
            timeout=_CALL_S,
        )


def event_of(delivery: pb.LeasedDelivery) -> Event:
    """Decode the event of a delivery."""
    shown = cast("dict[str, object]", codec.encode(delivery))
    return Event(
        delivery_id=delivery.id,
        webhook_id=delivery.webhook_id,
        event_id=delivery.event_id,
        name=delivery.event,
        occurred_at=str(shown["occurred_at"]),
        project=delivery.project,
        memory_id=delivery.memory_id,
        data=cast("dict[str, object]", shown["data"]),
    )


def _tell(error: ServiceError, pause_s: float) -> None:
    log.warning("webhooks.store_failed", extra={"reason": error.reason, "retry_s": pause_s})
