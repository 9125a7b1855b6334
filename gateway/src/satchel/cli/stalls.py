"""Ends work that no longer moves: streams have no deadline, since they may take as long as there is data."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from satchel.cli.exits import CommandError, Exit


@asynccontextmanager
async def stall_limit(seconds: float, problem: str) -> AsyncIterator[Callable[[], None]]:
    """End the block when nothing moves for so many seconds; what it yields is called whenever something does.

    Raises:
        CommandError: nothing moved; ``problem`` is a sentence that says what, and what to do.
    """
    loop = asyncio.get_running_loop()
    async with _expiry(seconds, problem) as guard:

        def moved() -> None:
            if not guard.expired():
                guard.reschedule(loop.time() + seconds)

        yield moved


@asynccontextmanager
async def _expiry(seconds: float, problem: str) -> AsyncIterator[asyncio.Timeout]:
    guard = asyncio.timeout(seconds)
    try:
        async with guard:
            yield guard
    except TimeoutError as exc:
        if not guard.expired():
            raise
        raise CommandError(f"Nothing moved for {seconds:g} s. {problem}", Exit.UNAVAILABLE) from exc
