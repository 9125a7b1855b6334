"""Provides bounded thread pools for libraries that block.

Every pool has a bound on what may wait; over it the caller gets `Overloaded` at once instead of an
ever longer queue.
"""

import asyncio
import contextvars
import functools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from satchel.runtime.errors import Overloaded, ShuttingDown
from satchel.runtime.metrics.queues import count_rejection, watch_queue

P = ParamSpec("P")
R = TypeVar("R")

_RETRY_AFTER_S = 0.5


class BoundedExecutor:
    """Runs blocking functions on ``max_workers`` threads; at most ``max_queue`` more may wait.

    Work sees the context variables of the caller, so that spans opened in a thread are children of the
    request. A caller that is cancelled drops work that has not begun; work that has begun runs to its
    end and keeps its place until then. Use it from one event loop.
    """

    def __init__(self, max_workers: int, max_queue: int, name: str) -> None:
        if max_workers < 1 or max_queue < 0:
            msg = (
                f"BoundedExecutor needs max_workers >= 1 and max_queue >= 0, got {max_workers}, {max_queue}."
            )
            raise ValueError(msg)
        self._limit = max_workers + max_queue
        self._name = name
        self._pending = 0
        self._closed = False
        self._pool = ThreadPoolExecutor(max_workers, thread_name_prefix=name)
        watch_queue(self, name, limit=self._limit, depth=lambda executor: executor.pending)

    @property
    def pending(self) -> int:
        """Number of calls that run or wait now."""
        return self._pending

    async def run(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run ``fn`` on a thread and return its result.

        Raises:
            Overloaded: as many calls as allowed already run or wait.
            ShuttingDown: the executor is closed.
        """
        if self._closed:
            raise ShuttingDown
        if self._pending >= self._limit:
            count_rejection(self._name)
            raise Overloaded(queue=self._name, limit=self._limit, retry_after_s=_RETRY_AFTER_S)
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        self._pending += 1
        future = self._pool.submit(context.run, functools.partial(fn, *args, **kwargs))
        future.add_done_callback(lambda done: self._on_done(loop, done))
        return await asyncio.wrap_future(future, loop=loop)

    def _on_done(self, loop: asyncio.AbstractEventLoop, _done: Future[R]) -> None:
        # The loop owns the counter. It may be closed when work outlives it; then nobody counts any more.
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._release)

    def _release(self) -> None:
        self._pending -= 1

    async def close(self) -> None:
        """Refuse new work, drop what waits, and wait for what runs."""
        if self._closed:
            return
        self._closed = True
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
