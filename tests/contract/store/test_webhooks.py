"""What is promised of events: who gets which, in what order, and that none is lost."""

from collections.abc import Sequence

import grpc
import pytest
from contract.store.backends import Category, RunningStore, belongs_to
from contract.store.hooks import HOUR_US, Clock, create, dead, fail, lease, outside, running_hooks, succeed
from unit.store.fakes import Client, FakeEmbedder

from requirements import requirement
from satchel.api.store.v1 import lifecycle_service_pb2 as lifecycle_pb
from satchel.api.store.v1 import memory_service_pb2 as memories_pb
from satchel.api.store.v1 import webhook_service_pb2 as pb
from satchel.runtime.status import from_rpc_error

URL = "https://hooks.example/in"


async def drain(client: Client) -> list[tuple[str, str]]:
    """Deliver everything that is due, and return its events with their memories."""
    found = []
    while leased := await lease(client):
        found += [(one.event, one.memory_id) for one in leased]
        for one in leased:
            await succeed(client, one)
    return found


@requirement("webhook:events")
async def test_every_change_of_a_memory_is_told_in_order(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        await create(client)
        stored = await client.store("elephants")
        await client.memories.UpdateMemory(memories_pb.UpdateMemoryRequest(id=stored.id, content="giraffes"))
        await client.memories.UpdateMemory(memories_pb.UpdateMemoryRequest(id=stored.id, source="mail"))
        archived = lifecycle_pb.ArchiveMemoriesRequest(ids=[stored.id])
        await client.lifecycle.ArchiveMemories(archived)
        await client.lifecycle.UnarchiveMemory(lifecycle_pb.UnarchiveMemoryRequest(id=stored.id))
        await client.memories.DeleteMemory(memories_pb.DeleteMemoryRequest(id=stored.id))
        told = await drain(client)

    assert [name for name, _ in told] == [
        "store.completed", "embedding.completed", "memory.updated", "embedding.completed", "memory.updated",
        "memory.archived", "memory.unarchived", "memory.deleted",
    ]  # fmt: skip
    assert {memory_id for _, memory_id in told} == {stored.id}


@requirement("webhook:events")
async def test_vectors_that_could_not_be_made_and_come_later_are_told(running_store: RunningStore) -> None:
    embedder = FakeEmbedder()
    embedder.is_down = True
    async with running_hooks(running_store, embedder=embedder) as client:
        await create(client, events=["embedding.failed", "embedding.completed"])
        stored = await client.store("elephants")
        failed = await lease(client)
        await succeed(client, failed[0])
        embedder.is_down = False
        come = await lease(client, wait_s=10)

    assert [(one.event, one.memory_id) for one in (*failed, *come)] == [
        ("embedding.failed", stored.id),
        ("embedding.completed", stored.id),
    ]


@requirement("webhook:events")
async def test_a_cause_that_is_found_is_told(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        await create(client, events=["causal.detected"])
        cause = await client.store("PostgreSQL was slow under load.")
        effect = await client.store("We moved to a larger machine because PostgreSQL was slow.")
        told = await lease(client)

    assert [(one.event, one.memory_id) for one in told] == [("causal.detected", effect.id)]
    assert dict(told[0].data) == {"cause_id": cause.id, "effect_id": effect.id, "relation": "because"}


@requirement("webhook:events")
async def test_clearing_a_project_tells_of_every_memory(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        ids = [(await client.store(text)).id for text in ("elephants", "giraffes")]
        await create(client)
        await client.lifecycle.ClearMemories(
            lifecycle_pb.ClearMemoriesRequest(mode=lifecycle_pb.CLEAR_MODE_GLOBAL)
        )
        told = await drain(client)

    assert told == [("memory.deleted", memory_id) for memory_id in ids]


@requirement("webhook:events")
async def test_the_index_tells_of_its_maintenance(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        await create(client)
        await client.webhooks.ReportMaintenance(
            pb.ReportMaintenanceRequest(action="rebuild", passage_count=7, duration_s=1.5, revision=9)
        )
        (told,) = await lease(client)

    assert (told.event, told.memory_id, dict(told.data)) == (
        "index.maintenance",
        "",
        {"action": "rebuild", "passage_count": 7, "duration_s": 1.5, "revision": 9},
    )


@requirement("webhook:atomic")
async def test_a_change_that_fails_tells_nothing(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        await create(client, events=["store.completed"])
        await client.store("elephants", path="a")
        batch = memories_pb.BatchStoreMemoriesRequest(
            memories=[
                memories_pb.StoreMemoryRequest(wing="w", content="giraffes"),
                memories_pb.StoreMemoryRequest(wing="w", content="zebras", path="a"),
            ]
        )
        with pytest.raises(grpc.aio.AioRpcError):
            await client.memories.BatchStoreMemories(batch)
        await client.store("elephants", path="a")
        told = await drain(client)

    assert len(told) == 1


@requirement("webhook:subscribed")
async def test_an_endpoint_gets_the_events_and_the_project_that_it_asked_for(
    running_store: RunningStore,
) -> None:
    async with running_hooks(running_store) as client:
        deleted = await create(client, events=["memory.deleted"])
        other = await create(client, project="other", events=["store.completed"])
        every = await create(client, events=["store.completed"])
        mine = await client.store("elephants")
        theirs = await client.store("elephants", project="other")
        await client.memories.DeleteMemory(memories_pb.DeleteMemoryRequest(id=mine.id))
        told = await lease(client, limit=100)

    assert sorted((one.webhook_id, one.event, one.memory_id) for one in told) == sorted(
        [
            (every.id, "store.completed", mine.id),
            (every.id, "store.completed", theirs.id),
            (other.id, "store.completed", theirs.id),
            (deleted.id, "memory.deleted", mine.id),
        ]
    )


@requirement("webhook:subscribed")
async def test_deliveries_of_one_event_share_its_id_and_have_ids_of_their_own(
    running_store: RunningStore,
) -> None:
    async with running_hooks(running_store) as client:
        for _ in range(2):
            await create(client, events=["store.completed"])
        await client.store("elephants")
        told = await lease(client, limit=100)

    assert len({one.event_id for one in told}) == 1
    assert len({one.id for one in told}) == 2


@requirement("webhook:no-text")
async def test_an_event_holds_text_only_where_the_endpoint_asks_for_it(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        await create(client, events=["store.completed"])
        await create(client, events=["store.completed"], include_content=True)
        stored = await client.store("elephants never forget")
        bare, full = await lease(client, limit=100)

    assert "elephants" not in str(bare)
    assert full.data["content"] == "elephants never forget"
    assert {key: value for key, value in full.data.items() if key != "content"} == dict(bare.data)
    assert dict(bare.data) == {
        "wing": "w", "room": stored.room, "type": "session_note", "state": "active", "version": 1,
        "revision": stored.revision, "session_id": "", "fact_count": stored.fact_count,
        "token_count": stored.token_count, "passage_count": 1,
    }  # fmt: skip


@requirement("webhook:no-text")
async def test_the_text_of_a_deleted_memory_is_in_no_event(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        await create(client, events=["store.completed"], include_content=True)
        stored = await client.store("elephants never forget")
        await client.memories.DeleteMemory(memories_pb.DeleteMemoryRequest(id=stored.id))
        (told,) = await lease(client)

    assert "content" not in told.data


@requirement("webhook:leases")
async def test_a_delivery_that_is_not_finished_in_time_is_handed_out_again(
    running_store: RunningStore,
) -> None:
    clock = Clock()
    async with running_hooks(running_store, clock=clock) as client:
        await create(client, events=["store.completed"])
        await client.store("elephants")
        (first,) = await lease(client, lease_s=60)
        meanwhile = await lease(client)
        clock.now += 61_000_000
        (second,) = await lease(client)
        late = await succeed(client, first)
        done = await succeed(client, second)

    assert meanwhile == []
    assert (second.id, second.event_id, second.tries) == (first.id, first.event_id, 2)
    assert second.lease_id != first.lease_id
    assert (late, done) == (pb.DELIVERY_STATE_UNSPECIFIED, pb.DELIVERY_STATE_DELIVERED)


@requirement("webhook:order")
async def test_events_of_a_memory_wait_for_the_one_before_and_others_do_not(
    running_store: RunningStore,
) -> None:
    async with running_hooks(running_store) as client:
        await create(client, events=["store.completed", "memory.deleted"])
        one = await client.store("elephants")
        await client.memories.DeleteMemory(memories_pb.DeleteMemoryRequest(id=one.id))
        other = await client.store("giraffes")
        first = await lease(client, limit=100)
        blocked = await lease(client, limit=100)
        await succeed(client, first[0])
        then = await lease(client, limit=100)

    assert [(item.event, item.memory_id) for item in first] == [
        ("store.completed", one.id),
        ("store.completed", other.id),
    ]
    assert blocked == []
    assert [(item.event, item.memory_id) for item in then] == [("memory.deleted", one.id)]


@requirement("webhook:retried")
async def test_a_failed_delivery_is_tried_at_growing_intervals_and_then_a_dead_letter(
    running_store: RunningStore,
) -> None:
    clock, waits = Clock(), list[float]()
    async with running_hooks(running_store, clock=clock, share=lambda: 0.5) as client:
        await create(client, events=["store.completed"])
        await client.store("elephants")
        (found,) = await lease(client)
        while await fail(client, found, status=500) == pb.DELIVERY_STATE_PENDING:
            waits.append(await _pass_time(client, clock))
            (found,) = await lease(client)
        letters = await dead(client)

    # Half of what grows from 1 s to 1 h in six equal steps of a factor.
    assert waits == pytest.approx([0.5, 1.957, 7.663, 30.0, 117.5, 459.9, 1800.0], rel=0.01)
    assert [(one.id, one.tries, one.last_status, one.last_error) for one in letters] == [
        (found.id, 8, 500, "It failed.")
    ]


async def _pass_time(client: Client, clock: Clock) -> float:
    """Go to when the only delivery is due, and return how many seconds that is."""
    before, request = clock.now, pb.ListDeliveriesRequest(state=pb.DELIVERY_STATE_PENDING)
    (waiting,) = (await client.webhooks.ListDeliveries(request)).deliveries
    (webhook,) = (await client.webhooks.ListWebhooks(pb.ListWebhooksRequest())).webhooks
    due = max(waiting.due_at.ToMicroseconds(), webhook.open_until.ToMicroseconds())
    clock.now = due - 1
    assert await lease(client) == []
    clock.now = due
    return (waiting.due_at.ToMicroseconds() - before) / 1e6


@requirement("webhook:retried")
async def test_an_endpoint_that_asks_for_time_gets_it(running_store: RunningStore) -> None:
    clock = Clock()
    async with running_hooks(running_store, clock=clock) as client:
        await create(client, events=["store.completed"])
        await client.store("elephants")
        (found,) = await lease(client)
        await fail(client, found, status=503, retry_after_s=120)
        clock.now += 119_000_000
        early = await lease(client)
        clock.now += 1_000_000
        in_time = await lease(client)

    assert early == []
    assert [one.id for one in in_time] == [found.id]


@requirement("webhook:gone")
async def test_an_endpoint_that_is_gone_is_disabled_until_somebody_enables_it(
    running_store: RunningStore,
) -> None:
    async with running_hooks(running_store) as client:
        webhook = await create(client, events=["store.completed"])
        await client.store("elephants")
        (found,) = await lease(client)
        state = await fail(client, found, status=410)
        await client.store("giraffes")
        gone = (await client.webhooks.GetWebhook(pb.GetWebhookRequest(id=webhook.id))).webhook
        unheard = await lease(client)
        request = pb.UpdateWebhookRequest(id=webhook.id, enabled=True)
        back = (await client.webhooks.UpdateWebhook(request)).webhook
        zebras = await client.store("zebras")
        heard = await drain(client)

    assert (state, gone.enabled, unheard) == (pb.DELIVERY_STATE_DEAD, False, [])
    assert "410" in gone.disabled_reason
    assert (back.enabled, back.disabled_reason) == (True, "")
    assert heard == [("store.completed", zebras.id)]


@requirement("webhook:breaker")
async def test_an_endpoint_that_keeps_failing_is_left_alone_and_then_tried_one_at_a_time(
    running_store: RunningStore,
) -> None:
    clock = Clock()
    async with running_hooks(running_store, clock=clock, share=lambda: 0.999) as client:
        webhook = await create(client, events=["store.completed"])
        for number in range(9):
            await client.store(f"text {number}")
        for found in await lease(client, limit=5):
            await fail(client, found, status=500)
        open_ = await lease(client, limit=100)
        status = (await client.webhooks.GetWebhook(pb.GetWebhookRequest(id=webhook.id))).webhook
        clock.now += 30_000_000
        trial = await lease(client, limit=100)
        beside = await lease(client, limit=100)
        await succeed(client, trial[0])
        second = await lease(client, limit=1)
        await succeed(client, second[0])
        rest = await lease(client, limit=100)

    assert (open_, status.failures) == ([], 5)
    assert (len(trial), beside, len(second), len(rest)) == (1, [], 1, 7)


@requirement("webhook:bounded")
async def test_what_finds_the_queue_full_is_a_dead_letter_at_once_and_can_be_redriven(
    running_store: RunningStore,
) -> None:
    async with running_hooks(running_store, queue_size=2) as client:
        webhook = await create(client, events=["store.completed"])
        ids = [(await client.store(f"text {number}")).id for number in range(4)]
        letters = await dead(client)
        full = await client.webhooks.RedriveDeliveries(pb.RedriveDeliveriesRequest(webhook_id=webhook.id))
        totals = await client.built.store.webhooks.totals()
        delivered = await drain(client)
        again = await client.webhooks.RedriveDeliveries(pb.RedriveDeliveriesRequest(webhook_id=webhook.id))
        redriven = await lease(client, limit=100)

    assert [one.memory_id for one in letters] == [ids[3], ids[2]]
    assert "full" in letters[0].last_error
    assert (full.redriven_count, again.redriven_count) == (0, 2)
    assert (totals.pending, totals.dead, totals.overflowed) == (2, 2, 2)
    assert [memory_id for _, memory_id in delivered] == ids[:2]
    assert [(one.id, one.tries) for one in redriven] == [(one.id, 1) for one in reversed(letters)]


@requirement("webhook:dead-letters")
async def test_dead_letters_are_redriven_by_id_and_others_are_passed_over(
    running_store: RunningStore,
) -> None:
    async with running_hooks(running_store, max_tries=1) as client:
        await create(client, events=["store.completed"])
        for number in range(3):
            await client.store(f"text {number}")
        first, second, third = await lease(client, limit=3)
        await fail(client, first, status=500)
        await fail(client, second, status=500)
        await succeed(client, third)
        request = pb.RedriveDeliveriesRequest(
            ids=[second.id, third.id, "0" * 8 + "-0000-4000-a000-" + "0" * 12]
        )
        redriven = await client.webhooks.RedriveDeliveries(request)
        again = await lease(client, limit=3)
        letters = await dead(client)

    assert redriven.redriven_count == 1
    assert [one.id for one in again] == [second.id]
    assert [one.id for one in letters] == [first.id]


@requirement("webhook:dead-letters")
async def test_deliveries_are_listed_page_by_page_newest_first(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        webhook = await create(client, events=["store.completed"])
        await create(client, events=["store.completed"])
        for number in range(5):
            await client.store(f"text {number}")
        request = pb.ListDeliveriesRequest(webhook_id=webhook.id, page_size=2)
        pages = [await client.webhooks.ListDeliveries(request)]
        while token := pages[-1].next_page_token:
            request.page_token = token
            pages.append(await client.webhooks.ListDeliveries(request))
        whole = await client.webhooks.ListDeliveries(pb.ListDeliveriesRequest(webhook_id=webhook.id))

    listed = [one.id for page in pages for one in page.deliveries]
    assert [len(page.deliveries) for page in pages] == [2, 2, 1]
    assert listed == [one.id for one in whole.deliveries]
    assert _descend([one.occurred_at.ToMicroseconds() for one in whole.deliveries])


def _descend(times: Sequence[int]) -> bool:
    return list(times) == sorted(times, reverse=True)


@requirement("webhook:leases")
@belongs_to(Category.LASTING)
async def test_what_waits_is_there_after_a_restart_also_what_was_under_way(
    running_store: RunningStore,
) -> None:
    clock = Clock()
    async with running_hooks(running_store, clock=clock) as client:
        await create(client, events=["store.completed"])
        under_way = await client.store("elephants")
        await lease(client)
        waiting = await client.store("giraffes")
    clock.now += HOUR_US
    async with running_hooks(running_store, clock=clock) as client:
        told = await drain(client)
        later = await client.store("zebras")
        told += await drain(client)

    assert [memory_id for _, memory_id in told] == [under_way.id, waiting.id, later.id]


@requirement("webhook:leases")
async def test_a_deliverer_that_waits_gets_an_event_as_soon_as_it_happens(
    running_store: RunningStore,
) -> None:
    async with running_hooks(running_store) as client, outside(lease(client, wait_s=30)) as waiting:
        await create(client, events=["store.completed"])
        stored = await client.store("elephants")
        told = await waiting

    assert [one.memory_id for one in told] == [stored.id]


@requirement("webhook:off")
async def test_without_webhooks_every_rpc_says_how_to_turn_them_on(running_store: RunningStore) -> None:
    async with running_store() as client:
        for call in (
            client.webhooks.ListWebhooks(pb.ListWebhooksRequest()),
            client.webhooks.CreateWebhook(pb.CreateWebhookRequest(url=URL)),
            client.webhooks.LeaseDeliveries(pb.LeaseDeliveriesRequest(lease_s=1)),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await call
            error = from_rpc_error(failed.value)
            assert error.reason == "ERROR_REASON_WEBHOOKS_DISABLED"
            assert "SATCHEL_WEBHOOKS_ENABLED=true" in error.message


@requirement("webhook:off")
@belongs_to(Category.LASTING)
async def test_while_webhooks_are_off_no_events_are_written(running_store: RunningStore) -> None:
    async with running_hooks(running_store) as client:
        await create(client, events=["store.completed"])
    async with running_store() as client:
        await client.store("elephants")
    async with running_hooks(running_store) as client:
        stored = await client.store("giraffes")
        told = await drain(client)

    assert told == [("store.completed", stored.id)]
