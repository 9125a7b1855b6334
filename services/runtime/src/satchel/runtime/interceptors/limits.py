"""Provides the refusals that a transport would make without details: too many calls, no such method."""

from typing import Any

import grpc

from satchel.runtime.errors import Overloaded, Unimplemented
from satchel.runtime.interceptors.middleware import Behaviour, Context, Continuation, Handler, Middleware
from satchel.runtime.methods import Method, parse_method
from satchel.runtime.metrics.queues import count_rejection, watch_queue
from satchel.runtime.status import to_grpc_status

QUEUE = "calls"


class ConcurrencyInterceptor(Middleware):
    """Lets ``max_calls`` calls run at once, streams included; over that a call is refused with `Overloaded`.

    Health checks and reflection are not counted, and answer under any load.
    """

    def __init__(self, max_calls: int) -> None:
        super().__init__()
        self._max_calls = max_calls
        self._running = 0
        watch_queue(self, QUEUE, limit=max_calls, depth=lambda interceptor: interceptor.running)

    @property
    def running(self) -> int:
        """Number of calls that run now."""
        return self._running

    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401, ARG002
        """Run the call, or refuse it at once."""
        if self._running >= self._max_calls:
            count_rejection(QUEUE)
            raise Overloaded(queue=QUEUE, limit=self._max_calls)
        self._running += 1
        try:
            return await inner(request, context)
        finally:
            self._running -= 1


class UnknownMethodInterceptor(grpc.aio.ServerInterceptor):
    """Answers calls of methods that the server does not have with `Unimplemented`, details included.

    Outside of all others, which keep something for each method and would do so for any name.
    """

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler:
        """Return the handler, or one that refuses."""
        found = await continuation(handler_call_details)
        return found or _refusing(parse_method(handler_call_details.method))


def _refusing(method: Method) -> Handler:
    async def refuse(_requests: object, context: Context) -> None:
        status = to_grpc_status(Unimplemented(method=method.label))
        await context.abort(status.code, status.details, status.trailing_metadata)

    # Of the most general kind: it may refuse a call of any kind.
    return grpc.stream_stream_rpc_method_handler(refuse)
