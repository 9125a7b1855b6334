import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from requirements import requirement
from satchel.gateway.errors import SlowBody
from satchel.gateway.http.patience import Patience

SCOPE = {"type": "http", "method": "POST", "path": "/"}
SHORT_S = 0.05
LONG_S = 60.0


async def never() -> Any:  # noqa: ANN401  # it returns nothing
    await asyncio.Event().wait()


async def accept(message: MutableMapping[str, Any]) -> None:
    del message


@requirement("rest:slow-clients")
async def test_a_body_that_does_not_arrive_is_not_waited_for() -> None:
    raised: list[Exception] = []

    async def app(_scope: Scope, receive: Receive, _send: Send) -> None:
        try:
            await receive()
        except SlowBody as error:
            raised.append(error)

    async with asyncio.timeout(10):
        await Patience(app, SHORT_S, LONG_S)(SCOPE, never, accept)

    assert [type(error) for error in raised] == [SlowBody]


@requirement("rest:slow-clients")
async def test_a_body_has_its_time_as_a_whole_and_what_comes_after_it_has_any() -> None:
    parts = iter([{"type": "http.request", "body": b"x", "more_body": False}])
    left = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.call_at(loop.time() + 2 * SHORT_S, left.set)

    async def receive() -> Any:  # noqa: ANN401  # a message of ASGI
        try:
            return next(parts)
        except StopIteration:
            await left.wait()
            return {"type": "http.disconnect"}

    async def app(_scope: Scope, receive: Receive, _send: Send) -> None:
        assert (await receive())["body"] == b"x"
        assert (await receive())["type"] == "http.disconnect"

    await Patience(app, SHORT_S, LONG_S)(SCOPE, receive, accept)

    assert left.is_set()


@requirement("rest:slow-clients")
async def test_a_client_that_does_not_take_its_answer_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    ended = asyncio.Event()

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        finally:
            ended.set()

    async def stuck(message: MutableMapping[str, Any]) -> None:
        del message
        await never()

    async with asyncio.timeout(10):
        await Patience(app, LONG_S, SHORT_S)(SCOPE, never, stuck)

    assert ended.is_set()
    assert "http.client_too_slow" in caplog.messages
