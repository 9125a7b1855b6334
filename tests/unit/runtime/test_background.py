import asyncio

import pytest

from satchel.runtime.background import running


async def test_work_runs_beside_the_block_and_is_cancelled_at_its_end() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with running(work()):
        await begun.wait()
        assert not ended.is_set()

    assert ended.is_set()


async def test_work_that_is_asked_to_stop_may_finish() -> None:
    asked = asyncio.Event()
    finished: list[str] = []

    async def work(name: str) -> None:
        await asked.wait()
        await asyncio.sleep(0)
        finished.append(name)

    async with running(work("a"), work("b"), stop=asked.set):
        assert finished == []

    assert finished == ["a", "b"]


async def test_error_of_the_block_comes_out_as_it_is() -> None:
    with pytest.raises(LookupError, match="of the block"):
        async with running(asyncio.Event().wait()):  # type: ignore[arg-type]  # what it returns is of no interest
            raise LookupError("of the block")


async def test_error_of_the_work_cancels_the_block_and_comes_out_as_it_is() -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        raise LookupError("of the work")

    with pytest.raises(LookupError, match="of the work"):
        async with asyncio.timeout(5), running(work()):
            await asyncio.Event().wait()


async def test_errors_of_several_come_in_a_group() -> None:
    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise LookupError

    with pytest.raises(ExceptionGroup) as caught:
        async with running(work(), work()):
            await asyncio.sleep(0)

    assert [type(error) for error in caught.value.exceptions] == [LookupError] * 2


async def test_work_that_ends_early_ends_nothing_else() -> None:
    async def work() -> None:
        await asyncio.sleep(0)

    async with running(work()):
        for _ in range(5):
            await asyncio.sleep(0)
        survived = True

    assert survived


async def test_cancelling_the_block_cancels_the_work() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def block() -> None:
        async with running(work()):
            await asyncio.Event().wait()

    task = asyncio.create_task(block())
    await begun.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
