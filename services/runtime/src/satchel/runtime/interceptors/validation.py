"""Provides the check of every request message against the limits in the contract."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError, Message

from satchel.runtime.errors import MalformedMessage
from satchel.runtime.interceptors.middleware import (
    Behaviour,
    Context,
    Handler,
    Middleware,
    behaviour_of,
    with_behaviour,
)
from satchel.runtime.methods import Method, rules_of
from satchel.runtime.validation import validate


@dataclass(frozen=True, slots=True)
class _Undecodable:
    """Stands for a request whose bytes are no such message: a decoder has no way to answer the client."""

    message_type: str


class ValidationInterceptor(Middleware):
    """Refuses messages that do not decode or that break the contract, streamed ones one by one.

    Servicers must read streamed requests by iteration; `context.read` goes past the check. A stream whose
    contract says `answers_each_item` checks its items itself, for a bad one must not end it.
    """

    def wrap(self, handler: Handler, method: Method) -> Handler:
        """Put the check and a tolerant decoder around the handler."""
        inner = behaviour_of(handler, method)

        async def checked(request: Any, context: Context) -> Any:  # noqa: ANN401
            return await self.handle(inner, method, request, context)

        check = _check_decoded if rules_of(method).answers_each_item else _check

        async def checked_stream(requests: Any, context: Context) -> Any:  # noqa: ANN401
            return await self.handle(inner, method, _checked_each(requests, check), context)

        return with_behaviour(
            handler,
            checked_stream if handler.request_streaming else checked,
            _tolerant(handler.request_deserializer),
        )

    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401, ARG002
        """Check a single request; a stream is checked as it is read."""
        if isinstance(request, _Undecodable | Message):
            _check(request)
        return await inner(request, context)


def _check(request: Message | _Undecodable) -> None:
    _check_decoded(request)
    if isinstance(request, Message):
        validate(request)


def _check_decoded(request: Message | _Undecodable) -> None:
    if isinstance(request, _Undecodable):
        raise MalformedMessage(message_type=request.message_type)


async def _checked_each(
    requests: AsyncIterator[Any], check: Callable[[Message | _Undecodable], None]
) -> AsyncIterator[Any]:
    async for request in requests:
        if isinstance(request, _Undecodable | Message):
            check(request)
        yield request


def _tolerant(decode: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    if decode is None:
        return None
    owner = getattr(decode, "__self__", None)
    descriptor = getattr(owner, "DESCRIPTOR", None)
    undecodable = _Undecodable(getattr(descriptor, "full_name", "request"))

    def decode_or_mark(data: bytes) -> Any:  # noqa: ANN401
        try:
            return decode(data)
        except DecodeError:
            return undecodable

    return decode_or_mark
