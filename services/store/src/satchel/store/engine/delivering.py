"""Handing out what is due, and noting what became of it."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from satchel.runtime.deadlines import remaining_s
from satchel.store.cursors import decode_token, encode_token
from satchel.store.ports import MemoryStore
from satchel.store.scope import Place
from satchel.store.settings import WebhookRules
from satchel.store.webhooks import model
from satchel.store.webhooks.model import Delivery, DeliveryQuery, Due, Happening, Leased, Report
from satchel.store.webhooks.pacing import Pacing, Verdict

_MICROS = 1_000_000
_LONGEST_TEST_S = 60.0


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """Deliveries of one page, and the token of the next; empty at the end, and only there."""

    deliveries: tuple[Delivery, ...]
    next_token: str


@dataclass(frozen=True, slots=True)
class Tested:
    """What became of a test: the report of whoever sent it; None when nobody did in time."""

    delivery_id: str
    report: Report | None


class Delivering:
    """Use cases of deliverers, and of those who look after what they do.

    ``share`` draws from [0, 1). While there are no endpoints a deliverer that waits costs nothing.
    """

    def __init__(
        self,
        store: MemoryStore,
        rules: WebhookRules,
        *,
        clock: Callable[[], int],
        share: Callable[[], float],
    ) -> None:
        self._memories = store
        self._store = store.webhooks
        self._pacing = Pacing(
            tries=rules.max_tries, first_s=rules.retry_first_s, longest_s=rules.retry_longest_s
        )
        self._clock = clock
        self._share = share
        self._has_endpoints = False
        self._changed = asyncio.Event()
        self._turn = asyncio.Lock()
        self._tests: dict[str, asyncio.Future[Report]] = {}

    def endpoints_changed(self, has_any: bool) -> None:  # noqa: FBT001  # a callback
        """Note whether there are endpoints, and let those who wait look again."""
        self._has_endpoints = has_any
        self._wake()

    async def lease(self, limit: int, *, lease_s: float, wait_s: float) -> tuple[Leased, ...]:
        """Take what is due; wait for it at most ``wait_s`` seconds."""
        end = asyncio.get_running_loop().time() + wait_s
        while await self._is_due(wait_s, end):
            now = self._clock()
            found = await self._store.lease(limit, now=now, until=now + round(lease_s * _MICROS))
            if found or not wait_s:
                return found
        return ()

    async def finish(self, report: Report) -> Verdict | None:
        """Note what became of a try; None where another has the delivery now."""
        verdict = await self._store.finish(
            report, pacing=self._pacing, share=self._share(), now=self._clock()
        )
        waiting = self._tests.get(report.id)
        if verdict is not None and waiting is not None and not waiting.done():
            waiting.set_result(report)
        self._wake()
        return verdict

    async def test(self, webhook_id: str) -> Tested:
        """Have the test event sent to an endpoint, and wait for what becomes of it.

        Raises:
            WebhookNotFound: there is none.
        """
        delivery_id = await self._store.begin_test(webhook_id, self._happening(model.TEST, {}))
        answer: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self._tests[delivery_id] = answer
        self._wake()
        try:
            async with asyncio.timeout(min(_LONGEST_TEST_S, 0.9 * remaining_s(_LONGEST_TEST_S))):
                return Tested(delivery_id, await answer)
        except TimeoutError:
            return Tested(delivery_id, None)
        finally:
            del self._tests[delivery_id]
            await self._store.drop(delivery_id)

    async def report(self, data: Mapping[str, object]) -> None:
        """Write the event that the index was maintained."""
        if self._has_endpoints:
            await self._store.tell(self._happening(model.MAINTENANCE, data))
            self._wake()

    async def page(self, query: DeliveryQuery, token: str, arguments: bytes) -> DeliveryPage:
        """Return the page after ``token``; ``arguments`` say which listing it is.

        Raises:
            PageTokenMismatch: the token is damaged or of another listing.
        """
        before = decode_token(token, arguments).created_at if token else None
        found = await self._store.deliveries(replace(query, before=before))
        following = "" if found.last is None else encode_token(Place(found.last, ""), arguments)
        return DeliveryPage(found.deliveries, following)

    async def redrive(self, ids: Sequence[str], webhook_id: str) -> int:
        """Let dead letters wait again; return how many.

        Raises:
            WebhookNotFound: there is no such endpoint.
        """
        count = await self._store.redrive(ids, webhook_id)
        self._wake()
        return count

    def _happening(self, event: str, data: Mapping[str, object]) -> Happening:
        return Happening(str(uuid.uuid4()), event, self._clock(), data)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _is_due(self, wait_s: float, end: float) -> bool:
        """Wait until something is due; False when nothing is by then."""
        if not wait_s:
            return (await self._store.due(self._clock())).is_due
        try:
            async with asyncio.timeout_at(end), self._turn:  # one looks for all
                await self._until_due()
        except TimeoutError:
            return False
        return True

    async def _until_due(self) -> None:
        while True:
            changed = self._changed
            if not self._has_endpoints:
                await changed.wait()
                continue
            due = await self._store.due(self._clock())
            if due.is_due:
                return
            await self._until_later(due, changed)

    async def _until_later(self, due: Due, changed: asyncio.Event) -> None:
        """Wait for a change of the store, for a report, or for the time of the next try."""
        seconds = None if due.next_at is None else max(due.next_at - self._clock(), 0) / _MICROS
        await _first_of(changed.wait(), self._memories.wait_beyond(due.head), timeout_s=seconds)


async def _first_of(*waits: Awaitable[object], timeout_s: float | None) -> None:
    tasks = [asyncio.ensure_future(one) for one in waits]
    try:
        await asyncio.wait(tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
