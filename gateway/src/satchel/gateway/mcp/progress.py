"""Tells a client how far a long call is, for as long as it runs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

from satchel.gateway.mcp.dialogue import Dialogue
from satchel.runtime.errors import ServiceError

_log = logging.getLogger("satchel.gateway.mcp")

INTERVAL_S = 1.0

T = TypeVar("T")

# Returns how much there is still to do.
Count: TypeAlias = Callable[[], Awaitable[int]]


class Progress:
    """Reports once at the beginning, then every ``interval_s``, and once at the end; always more than before.

    With a count the unit is memories, and their total is known. Without one it is seconds.
    """

    def __init__(self, dialogue: Dialogue, count: Count | None, interval_s: float = INTERVAL_S) -> None:
        self._dialogue = dialogue
        self._count = count
        self._interval_s = interval_s
        self._told = -1.0
        self._total: float | None = None

    async def during(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` and return what it returns; when it is cancelled, so is the telling."""
        try:
            self._total = await self._remaining()
            await self._tell(0)
        except BaseException:
            work.close()
            raise
        began = asyncio.get_running_loop().time()
        telling = asyncio.create_task(self._keep_telling(began))
        try:
            result = await work
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
        elapsed = asyncio.get_running_loop().time() - began
        await self._tell(elapsed if self._total is None else self._total)
        return result

    async def _keep_telling(self, began: float) -> None:
        while True:
            await asyncio.sleep(self._interval_s)
            left = await self._remaining()
            elapsed = asyncio.get_running_loop().time() - began
            await self._tell(elapsed if left is None or self._total is None else self._total - left)

    async def _remaining(self) -> int | None:
        """Return how much there is to do; `None` where nothing counts it, or it cannot be counted now."""
        if self._count is None:
            return None
        try:
            return await self._count()
        except ServiceError as error:
            # The call itself will say what is wrong.
            _log.info("mcp.progress_unknown", extra={"reason": error.reason})
            return None

    async def _tell(self, progress: float) -> None:
        if progress <= self._told:
            return
        self._told = progress
        unit = "s" if self._total is None else f"of {self._total:.0f} memories"
        await self._dialogue.report(progress, self._total, f"{progress:.0f} {unit}")
