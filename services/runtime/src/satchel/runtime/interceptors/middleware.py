"""Provides the base of our server interceptors: one method for all four kinds of RPC.

Every handler is brought to one shape, a coroutine ``(request or request stream, context) -> response``,
in which streamed responses are written to the context. That keeps all clean-up of a call in its own
task, which an async generator does not.
"""

import abc
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import grpc

from satchel.runtime.errors import Unimplemented
from satchel.runtime.methods import Method, parse_method

if TYPE_CHECKING:
    Handler: TypeAlias = grpc.RpcMethodHandler[Any, Any]
else:
    Handler = grpc.RpcMethodHandler  # generic in its stubs only

Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]
# Takes the request (or the stream of them) and the context; returns the response (or nothing).
Behaviour: TypeAlias = Callable[[Any, Context], Awaitable[Any]]
Continuation: TypeAlias = Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]]

_KINDS = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}


class Middleware(grpc.aio.ServerInterceptor, abc.ABC):
    """An interceptor that surrounds each call that it `concerns` with `handle`."""

    def __init__(self) -> None:
        self._wrapped: dict[str, tuple[Handler, Handler]] = {}

    @abc.abstractmethod
    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401
        """Do the work of this interceptor around ``await inner(request, context)``."""

    def concerns(self, method: Method) -> bool:
        """Say whether calls of the method are surrounded; those of health and reflection pass untouched."""
        return method.is_observed

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler | None:
        """Return the wrapped handler, made once for each method."""
        inner = await continuation(handler_call_details)
        if inner is None:
            return None
        known = self._wrapped.get(handler_call_details.method)
        if known is not None and known[0] is inner:
            return known[1]
        method = parse_method(handler_call_details.method)
        wrapped = self.wrap(inner, method) if self.concerns(method) else inner
        self._wrapped[method.path] = (inner, wrapped)
        return wrapped

    def wrap(self, handler: Handler, method: Method) -> Handler:
        """Return a handler of the same kind with `handle` around its behaviour."""
        inner = behaviour_of(handler, method)

        async def surrounded(request: Any, context: Context) -> Any:  # noqa: ANN401
            return await self.handle(inner, method, request, context)

        return with_behaviour(handler, surrounded)


def behaviour_of(handler: Handler, method: Method) -> Behaviour:
    """Return what the handler does, as a coroutine function."""
    name, _ = _KINDS[handler.request_streaming, handler.response_streaming]
    found = getattr(handler, name)
    if inspect.isasyncgenfunction(found):
        return _writing(found)
    if inspect.iscoroutinefunction(found):
        return cast("Behaviour", found)
    return _plain(found, method)


def with_behaviour(
    handler: Handler, behaviour: Behaviour, request_deserializer: Callable[[bytes], Any] | None = None
) -> Handler:
    """Return a handler of the same kind that does something else."""
    _, make = _KINDS[handler.request_streaming, handler.response_streaming]
    return make(
        behaviour,
        request_deserializer=request_deserializer or handler.request_deserializer,
        response_serializer=handler.response_serializer,
    )


def outcome(error: BaseException | None, context: Context) -> grpc.StatusCode:
    """Return the status that a call ends with, given what left its handler."""
    if error is None:
        return context.code() or grpc.StatusCode.OK
    if isinstance(error, grpc.aio.AbortError):
        return context.code() or grpc.StatusCode.UNKNOWN
    if not isinstance(error, Exception):
        left = context.time_remaining()
        late = left is not None and left <= 0
        return grpc.StatusCode.DEADLINE_EXCEEDED if late else grpc.StatusCode.CANCELLED
    return grpc.StatusCode.UNKNOWN


def _plain(function: Callable[[Any, Context], Any], method: Method) -> Behaviour:
    """Adapt a plain function: a method that the servicer inherits from the generated base, or a factory."""

    async def call(request: Any, context: Context) -> Any:  # noqa: ANN401
        try:
            result = function(request, context)
        except NotImplementedError:
            raise Unimplemented(method=method.label) from None
        return await result if inspect.isawaitable(result) else result

    return call


def _writing(generate: Callable[[Any, Context], AsyncIterator[Any]]) -> Behaviour:
    async def write_all(request: Any, context: Context) -> None:  # noqa: ANN401
        async with aclosing(cast("Any", generate(request, context))) as responses:
            async for response in responses:
                await context.write(response)

    return write_all
