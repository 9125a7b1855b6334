"""Provides work that runs beside a block and ends with it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager


@asynccontextmanager
async def running(
    *work: Coroutine[None, None, None], stop: Callable[[], None] | None = None
) -> AsyncIterator[None]:
    """Run ``work`` beside the block, each in a task of its own; all of it has ended when this is left.

    At the end of the block ``stop`` is called and the work is awaited; without ``stop`` it is cancelled.
    Work that ends early ends nothing else. If some of it fails, the block and the rest are cancelled.

    Raises:
        Exception: what the block raised, as it is and not in the group that a task group makes of it;
            or what the work raised, as it is too, in a group only if several failed.
    """
    raised: Exception | None = None
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
            try:
                yield
            except Exception as error:  # noqa: BLE001  # raised again below, outside the group
                raised = error
            finally:
                _end(tasks, stop)
    except ExceptionGroup as failures:
        if len(failures.exceptions) > 1:
            raise
        raise failures.exceptions[0] from raised
    if raised is not None:
        raise raised


def _end(tasks: list[asyncio.Task[None]], stop: Callable[[], None] | None) -> None:
    if stop is not None:
        stop()
        return
    for task in tasks:
        task.cancel()
