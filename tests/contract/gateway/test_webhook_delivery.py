"""What is promised of events between the store and their endpoints, over real HTTP."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from contract.gateway.receiver import Receiver, answer, receiving
from unit.store.fakes import Client, running_store

from requirements import requirement
from satchel.api.store.v1 import webhook_service_pb2 as pb
from satchel.api.store.v1 import webhook_service_pb2_grpc as webhook_rpc
from satchel.gateway.clients import Clients
from satchel.gateway.settings import WebhookEndpoint, WebhookSettings
from satchel.gateway.webhooks.deliverer import Deliverer
from satchel.gateway.webhooks.running import delivering as running_beside
from satchel.gateway.webhooks.sending import open_sender
from satchel.runtime.background import running
from satchel.runtime.errors import PeerUnavailable
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import default_chain
from satchel.runtime.settings import Secret
from satchel.store.main import wall_clock
from satchel.store.settings import WebhookRules

SECRET = "a secret of mine"  # noqa: S105  # it signs nothing but tests
HOUR_US = 3600 * 1_000_000


@asynccontextmanager
async def store(
    folder: Path, *, clock: Callable[[], int] = wall_clock, max_tries: int = 3
) -> AsyncIterator[Client]:
    """Run a store that sends to this machine, and waits hundredths of a second between tries."""
    rules = WebhookRules(
        enabled=True, allow_private=True, max_tries=max_tries, retry_first_s=0.01, retry_longest_s=0.02
    )
    async with running_store(folder, webhooks=rules, clock=clock) as client:
        yield client


@asynccontextmanager
async def delivering(client: Client, *endpoints: WebhookEndpoint, workers: int = 2) -> AsyncIterator[None]:
    settings = WebhookSettings(workers=workers, timeout_seconds=10, endpoints=endpoints)
    async with (
        open_sender(timeout_s=settings.timeout_seconds, tasks=workers) as sender,
        running(Deliverer(client.webhooks, sender, settings).run()),
    ):
        yield


class LateStore(webhook_rpc.WebhookServiceServicer):
    """Answers once it is told to, and knows no deliveries."""

    def __init__(self) -> None:
        self.answers = False
        self.configured = asyncio.Event()
        self.urls: list[str] = []

    async def ConfigureWebhooks(self, request: Any, context: Any) -> pb.ConfigureWebhooksResponse:  # noqa: ANN401, ARG002, N802  # as generated
        if not self.answers:
            raise PeerUnavailable
        self.urls += [one.url for one in request.webhooks]
        self.configured.set()
        return pb.ConfigureWebhooksResponse(enabled=False)


async def create(client: Client, receiver: Receiver, *events: str) -> pb.Webhook:
    request = pb.CreateWebhookRequest(url=receiver.url(), events=events, secret=SECRET)
    return (await client.webhooks.CreateWebhook(request)).webhook


async def until_finished(client: Client, state: pb.DeliveryState.ValueType, number: int) -> list[pb.Delivery]:
    """Wait until so many deliveries are in a state, and return them, newest first."""
    async with asyncio.timeout(10):
        while True:
            listed = await client.webhooks.ListDeliveries(pb.ListDeliveriesRequest(state=state))
            if len(listed.deliveries) >= number:
                return list(listed.deliveries)


@requirement("webhook:sent", "webhook:signed")
async def test_a_stored_memory_is_one_post_whose_signature_verifies(tmp_path: Path) -> None:
    async with receiving() as receiver, store(tmp_path) as client, delivering(client):
        webhook = await create(client, receiver, "store.completed")
        stored = await client.store("elephants")
        got = await receiver.next()
        (delivered,) = await until_finished(client, pb.DELIVERY_STATE_DELIVERED, 1)

    content = json.loads(got.body)
    stamped = got.headers["x-satchel-timestamp"].encode() + b"." + got.body
    mac = hmac.new(SECRET.encode(), stamped, hashlib.sha256).hexdigest()
    assert got.headers["x-satchel-signature"] == f"v1={mac}"
    assert (content["type"], content["memory_id"], content["project"]) == (
        "store.completed",
        stored.id,
        "default",
    )
    assert content["payload"] == content["data"]
    assert (content["data"]["wing"], content["data"]["version"]) == ("w", 1)
    assert b'"version":1,' in got.body  # a whole number, as it was
    assert got.headers["x-satchel-delivery"] == delivered.id
    assert got.headers["x-webhook-id"] == webhook.id
    assert content["id"] == delivered.event_id
    assert receiver.requests.empty()


@requirement("webhook:retried")
async def test_a_delivery_that_fails_is_sent_again_under_its_id_until_it_is_taken(tmp_path: Path) -> None:
    async with (
        receiving(answer(500), answer(502)) as receiver,
        store(tmp_path) as client,
        delivering(client),
    ):
        await create(client, receiver, "store.completed")
        await client.store("elephants")
        tries = [await receiver.next() for _ in range(3)]
        (delivered,) = await until_finished(client, pb.DELIVERY_STATE_DELIVERED, 1)

    assert len({one.headers["x-satchel-delivery"] for one in tries}) == 1
    assert len({one.body for one in tries}) == 1
    assert (delivered.tries, delivered.last_status) == (3, 204)


@requirement("webhook:retried", "webhook:dead-letters")
async def test_after_the_last_try_it_is_a_dead_letter_that_can_be_redriven(tmp_path: Path) -> None:
    refusals = [answer(500) for _ in range(3)]
    async with receiving(*refusals) as receiver, store(tmp_path) as client, delivering(client):
        webhook = await create(client, receiver, "store.completed")
        await client.store("elephants")
        (letter,) = await until_finished(client, pb.DELIVERY_STATE_DEAD, 1)
        request = pb.RedriveDeliveriesRequest(webhook_id=webhook.id)
        redriven = await client.webhooks.RedriveDeliveries(request)
        (delivered,) = await until_finished(client, pb.DELIVERY_STATE_DELIVERED, 1)

    assert (letter.tries, letter.last_status) == (3, 500)
    assert letter.last_error == "The endpoint answered 500 (Internal Server Error)."
    assert redriven.redriven_count == 1
    assert (delivered.id, delivered.tries) == (letter.id, 1)


@requirement("webhook:order")
async def test_events_of_one_memory_arrive_in_order_although_the_first_is_tried_again(tmp_path: Path) -> None:
    async with (
        receiving(answer(500)) as receiver,
        store(tmp_path) as client,
        delivering(client, workers=3),
    ):
        await create(client, receiver, "store.completed", "embedding.completed")
        await client.store("elephants")
        got = [json.loads((await receiver.next()).body)["type"] for _ in range(3)]

    assert got == ["store.completed", "store.completed", "embedding.completed"]


@requirement("webhook:leases")
async def test_what_a_deliverer_had_when_it_died_is_sent_by_another(tmp_path: Path) -> None:
    now = wall_clock()
    async with receiving("") as receiver, store(tmp_path, clock=lambda: now) as client:
        await create(client, receiver, "store.completed")
        await client.store("elephants")
        async with delivering(client):
            lost = await receiver.next()  # it gets no answer, and no deliverer lives to miss it
        now += HOUR_US
        async with delivering(client):
            again = await receiver.next()
            (delivered,) = await until_finished(client, pb.DELIVERY_STATE_DELIVERED, 1)

    assert again.headers["x-satchel-delivery"] == lost.headers["x-satchel-delivery"] == delivered.id
    assert delivered.tries == 2


@requirement("webhook:atomic")
async def test_an_event_from_before_a_restart_is_sent_after_it(tmp_path: Path) -> None:
    async with receiving() as receiver:
        async with store(tmp_path) as client:
            await create(client, receiver, "store.completed")
            stored = await client.store("elephants")
        async with store(tmp_path) as client, delivering(client):
            got = await receiver.next()

    assert json.loads(got.body)["memory_id"] == stored.id


@requirement("webhook:leases")
async def test_several_deliverers_send_each_event_once(tmp_path: Path) -> None:
    async with receiving() as receiver, store(tmp_path) as client, AsyncExitStack() as stack:
        for _ in range(3):
            await stack.enter_async_context(delivering(client))
        await create(client, receiver, "store.completed")
        ids = {(await client.store(f"text {number}")).id for number in range(30)}
        got = [json.loads((await receiver.next()).body)["memory_id"] for _ in ids]
        await until_finished(client, pb.DELIVERY_STATE_DELIVERED, 30)

    assert sorted(got) == sorted(ids)
    assert receiver.requests.empty()


@requirement("webhook:gone")
async def test_an_endpoint_that_answers_410_is_disabled(tmp_path: Path) -> None:
    async with receiving(answer(410)) as receiver, store(tmp_path) as client, delivering(client):
        webhook = await create(client, receiver, "store.completed")
        await client.store("elephants")
        (letter,) = await until_finished(client, pb.DELIVERY_STATE_DEAD, 1)
        found = (await client.webhooks.GetWebhook(pb.GetWebhookRequest(id=webhook.id))).webhook

    assert (letter.tries, letter.last_status, found.enabled) == (1, 410, False)


@requirement("webhook:tested")
async def test_a_test_tells_what_the_endpoint_answered(tmp_path: Path) -> None:
    async with receiving(answer(204), answer(404)) as receiver, store(tmp_path) as client, delivering(client):
        webhook = await create(client, receiver)
        request = pb.TestWebhookRequest(id=webhook.id)
        well = await client.webhooks.TestWebhook(request)
        badly = await client.webhooks.TestWebhook(request)
        first = await receiver.next()

    assert (well.delivered, well.status, well.error) == (True, 204, "")
    assert 0 < well.latency_ms < 10_000
    assert (badly.delivered, badly.status) == (False, 404)
    assert badly.error == "The endpoint answered 404 (Not Found)."
    assert json.loads(first.body)["type"] == "webhook.test"


@requirement("webhook:configured")
async def test_endpoints_of_the_configuration_are_registered_before_anything_is_served(
    tmp_path: Path,
) -> None:
    endpoint = WebhookEndpoint("https://hooks.example/in")
    async with store(tmp_path) as client, InProcessServer(default_chain()) as server:
        client.built.register(server)
        clients = Clients.over(InProcessChannel(server))
        async with running_beside(clients, WebhookSettings(endpoints=(endpoint,))):
            found = await client.webhooks.ListWebhooks(pb.ListWebhooksRequest())

    assert [one.url for one in found.webhooks] == [endpoint.url]


@requirement("webhook:configured")
async def test_endpoints_are_registered_later_where_the_store_does_not_answer_at_the_start() -> None:
    endpoint = WebhookEndpoint("https://hooks.example/in")
    late = LateStore()  # type: ignore[abstract]  # only what is called here
    async with InProcessServer(default_chain()) as server, asyncio.timeout(10):
        webhook_rpc.add_WebhookServiceServicer_to_server(late, server)
        clients = Clients.over(InProcessChannel(server))
        async with running_beside(clients, WebhookSettings(endpoints=(endpoint,))):
            before = list(late.urls)
            late.answers = True
            await late.configured.wait()

    assert (before, late.urls) == ([], [endpoint.url])


@requirement("webhook:configured")
async def test_endpoints_of_the_configuration_get_events(tmp_path: Path) -> None:
    async with receiving() as receiver, store(tmp_path) as client:
        endpoint = WebhookEndpoint(receiver.url(), Secret(SECRET), ("store.completed",), "Audit")
        async with delivering(client, endpoint):
            (webhook,) = await _until_registered(client)
            await client.store("elephants")
            got = await receiver.next()

    assert (webhook.url, webhook.description, webhook.configured) == (receiver.url(), "Audit", True)
    assert got.headers["x-webhook-id"] == webhook.id
    assert "x-satchel-signature" in got.headers


async def _until_registered(client: Client) -> list[pb.Webhook]:
    async with asyncio.timeout(10):
        while True:
            found = await client.webhooks.ListWebhooks(pb.ListWebhooksRequest())
            if found.webhooks:
                return list(found.webhooks)


@requirement("webhook:off")
async def test_a_deliverer_ends_where_webhooks_are_off(tmp_path: Path) -> None:
    async with running_store(tmp_path) as client, open_sender(timeout_s=1, tasks=1) as sender:
        ended = asyncio.create_task(Deliverer(client.webhooks, sender, WebhookSettings()).run())
        done, _ = await asyncio.wait({ended}, timeout=10)

    assert done == {ended}
    assert ended.exception() is None
