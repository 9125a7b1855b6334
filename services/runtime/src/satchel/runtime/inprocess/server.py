"""Provides a server without a socket, for `add_XServicer_to_server` and our interceptors."""

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self, cast

import grpc

from satchel.runtime.inprocess.context import InProcessContext
from satchel.runtime.inprocess.exchange import Exchange, _EndOfStream, oversize
from satchel.runtime.interceptors import default_chain
from satchel.runtime.interceptors.deadline import end_endless_calls
from satchel.runtime.interceptors.middleware import Handler
from satchel.runtime.methods import require_access_rules
from satchel.runtime.propagation import Metadatum

_log = logging.getLogger("satchel.inprocess")


class _CallDetails(NamedTuple):
    """What interceptors learn of a call."""

    method: str
    invocation_metadata: tuple[Metadatum, ...]


class InProcessServer(grpc.aio.Server):
    """Serves calls of `InProcessChannel` in the same event loop; each in a task with a context of its own.

    Behaves like `grpc.aio.server`: the same interceptors, contexts, statuses, limits and cancellation. As
    there, the chain bounds how many calls run at once.
    """

    def __init__(self, interceptors: Sequence[grpc.aio.ServerInterceptor] | None = None) -> None:
        self._interceptors = default_chain() if interceptors is None else tuple(interceptors)
        self._generic: list[grpc.GenericRpcHandler] = []
        self._registered: dict[str, Handler] = {}
        self._running: set[Exchange] = set()
        self._stopped = asyncio.Event()

    def add_generic_rpc_handlers(self, generic_rpc_handlers: Iterable[grpc.GenericRpcHandler]) -> None:
        """Add handlers that are found by asking each in turn."""
        self._generic.extend(generic_rpc_handlers)

    def add_registered_method_handlers(
        self, service_name: str, method_handlers: Mapping[str, Handler]
    ) -> None:
        """Add handlers that are found by the name of their method; generated code calls this.

        Raises:
            ValueError: an RPC of ours does not say which right it needs.
        """
        require_access_rules(service_name, method_handlers)
        for name, handler in method_handlers.items():
            self._registered[f"/{service_name}/{name}"] = handler

    def add_insecure_port(self, address: str) -> int:
        """Refuse: there is no socket."""
        raise grpc.aio.UsageError(f"An in-process server cannot listen on {address}; use GrpcServer.")

    def add_secure_port(self, address: str, server_credentials: grpc.ServerCredentials) -> int:
        """Refuse: there is no socket."""
        del server_credentials
        return self.add_insecure_port(address)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Do nothing: the server serves from the start."""

    async def stop(self, grace: float | None = None) -> None:
        """Refuse new calls; give those that run ``grace`` seconds, then cancel them."""
        self._stopped.set()
        end_endless_calls(self._interceptors)
        if grace and self._running:
            waiting = [asyncio.ensure_future(exchange.finished.wait()) for exchange in self._running]
            _, late = await asyncio.wait(waiting, timeout=grace)
            for waiter in late:
                waiter.cancel()
        for exchange in tuple(self._running):
            exchange.stop(grpc.StatusCode.UNAVAILABLE, "The server has stopped.")

    async def wait_for_termination(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109
        """Wait until `stop`; true if ``timeout`` seconds passed before."""
        try:
            await asyncio.wait_for(self._stopped.wait(), timeout)
        except TimeoutError:
            return True
        return False

    async def serve(self, exchange: Exchange) -> None:
        """Serve one call to its end; nothing is raised."""
        if self._stopped.is_set():
            exchange.finish(grpc.StatusCode.UNAVAILABLE, "The server has stopped.")
            return
        self._running.add(exchange)
        try:
            await self._serve(exchange)
        finally:
            self._running.discard(exchange)

    async def _serve(self, exchange: Exchange) -> None:
        handler = await self._find(_CallDetails(exchange.method, exchange.metadata))
        if handler is None:
            exchange.finish(grpc.StatusCode.UNIMPLEMENTED, "Method not found!")
            return
        context = InProcessContext(exchange, handler)
        try:
            await _run(handler, exchange, context)
        except grpc.aio.AbortError:
            pass  # the status is sent
        except asyncio.CancelledError:
            exchange.finish(grpc.StatusCode.CANCELLED, "The handler was cancelled.")
        except Exception as error:  # noqa: BLE001  # the boundary, as in grpc.aio
            _log.exception("inprocess.unhandled", extra={"rpc": exchange.method})
            exchange.finish(context.code() or grpc.StatusCode.UNKNOWN, f"Unexpected {type(error)}: {error}")
        finally:
            for callback in context.callbacks:
                callback()

    async def _find(self, details: _CallDetails) -> Handler | None:
        if not self._interceptors:
            return self._lookup(details)
        return await self._intercepted(iter(self._interceptors), cast("grpc.HandlerCallDetails", details))

    async def _intercepted(
        self, rest: Iterator[grpc.aio.ServerInterceptor], details: grpc.HandlerCallDetails
    ) -> Handler | None:
        interceptor = next(rest, None)
        if interceptor is None:
            return self._lookup(details)
        return await interceptor.intercept_service(partial(self._intercepted, rest), details)

    def _lookup(self, details: grpc.HandlerCallDetails | _CallDetails) -> Handler | None:
        found = self._registered.get(details.method)
        if found is not None:
            return found
        known = cast("grpc.HandlerCallDetails", details)
        return next((handler for generic in self._generic if (handler := generic.service(known))), None)


async def _run(handler: Handler, exchange: Exchange, context: InProcessContext) -> None:
    request = _requests(context) if handler.request_streaming else await _single_request(exchange, handler)
    if handler.response_streaming:
        await _run_stream(handler, request, context)
        exchange.finish(
            context.code() or grpc.StatusCode.OK, context.details(), tuple(context.trailing_metadata())
        )
        return
    function = handler.stream_unary if handler.request_streaming else handler.unary_unary
    response = await _awaited(cast("Callable[..., Any]", function)(request, context))
    if context.abortion is not None:
        raise context.abortion
    code = context.code() or grpc.StatusCode.OK
    if code is grpc.StatusCode.OK and exchange.code is None:
        encode = cast("Callable[[Any], bytes]", handler.response_serializer or _same)
        data = encode(response)
        if (problem := oversize(data)) is not None:
            exchange.finish(grpc.StatusCode.RESOURCE_EXHAUSTED, problem)
            return
        exchange.responses.put_now(data)
    exchange.finish(code, context.details(), tuple(context.trailing_metadata()))


async def _run_stream(handler: Handler, request: object, context: InProcessContext) -> None:
    function = handler.stream_stream if handler.request_streaming else handler.unary_stream
    result = cast("Callable[..., Any]", function)(request, context)
    if inspect.isasyncgen(result):
        async with aclosing(result) as responses:
            async for response in responses:
                await context.write(response)
    else:
        await _awaited(result)
    if context.abortion is not None:
        raise context.abortion


async def _single_request(exchange: Exchange, handler: Handler) -> object:
    data = await exchange.requests.get()
    if isinstance(data, _EndOfStream):
        raise asyncio.CancelledError  # the client gave up before it sent anything
    decode = cast("Callable[[bytes], object]", handler.request_deserializer or _same)
    return decode(data)


async def _requests(context: InProcessContext) -> AsyncIterator[Any]:
    while (request := await context.read()) is not grpc.aio.EOF:
        yield request


async def _awaited(result: Awaitable[Any] | object) -> Any:  # noqa: ANN401
    return await result if inspect.isawaitable(result) else result


def _same(value: Any) -> Any:  # noqa: ANN401
    return cast("object", value)
