"""Work that runs beside a block and ends with it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager


@asynccontextmanager
async def running(
    work: Coroutine[None, None, None], *, stop: Callable[[], None] | None = None
) -> AsyncIterator[None]:
    """Run ``work`` for the length of the block; if it fails, the block is cancelled and the failure raised.

    At the end ``stop`` is called and the work awaited; without it the work is cancelled. What the block
    raises comes out as it is, not in the group that a task group would put around it.
    """
    raised: Exception | None = None
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(work)
        try:
            yield
        except Exception as error:  # noqa: BLE001  # raised again below, outside the group
            raised = error
        finally:
            if stop is None:
                task.cancel()
            else:
                stop()
    if raised is not None:
        raise raised
