"""What is promised of endpoints: how they are registered, and which URLs are refused."""

from collections.abc import Sequence
from datetime import UTC, datetime

import grpc
import pytest
from contract.store.backends import Category, RunningStore, belongs_to
from contract.store.hooks import Clock, create, lease, outside, running_hooks, succeed
from unit.store.fakes import Client

from requirements import requirement
from satchel.api.store.v1 import webhook_service_pb2 as pb
from satchel.runtime.errors import ServiceError
from satchel.runtime.status import from_rpc_error

SECRET, OTHER_SECRET = "a secret of mine", "another secret of mine"
UNKNOWN = "00000000-0000-4000-a000-000000000000"


async def refusal(client: Client, url: str) -> ServiceError:
    """Return why a URL is refused."""
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await create(client, url)
    return from_rpc_error(failed.value)


@requirement("webhook:registered")
async def test_an_endpoint_is_registered_with_a_secret_that_is_shown_once(
    running_store: RunningStore,
) -> None:
    clock = Clock()
    async with running_hooks(running_store, clock=clock) as client:
        request = pb.CreateWebhookRequest(url="https://hooks.example/in?token=1", description="Audit")
        made = await client.webhooks.CreateWebhook(request)
        given = await client.webhooks.CreateWebhook(
            pb.CreateWebhookRequest(url="https://hooks.example/b", secret=SECRET)
        )
        listed = (await client.webhooks.ListWebhooks(pb.ListWebhooksRequest())).webhooks

    assert len(made.secret) >= 32
    assert not given.secret
    assert [one.id for one in listed] == [made.webhook.id, given.webhook.id]
    assert made.secret not in str(listed)
    assert (listed[0].url, listed[0].description) == ("https://hooks.example/in?token=1", "Audit")
    assert (listed[0].enabled, listed[0].is_signed, listed[0].configured) == (True, True, False)
    assert listed[0].created_at.ToDatetime(UTC) == datetime.fromtimestamp(clock.now / 1e6, UTC)


