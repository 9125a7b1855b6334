import asyncio
import threading
from collections.abc import AsyncIterator
from contextvars import ContextVar

import pytest

from satchel.runtime.errors import Code, Overloaded, ShuttingDown
from satchel.runtime.executor import BoundedExecutor

LIMIT_S = 5


@pytest.fixture
async def executor() -> AsyncIterator[BoundedExecutor]:
    async with BoundedExecutor(max_workers=1, max_queue=1, name="test") as pool:
        yield pool


async def test_result_and_arguments_pass_through(executor: BoundedExecutor) -> None:
    assert await executor.run(int, "ff", base=16) == 255


async def test_exception_of_the_function_reaches_the_caller(executor: BoundedExecutor) -> None:
    with pytest.raises(ZeroDivisionError):
        await executor.run(divmod, 1, 0)


async def test_work_runs_on_a_named_thread_with_the_callers_context(executor: BoundedExecutor) -> None:
    variable: ContextVar[str] = ContextVar("variable")
    variable.set("mine")

    name, value = await executor.run(lambda: (threading.current_thread().name, variable.get()))

    assert name.startswith("test")
    assert value == "mine"


async def test_full_queue_refuses_at_once_and_says_when_to_retry(executor: BoundedExecutor) -> None:
    release = threading.Event()
    running = [asyncio.create_task(executor.run(release.wait, LIMIT_S)) for _ in range(2)]
    await asyncio.sleep(0)

    with pytest.raises(Overloaded) as caught:
        await executor.run(int)

    assert caught.value.code is Code.RESOURCE_EXHAUSTED
    assert caught.value.retry_after_s
    assert executor.pending == 2
    release.set()
    assert await asyncio.gather(*running) == [True, True]


async def test_place_is_free_again_after_the_work(executor: BoundedExecutor) -> None:
    for number in range(10):
        assert number == await executor.run(int, number)


async def test_cancelled_caller_drops_work_that_has_not_begun(executor: BoundedExecutor) -> None:
    release, begun = threading.Event(), threading.Event()
    ran: list[int] = []

    def block() -> None:
        begun.set()
        release.wait(LIMIT_S)

    first = asyncio.create_task(executor.run(block))
    second = asyncio.create_task(executor.run(ran.append, 1))
    await asyncio.to_thread(begun.wait, LIMIT_S)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    release.set()
    await first
    await executor.run(int)

    assert ran == []


async def test_closed_executor_refuses() -> None:
    pool = BoundedExecutor(1, 1, "test")
    await pool.close()

    with pytest.raises(ShuttingDown):
        await pool.run(int)


@pytest.mark.parametrize(("workers", "queue"), [(0, 1), (1, -1)])
def test_senseless_bounds_are_refused(workers: int, queue: int) -> None:
    with pytest.raises(ValueError, match="max_workers >= 1"):
        BoundedExecutor(workers, queue, "test")
