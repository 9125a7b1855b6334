"""Provides a deadline to every call, the client's or one of ours."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import grpc

from satchel.runtime.deadlines import set_remaining
from satchel.runtime.errors import DeadlineExceeded, ServiceError, ShuttingDown
from satchel.runtime.interceptors.middleware import Behaviour, Context, Handler, Middleware
from satchel.runtime.methods import Method


class DeadlineInterceptor(Middleware):
    """Sets how long a call may take, for itself and for the calls it makes.

    A deadline from the client is enforced by the transport. Without one, unary calls get
    ``unary_timeout_s``; calls that stream have no default, since watching a feed has no natural end.
    Those endless calls stop at once, with `ShuttingDown`, when the server drains.
    """

    def __init__(self, unary_timeout_s: float) -> None:
        super().__init__()
        self._unary_timeout_s = unary_timeout_s
        self._streaming: set[str] = set()
        self._endless: set[asyncio.Timeout] = set()

    def end_endless_calls(self) -> None:
        """End the calls that stream without a deadline."""
        for scope in self._endless:
            scope.reschedule(asyncio.get_running_loop().time())

    def wrap(self, handler: Handler, method: Method) -> Handler:
        """Remember which methods stream."""
        if handler.request_streaming or handler.response_streaming:
            self._streaming.add(method.path)
        return super().wrap(handler, method)

    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401
        """Run the call within its time."""
        left: float | None = context.time_remaining()
        set_remaining(left)
        if left is not None:
            return await inner(request, context)
        if method.path in self._streaming:
            return await self._endless_call(inner, request, context)
        set_remaining(self._unary_timeout_s)
        return await _within(
            asyncio.timeout(self._unary_timeout_s), DeadlineExceeded, inner(request, context)
        )

    async def _endless_call(self, inner: Behaviour, request: Any, context: Context) -> Any:  # noqa: ANN401
        scope = asyncio.timeout(None)
        self._endless.add(scope)
        try:
            return await _within(scope, ShuttingDown, inner(request, context))
        finally:
            self._endless.discard(scope)


def end_endless_calls(interceptors: Iterable[grpc.aio.ServerInterceptor]) -> None:
    """End the calls that stream without a deadline, on the server that has these interceptors."""
    for interceptor in interceptors:
        if isinstance(interceptor, DeadlineInterceptor):
            interceptor.end_endless_calls()


async def _within(
    scope: asyncio.Timeout, failure: Callable[[], ServiceError], running: Awaitable[Any]
) -> Any:  # noqa: ANN401
    try:
        async with scope:
            return await running
    except TimeoutError:
        if scope.expired():
            raise failure() from None
        raise