@requirement("webhook:registered")
async def test_an_endpoint_is_changed_and_removed(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        webhook = await create(client, description="Audit", include_content=True)
        request = pb.UpdateWebhookRequest(id=webhook.id, enabled=False, secret=OTHER_SECRET)
        off = (await client.webhooks.UpdateWebhook(request)).webhook
        await client.store("elephants")
        unheard = await lease(client)
        await client.webhooks.UpdateWebhook(pb.UpdateWebhookRequest(id=webhook.id, enabled=True))
        await client.store("giraffes")
        (heard,) = await lease(client)
        await client.webhooks.DeleteWebhook(pb.DeleteWebhookRequest(id=webhook.id))
        left = await lease(client)
        listed = (await client.webhooks.ListDeliveries(pb.ListDeliveriesRequest())).deliveries

    assert (off.enabled, off.description, off.include_content) == (False, "Audit", True)
    assert (unheard, left, list(listed)) == ([], [], [])
    assert heard.secret == OTHER_SECRET


@requirement("webhook:registered")
async def test_an_unknown_endpoint_is_told_as_not_found(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        for call in (
            client.webhooks.GetWebhook(pb.GetWebhookRequest(id=UNKNOWN)),
            client.webhooks.UpdateWebhook(pb.UpdateWebhookRequest(id=UNKNOWN, enabled=True)),
            client.webhooks.DeleteWebhook(pb.DeleteWebhookRequest(id=UNKNOWN)),
            client.webhooks.TestWebhook(pb.TestWebhookRequest(id=UNKNOWN)),
            client.webhooks.RedriveDeliveries(pb.RedriveDeliveriesRequest(webhook_id=UNKNOWN)),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await call
            error = from_rpc_error(failed.value)
            assert (error.reason, error.metadata) == (
                "ERROR_REASON_WEBHOOK_NOT_FOUND",
                {"webhook_id": UNKNOWN},
            )


@requirement("webhook:registered")
async def test_there_are_at_most_a_hundred_endpoints(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        for _ in range(100):
            await create(client)
        error = await refusal(client, "https://hooks.example/in")
        listed = (await client.webhooks.ListWebhooks(pb.ListWebhooksRequest())).webhooks

    assert (error.reason, error.metadata["limit"]) == ("ERROR_REASON_WEBHOOK_LIMIT_REACHED", "100")
    assert len(listed) == 100


@requirement("webhook:registered")
async def test_dead_letters_to_redrive_are_named_in_one_way(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        for request, reason in (
            (pb.RedriveDeliveriesRequest(), "ERROR_REASON_FIELD_REQUIRED"),
            (
                pb.RedriveDeliveriesRequest(ids=[UNKNOWN], webhook_id=UNKNOWN),
                "ERROR_REASON_FIELDS_CONFLICT",
            ),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await client.webhooks.RedriveDeliveries(request)
            assert from_rpc_error(failed.value).reason == reason


def configuration(*urls: str) -> pb.ConfigureWebhooksRequest:
    return pb.ConfigureWebhooksRequest(
        webhooks=[pb.WebhookConfiguration(url=url, events=["store.completed"]) for url in urls]
    )


@requirement("webhook:configured")
@belongs_to(Category.LASTING)
async def test_an_endpoint_of_the_configuration_keeps_its_id_and_what_waits_for_it(
    running_store: RunningStore,
) -> None:
    named = configuration("https://hooks.example/a", "https://hooks.example/b")
    async with running_hooks(running_store) as client:
        first = (await client.webhooks.ConfigureWebhooks(named)).webhooks
        stored = await client.store("elephants")
    named.webhooks[0].secret = SECRET
    async with running_hooks(running_store) as client:
        second = (await client.webhooks.ConfigureWebhooks(named)).webhooks
        told = await lease(client, limit=100)

    assert [one.id for one in second] == [one.id for one in first]
    assert [(one.webhook_id, one.memory_id, one.secret) for one in told] == [
        (first[0].id, stored.id, SECRET),
        (first[1].id, stored.id, ""),
    ]


@requirement("webhook:configured")
async def test_an_endpoint_that_the_configuration_names_no_more_is_disabled_until_it_does(
    running_store: RunningStore,
) -> None:
    async with running_hooks(running_store) as client:
        mine = await create(client)
        both = configuration("https://hooks.example/a", "https://hooks.example/b")
        kept, dropped = (await client.webhooks.ConfigureWebhooks(both)).webhooks
        await client.webhooks.ConfigureWebhooks(configuration("https://hooks.example/a"))
        after = (await client.webhooks.ListWebhooks(pb.ListWebhooksRequest())).webhooks
        back = (await client.webhooks.ConfigureWebhooks(both)).webhooks[1]

    assert {one.id: one.enabled for one in after} == {mine.id: True, kept.id: True, dropped.id: False}
    assert (back.id, back.enabled, back.disabled_reason) == (dropped.id, True, "")


@requirement("webhook:configured")
async def test_one_refused_url_of_the_configuration_changes_nothing(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await client.webhooks.ConfigureWebhooks(
                configuration("https://hooks.example/a", "http://127.0.0.1/")
            )
        listed = (await client.webhooks.ListWebhooks(pb.ListWebhooksRequest())).webhooks

    error = from_rpc_error(failed.value)
    assert (error.reason, error.metadata["field"]) == ("ERROR_REASON_WEBHOOK_URL_REFUSED", "webhooks[1].url")
    assert list(listed) == []


@requirement("webhook:private")
async def test_a_private_address_is_refused_with_the_setting_that_allows_it(
    running_store: RunningStore,
) -> None:
    async with running_hooks(running_store) as client:
        for url in (
            "http://127.0.0.1:9/x",
            "http://0x7f.1/",
            "https://[::ffff:10.0.0.1]/",
            "http://localhost/",
        ):
            error = await refusal(client, url)
            assert (error.reason, error.metadata["field"]) == ("ERROR_REASON_WEBHOOK_URL_REFUSED", "url")
            assert "SATCHEL_WEBHOOKS_ALLOW_PRIVATE=true" in error.metadata["remedy"]
        error = await refusal(client, "ftp://hooks.example/")

    assert error.metadata["limit"] == "of http or https"


@requirement("webhook:private")
@pytest.mark.parametrize("addresses", [["10.0.0.7"], ["93.184.215.14", "fe80::1"], ["no address"]])
async def test_a_name_that_leads_to_a_private_address_is_refused(
    running_store: RunningStore, addresses: Sequence[str]
) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        assert (host, port) == ("inside.example", 443)
        return addresses

    async with running_hooks(running_store, resolve=resolve) as client:
        error = await refusal(client, "https://inside.example/")

    assert error.reason == "ERROR_REASON_WEBHOOK_URL_REFUSED"


@requirement("webhook:private")
async def test_private_addresses_are_taken_where_they_are_allowed(running_store: RunningStore) -> None:
    async with running_hooks(running_store, allow_private=True) as client:
        await create(client, "http://127.0.0.1:9/x", events=["store.completed"])
        await client.store("elephants")
        (found,) = await lease(client)

    assert (found.url, found.allow_private) == ("http://127.0.0.1:9/x", True)


@requirement("webhook:tested")
async def test_a_test_goes_before_everything_and_tells_what_the_deliverer_reports(
    running_store: RunningStore,
) -> None:
    async with running_hooks(running_store) as client:
        webhook = await create(client, events=["memory.deleted", "store.completed"])
        await client.store("elephants")
        await client.webhooks.UpdateWebhook(pb.UpdateWebhookRequest(id=webhook.id, enabled=False))
        request = pb.TestWebhookRequest(id=webhook.id)
        async with outside(_test(client, request)) as answer:
            (sent,) = await lease(client, wait_s=30)
            await succeed(client, sent)
            result = await answer
        listed = (await client.webhooks.ListDeliveries(pb.ListDeliveriesRequest())).deliveries

    assert (sent.event, sent.memory_id, dict(sent.data)) == ("webhook.test", "", {})
    assert (result.delivered, result.status, result.latency_ms, result.error) == (True, 204, 5, "")
    assert result.delivery_id == sent.id
    assert [one.event for one in listed] == ["store.completed"]


@requirement("webhook:tested")
async def test_a_test_that_nobody_sends_says_so_and_leaves_nothing(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        webhook = await create(client)
        request = pb.TestWebhookRequest(id=webhook.id)
        result = await client.webhooks.TestWebhook(request, timeout=0.3)
        left = await lease(client)

    assert (result.delivered, result.status, left) == (False, 0, [])
    assert "No gateway" in result.error


async def _test(client: Client, request: pb.TestWebhookRequest) -> pb.TestWebhookResponse:
    return await client.webhooks.TestWebhook(request)
