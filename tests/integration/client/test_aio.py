"""The asynchronous client against a real Satchel: where it does something else than the synchronous one."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from satchel.client import (
    AsyncSatchel,
    DeadlineExceeded,
    Imported,
    InvalidArgument,
    NotFound,
    Serving,
)

REASON = "We chose PostgreSQL over MySQL because the ledger needs ACID."


async def test_what_is_remembered_is_recalled(asatchel: AsyncSatchel) -> None:
    stored = await asatchel.remember(REASON)

    answer = await asatchel.recall("Which database?", budget=200, min_revision=stored.revision)

    assert REASON in answer.context


async def test_many_calls_may_run_at_once(asatchel: AsyncSatchel) -> None:
    stored = await asyncio.gather(*(asatchel.remember(f"Order {number}.") for number in range(20)))

    found = await asatchel.get_many(one.id for one in stored)
    assert [memory.content for memory in found] == [f"Order {number}." for number in range(20)]
    assert {memory.id async for memory in asatchel.list(page_size=7)} == {one.id for one in stored}


async def test_memories_are_changed_searched_and_deleted(asatchel: AsyncSatchel) -> None:
    (stored,) = await asatchel.remember_many([REASON])
    changed = await asatchel.update(stored.id, title="Database")
    found = await asatchel.search("PostgreSQL", min_revision=changed.revision)
    await asatchel.delete(stored.id)

    assert [result.id for result in found.results] == [stored.id]
    with pytest.raises(NotFound) as caught:
        await asatchel.get(stored.id)
    assert caught.value.metadata == {"memory_id": stored.id}


async def test_the_other_parts_answer(asatchel: AsyncSatchel) -> None:
    packed = await asatchel.allocate(
        [{"id": "a", "content": "The oven is hot.", "relevance": 0.9}], budget=100
    )
    embedded = await asatchel.embed(["The oven is hot."], role="query")

    assert packed.receipt.selected_count == 1
    assert len(embedded.rows) == 1
    assert (await asatchel.status()).version
    assert await asatchel.health() is Serving.SERVING


async def test_an_import_takes_an_asynchronous_source_and_tells_of_every_record(
    asatchel: AsyncSatchel,
) -> None:
    told: list[Imported] = []

    async def records() -> AsyncIterator[str]:
        for number in range(1200):
            await asyncio.sleep(0)
            yield f"Note {number}." if number != 600 else " "

    report = await asatchel.import_(records(), progress=told.append)

    assert (report.stored, report.failed) == (1199, 1)
    assert [one.sequence for one in told] == list(range(1, 1201))
    assert isinstance(report.failures[0].error, InvalidArgument)


async def test_an_error_of_the_records_ends_the_import(asatchel: AsyncSatchel) -> None:
    async def records() -> AsyncIterator[str]:
        yield "One."
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        await asatchel.import_(records())

    assert (await asatchel.import_(["One."])).duplicates == 1


async def test_an_error_of_the_progress_ends_the_import(asatchel: AsyncSatchel) -> None:
    def stop(one: Imported) -> None:
        raise RuntimeError(f"stopped at {one.sequence}")

    with pytest.raises(RuntimeError, match="stopped at 1"):
        await asatchel.import_(["One.", "Two."], progress=stop)


async def test_an_export_gives_everything_back(asatchel: AsyncSatchel) -> None:
    await asatchel.remember_many(["One.", "Two."])
    seen: list[tuple[int, int]] = []

    exported = [one.content async for one in asatchel.export(progress=lambda *counts: seen.append(counts))]

    assert exported == ["One.", "Two."]
    assert seen[-1] == (2, 2)


async def test_a_watch_sees_what_happens_from_now_on_and_is_cancelled(asatchel: AsyncSatchel) -> None:
    await asatchel.remember("Before.")

    async with await asatchel.watch() as watch:
        stored = await asatchel.remember("After.")
        async for change in watch:
            assert change.memory_id == stored.id
            watch.cancel()
        assert await watch.code() is grpc.StatusCode.CANCELLED


async def test_a_task_that_watches_can_be_cancelled(asatchel: AsyncSatchel) -> None:
    begun = asyncio.Event()

    async def follow() -> None:
        async for _ in (await asatchel.watch(0)).responses():
            begun.set()

    task = asyncio.create_task(follow())
    await asyncio.wait_for(begun.wait(), 10)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_watch_ends_with_its_deadline(asatchel: AsyncSatchel) -> None:
    watch = await asatchel.watch(timeout=0.5)

    with pytest.raises(DeadlineExceeded) as caught:
        async for _ in watch:
            pass

    assert caught.value.reason == "ERROR_REASON_DEADLINE_EXCEEDED"
