"""A tiny service of all four kinds, added to a server in the way that generated code does it."""

# ruff: noqa: N802  # RPC names are those of the contract

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
from google.protobuf.wrappers_pb2 import StringValue

from satchel.runtime.errors import Code, ServiceError
from satchel.runtime.status import MAX_MESSAGE_BYTES
from satchel.runtime.telemetry import span

SERVICE = "satchel.test.EchoService"

Context = grpc.aio.ServicerContext[StringValue, StringValue]


class Teapot(ServiceError):  # noqa: N818
    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_TEAPOT"


class Echo:
    """Answers with what it gets; some texts are commands."""

    def __init__(self) -> None:
        self.contexts: list[Context] = []
        self.waiting = asyncio.Event()
        self.release = asyncio.Event()
        self.cancelled = asyncio.Event()

    def register(self, server: grpc.aio.Server) -> None:
        add_echo_to_server(self, server)

    async def Unary(self, request: StringValue, context: Context) -> StringValue:
        self.contexts.append(context)
        match request.value:
            case "teapot":
                raise Teapot("I am a teapot. Ask for tea.", retry_after_s=1.5, colour="brown")
            case "bug":
                raise RuntimeError("secret detail")
            case "abort":
                await context.abort(grpc.StatusCode.DATA_LOSS, "gone", (("why", "because"),))
            case "code":
                context.set_code(grpc.StatusCode.NOT_FOUND)
                context.set_details("not here")
            case "metadata":
                await context.send_initial_metadata((("early", "1"),))
                context.set_trailing_metadata((("late", "2"), ("raw-bin", b"\x00\xff")))
            case "headers":
                pairs: Any = context.invocation_metadata() or ()
                return StringValue(value=",".join(f"{key}={value}" for key, value in pairs))
            case "wait":
                await self.wait()
            case "huge":
                return text_beyond_the_limit()
            case "span":
                with span("satchel.test.work", size=3):
                    pass
        return StringValue(value=request.value)

    async def Split(self, request: StringValue, context: Context) -> AsyncIterator[StringValue]:
        for word in request.value.split():
            if word == "teapot":
                raise Teapot("I am a teapot. Ask for tea.")
            if word == "wait":
                await self.wait()
            if word == "huge":
                yield text_beyond_the_limit()
            yield StringValue(value=word)
        context.set_trailing_metadata((("late", "2"),))

    async def Join(self, requests: AsyncIterator[StringValue], context: Context) -> StringValue:  # noqa: ARG002
        return StringValue(value=" ".join([request.value async for request in requests]))

    async def Chat(self, requests: AsyncIterator[StringValue], context: Context) -> None:
        async for request in requests:
            await context.write(StringValue(value=request.value.upper()))

    async def wait(self) -> None:
        self.waiting.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


def text_beyond_the_limit() -> StringValue:
    """Return a message that is a little larger than the network carries."""
    return StringValue(value="x" * MAX_MESSAGE_BYTES)


def add_echo_to_server(echo: Echo, server: grpc.aio.Server) -> None:
    decode, encode = StringValue.FromString, StringValue.SerializeToString
    handlers: dict[str, Any] = {
        "Unary": grpc.unary_unary_rpc_method_handler(echo.Unary, decode, encode),
        "Split": grpc.unary_stream_rpc_method_handler(echo.Split, decode, encode),
        "Join": grpc.stream_unary_rpc_method_handler(echo.Join, decode, encode),
        "Chat": grpc.stream_stream_rpc_method_handler(echo.Chat, decode, encode),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    server.add_registered_method_handlers(SERVICE, handlers)


class EchoStub:
    """What the generator would write."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.Unary = _member(channel.unary_unary, "Unary")
        self.Split = _member(channel.unary_stream, "Split")
        self.Join = _member(channel.stream_unary, "Join")
        self.Chat = _member(channel.stream_stream, "Chat")
        self.Missing = _member(channel.unary_unary, "Missing")
        # Sends bytes as they are.
        self.Raw: Any = channel.unary_unary(f"/{SERVICE}/Unary", bytes, StringValue.FromString)


def _member(make: Callable[..., Any], name: str) -> Any:  # noqa: ANN401  # one of four kinds
    return make(
        f"/{SERVICE}/{name}",
        request_serializer=StringValue.SerializeToString,
        response_deserializer=StringValue.FromString,
        _registered_method=True,
    )
