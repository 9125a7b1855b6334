"""The services that the owner of a data folder runs: one task enters them, publishes them and leaves them."""

import asyncio
import contextvars
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import grpc

from satchel.gateway.data_folder import DataFolder, Owner, Ownership
from satchel.runtime.errors import InternalError

_log = logging.getLogger("satchel.home")


class Running(Protocol):
    """What the owner runs: a channel of its own, and where others reach it."""

    @property
    def channel(self) -> grpc.aio.Channel:
        """Channel to the services in this process."""

    @property
    def grpc_address(self) -> str:
        """Name of the gRPC server: ``host:port``, or ``unix:`` and a path."""

    @property
    def local_address(self) -> str:
        """Name of a gRPC server for the folder's user alone, ``unix:`` and a path; empty for none."""

    @property
    def http_address(self) -> str:
        """URL of the HTTP door; empty for none."""


Start = Callable[[DataFolder], AbstractAsyncContextManager[Running]]
Describe = Callable[[Running], Owner]


class ServicesEnded(InternalError):  # noqa: N818  # the name says what happened
    """The services of this process ended although nobody asked them to."""

    def __init__(self, cause: Exception) -> None:
        what = "; ".join(f"{type(leaf).__name__}: {leaf}" for leaf in _leaves(cause))
        super().__init__(
            f"The services of this process failed and were stopped ({what}). The log says where. "
            "Nothing that was acknowledged is lost; start Satchel again, and report it if it comes back."
        )


class OwnServices:
    """The running services of this process, from `open` until they end.

    They are entered and left by one task of their own: calls come from any task, and what the services
    start must not inherit the context (such as the trace) of the call that came first. The folder's lock is
    free again when the task is done, however it ends.
    """

    def __init__(self, folder: DataFolder, ownership: Ownership, start: Start, describe: Describe) -> None:
        self._folder = folder
        self._ownership = ownership
        self._start = start
        self._describe = describe
        self._ready: asyncio.Future[tuple[grpc.aio.Channel, Owner]] = (
            asyncio.get_running_loop().create_future()
        )
        self._stop = asyncio.Event()
        self._failure: Exception | None = None
        self._task = asyncio.create_task(self._run(), name="satchel-owner", context=contextvars.Context())
        # Not by the task itself: one that is cancelled before its first step runs nothing at all.
        self._task.add_done_callback(lambda _: ownership.release())

    @property
    def is_over(self) -> bool:
        """Whether the services have ended."""
        return self._task.done()

    async def ready(self) -> tuple[grpc.aio.Channel, Owner]:
        """Wait until the services run; a caller that is cancelled ends them.

        Raises:
            Exception: what kept them from starting.
        """
        try:
            return await self._ready
        except asyncio.CancelledError:
            if not self._task.done():
                self._ownership.retract()
                self._task.cancel()
            raise

    async def ended(self) -> ServicesEnded | None:
        """Wait until the services end; return why they failed, or `None` when they were stopped."""
        await asyncio.wait((self._task,))
        return None if self._failure is None else ServicesEnded(self._failure)

    async def close(self) -> None:
        """Stop the services and wait for their end; of services that failed before, the log has told.

        Raises:
            Exception: what went wrong while they stopped.
        """
        self._stop.set()
        await self._task

    async def _run(self) -> None:
        try:
            async with self._start(self._folder) as running:
                owner = self._describe(running)
                self._ownership.publish(owner)
                if not self._ready.done():
                    self._ready.set_result((running.channel, owner))
                try:
                    await self._stop.wait()
                finally:
                    self._ownership.retract()
        except Exception as exc:  # noqa: BLE001  # reported to whoever waits, or logged
            self._end(exc)

    def _end(self, error: Exception) -> None:
        if not self._ready.done():
            self._ready.set_exception(error)
        elif self._stop.is_set():
            raise error
        else:
            _log.error("home.services_failed", exc_info=error)
            self._failure = error


def _leaves(error: BaseException) -> list[BaseException]:
    """Return the errors in a group, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for part in error.exceptions for leaf in _leaves(part)]
    return [error]
