"""Provides a channel that outlives the owner of the data folder.

Generated stubs over a `HomeChannel` call whoever owns the folder at that moment. When the owner is gone,
the call goes to the next owner, which may be this very process. A call is sent again only where that is
safe: it changes nothing, or it carries a request id, which this channel adds where the caller gave none.
"""

import uuid
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar, cast

import grpc
from google.protobuf.message import Message

from satchel.gateway.data_folder import Owner

Req = TypeVar("Req")
Res = TypeVar("Res")

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """A way to the services; ``owner`` is this very process when ``own`` is set."""

    channel: grpc.aio.Channel
    owner: Owner
    own: bool
    close: Callable[[], Awaitable[None]]


class Links(Protocol):
    """What finds the owner: a `Home`."""

    async def settle(self) -> Link:
        """Return the link to the owner, found now if need be."""
        ...

    async def replace(self, lost: Link) -> Link:
        """Return another link because ``lost`` does not answer, or ``lost`` itself if its owner lives."""
        ...


class HomeChannel(grpc.aio.Channel):
    """Calls the owner of a data folder, over whatever link its `Home` has.

    Calls begin when they are awaited or iterated, not when they are made. Streams offer iteration only.
    """

    def __init__(self, home: Links) -> None:
        self._home = home

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> "UnaryCallable[Any, Any]":  # noqa: ANN401
        """Make a callable for a unary call."""
        return UnaryCallable(self._home, lambda link: link.channel.unary_unary(method, *args, **kwargs))

    def unary_stream(self, method: str, *args: Any, **kwargs: Any) -> "StreamCallable[Any, Any]":  # noqa: ANN401
        """Make a callable for a stream of responses."""
        return StreamCallable(
            self._home, lambda link: link.channel.unary_stream(method, *args, **kwargs), repeatable=True
        )

    def stream_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Make a callable for streams both ways."""
        return StreamCallable(
            self._home, lambda link: link.channel.stream_stream(method, *args, **kwargs), repeatable=False
        )

    def stream_unary(self, method: str, *_args: Any, **_kwargs: Any) -> Any:  # noqa: ANN401
        """Refuse: no contract of Satchel has such a method."""
        raise NotImplementedError(f"{method} streams requests to one response, which HomeChannel cannot.")

    async def close(self, grace: float | None = None) -> None:
        """Do nothing: the `Home` closes what it opened."""

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: FBT001, FBT002, ARG002
        """Tell that calls may be made; each finds its own connection."""
        return grpc.ChannelConnectivity.READY

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Return at once."""

    async def channel_ready(self) -> None:
        """Wait until there is an owner."""
        await self._home.settle()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


class UnaryCallable(grpc.aio.UnaryUnaryMultiCallable[Req, Res]):
    """Makes unary calls that find another owner when theirs is gone."""

    def __init__(self, home: Links, bind: Callable[[Link], Any]) -> None:
        self._home = home
        self._bind = bind

    def __call__(self, request: Req, **options: Any) -> "UnaryCall[Req, Res]":  # noqa: ANN401
        """Make a call; it begins when it is awaited."""
        return UnaryCall(lambda: self._begin(request, options))

    async def _begin(self, request: Req, options: dict[str, Any]) -> tuple[Any, Res]:
        link = await self._home.settle()
        sent = request if link.own else repeatable(request)
        for _ in range(_ATTEMPTS - 1):
            call = self._bind(link)(sent, **options)
            try:
                return call, await call
            except grpc.aio.AioRpcError as error:
                link = await _next_link(self._home, link, error)
        call = self._bind(link)(sent, **options)
        return call, await call


class UnaryCall(grpc.aio.UnaryUnaryCall[Req, Res]):
    """One unary call. Status and metadata can be asked for once it was awaited."""

    def __init__(self, begin: Callable[[], Awaitable[tuple[Any, Res]]]) -> None:
        self._begin = begin
        self._call: Any = None

    def __await__(self) -> Generator[Any, None, Res]:
        return self._run().__await__()

    async def _run(self) -> Res:
        self._call, response = await self._begin()
        return response

    async def initial_metadata(self) -> grpc.aio.Metadata:
        """Return what the server sent before the response."""
        return cast("grpc.aio.Metadata", await self._call.initial_metadata())

    async def trailing_metadata(self) -> grpc.aio.Metadata:
        """Return what the server sent after the response."""
        return cast("grpc.aio.Metadata", await self._call.trailing_metadata())

    async def code(self) -> grpc.StatusCode:
        """Return the status."""
        return cast("grpc.StatusCode", await self._call.code())

    async def details(self) -> str:
        """Return the text of the status."""
        return cast("str", await self._call.details())

    async def wait_for_connection(self) -> None:
        """Return at once."""

    def cancelled(self) -> bool:
        """Tell whether the call was cancelled; cancel the task that awaits it instead."""
        return False

    def done(self) -> bool:
        """Tell whether the response is there."""
        return self._call is not None

    def time_remaining(self) -> float | None:
        """Tell nothing."""
        return None

    def cancel(self) -> bool:
        """Refuse: cancel the task that awaits the call instead."""
        return False

    def add_done_callback(self, callback: object) -> None:
        """Refuse: await the call instead."""
        raise NotImplementedError("Await the call instead of adding a callback.")


class StreamCallable(grpc.aio.UnaryStreamMultiCallable[Req, Res]):
    """Makes calls whose responses are iterated.

    A ``repeatable`` call that fails before its first response is sent again to the next owner. Another one
    fails, but the next call goes to the next owner.
    """

    def __init__(self, home: Links, bind: Callable[[Link], Any], *, repeatable: bool) -> None:
        self._home = home
        self._bind = bind
        self._attempts = _ATTEMPTS if repeatable else 1

    def __call__(  # type: ignore[override]
        self,
        request: Req | AsyncIterable[Req] | Iterable[Req],
        **options: Any,  # noqa: ANN401
    ) -> AsyncIterator[Res]:
        """Make a call; it begins when it is iterated."""
        return self._responses(request, options)

    async def _responses(self, request: object, options: dict[str, Any]) -> AsyncIterator[Res]:
        link = await self._home.settle()
        for attempt in range(1, self._attempts + 1):
            started = False
            call = self._bind(link)(request, **options)
            try:
                async for response in call:
                    started = True
                    yield response
            except grpc.aio.AioRpcError as error:
                link = await _next_link(self._home, link, error)
                if started or attempt == self._attempts:
                    raise
            else:
                return
            finally:
                call.cancel()  # when the caller stops iterating


def repeatable(request: Req) -> Req:
    """Return a request that may be sent twice: one with a request id, where its message has that field."""
    if not isinstance(request, Message) or "request_id" not in request.DESCRIPTOR.fields_by_name:
        return request
    if cast("Any", request).request_id:
        return request
    copy = cast("Any", type(request)())
    copy.CopyFrom(request)
    copy.request_id = str(uuid.uuid4())
    return cast("Req", copy)


async def _next_link(home: Links, link: Link, error: grpc.aio.AioRpcError) -> Link:
    """Return the link to another owner.

    Raises:
        grpc.aio.AioRpcError: ``error``, when the owner lives, or the error is no lost connection.
    """
    if link.own or error.code() is not grpc.StatusCode.UNAVAILABLE:
        raise error
    found = await home.replace(link)
    if found is link:
        raise error
    return found
