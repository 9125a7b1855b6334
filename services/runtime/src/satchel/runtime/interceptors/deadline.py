"""Provides an end in time to every call, the client's or one of ours."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, cast

import grpc

from satchel.runtime.deadlines import answer_within, set_remaining
from satchel.runtime.errors import DeadlineExceeded, ServiceError, ShuttingDown
from satchel.runtime.interceptors.middleware import Behaviour, Context, Handler, Middleware
from satchel.runtime.methods import Method


class DeadlineInterceptor(Middleware):
    """Sets how long a call may take, for itself and for the calls it makes.

    A call ends with `DeadlineExceeded` shortly before the client's deadline (5 %, 2 to 100 ms), so that the
    client gets a reason; with less than 2 ms left the transport ends it. Without a deadline, unary calls get
    ``unary_timeout_s``; calls that stream have no default, since watching a feed has no natural end.
    Those endless calls stop at once, with `ShuttingDown`, when the server drains.
    """

    def __init__(self, unary_timeout_s: float) -> None:
        super().__init__()
        self._unary_timeout_s = unary_timeout_s
        self._streaming: set[str] = set()
        self._endless: set[_Ending] = set()

    def end_endless_calls(self) -> None:
        """End the calls that stream without a deadline."""
        for ending in self._endless:
            ending.end()

    def wrap(self, handler: Handler, method: Method) -> Handler:
        """Remember which methods stream."""
        if handler.request_streaming or handler.response_streaming:
            self._streaming.add(method.path)
        return super().wrap(handler, method)

    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401
        """Run the call within its time."""
        left: float | None = context.time_remaining()
        if left is None and method.path in self._streaming:
            set_remaining(None)
            return await self._endless_call(inner, request, context)
        if left is None:
            set_remaining(self._unary_timeout_s)
            return await _within(self._unary_timeout_s, inner(request, context))
        set_remaining(left)
        allowed = answer_within(left)
        if allowed is None:
            return await inner(request, context)
        return await _within(allowed, inner(request, context))

    async def _endless_call(self, inner: Behaviour, request: Any, context: Context) -> Any:  # noqa: ANN401
        ending = _Ending(ShuttingDown)
        self._endless.add(ending)
        try:
            return await ending.around(inner(request, context))
        finally:
            self._endless.discard(ending)


def end_endless_calls(interceptors: Iterable[grpc.aio.ServerInterceptor]) -> None:
    """End the calls that stream without a deadline, on the server that has these interceptors."""
    for interceptor in interceptors:
        if isinstance(interceptor, DeadlineInterceptor):
            interceptor.end_endless_calls()


async def _within(seconds: float, running: Awaitable[Any]) -> Any:  # noqa: ANN401
    ending = _Ending(DeadlineExceeded)
    timer = asyncio.get_running_loop().call_later(seconds, ending.end)
    try:
        return await ending.around(running)
    finally:
        timer.cancel()


class _Ending:
    """Ends the call of the current task when told to, with a failure of its own.

    Half as costly as `asyncio.timeout`, on the way of every call; and whatever a call makes of being
    cancelled, its client gets the failure.
    """

    __slots__ = ("_before", "_failure", "_task", "_told")

    def __init__(self, failure: Callable[[], ServiceError]) -> None:
        self._task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._before = self._task.cancelling()
        self._failure = failure
        self._told = False

    def end(self) -> None:
        """Cancel what runs; only the first time counts."""
        if not self._told:
            self._told = True
            self._task.cancel()

    async def around(self, running: Awaitable[Any]) -> Any:  # noqa: ANN401
        """Wait for what runs; after `end` it fails, unless its result or its status was there already."""
        try:
            return await running
        except grpc.aio.AbortError:
            raise
        except (asyncio.CancelledError, Exception) as error:
            if self._told and not self._is_cancelled_by_others():
                raise self._failure() from error
            raise
        finally:
            if self._told:
                self._task.uncancel()

    def _is_cancelled_by_others(self) -> bool:
        # Our own cancellation is one of those that the task counts.
        return self._task.cancelling() > self._before + 1
