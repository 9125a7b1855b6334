"""One data folder, one owner: finds the Satchel that runs on a folder, or becomes it.

Every process that wants to work on a folder opens a `Home`. The first one becomes the owner: it starts
the services in its own process and publishes their address. The others are guests: they call the owner
over gRPC. When the owner goes away, the next call of a guest finds a new owner or becomes it, so that an
agent never notices that another one ended. Nothing here knows what the services do.
"""

import asyncio
import contextvars
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import grpc

from satchel.gateway.data_folder import DataFolder, FileLock, FolderBusy, Owner, Ownership
from satchel.gateway.home_channel import HomeChannel, Link

_WAIT_S = 60.0
_APART_REMEDY = "Its services run apart: name them with --url store=host:port,allocator=host:port."
_STOP_REMEDY = "Stop it, or choose another folder with --data-dir."


class Running(Protocol):
    """What the owner runs: a channel of its own, and where others reach it."""

    @property
    def channel(self) -> grpc.aio.Channel:
        """Channel to the services in this process."""

    @property
    def grpc_address(self) -> str:
        """Address of the gRPC server, as ``host:port``."""

    @property
    def http_address(self) -> str:
        """URL of the HTTP door; empty for none."""


Start = Callable[[DataFolder], AbstractAsyncContextManager[Running]]
Connect = Callable[[str], AbstractAsyncContextManager[grpc.aio.Channel]]


class Home:
    """One process's place at a data folder, as its owner or as a guest.

    ``start`` runs the services when this process becomes the owner; ``connect`` opens a channel to another
    owner; ``role`` is what the lock file will call this process; no wait is longer than ``wait_s``.
    Enter it before use. It decides at the first call, or at `settle`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        start: Start,
        connect: Connect,
        role: str,
        version: str = "",
        wait_s: float = _WAIT_S,
    ) -> None:
        self.folder = DataFolder(folder)
        self.channel = HomeChannel(self)
        self._start = start
        self._connect = connect
        self._role = role
        self._version = version
        self._wait_s = wait_s
        self._link: Link | None = None
        self._deciding = asyncio.Lock()

    async def __aenter__(self) -> Self:
        self.folder.prepare()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        async with self._deciding:
            await self._leave()

    async def settle(self) -> Link:
        """Return the link to the owner; find the owner, or become it, if there is no link yet.

        Raises:
            FolderBusy: an owner neither became ready nor went away within the wait.
        """
        async with self._deciding:
            if self._link is None:
                self._link = await self._find()
            return self._link

    async def own(self) -> Link:
        """Become the owner, after waiting for a single command that runs on the folder.

        Raises:
            FolderBusy: another Satchel owns the folder and means to stay.
        """
        async with self._deciding:
            if self._link is None:
                self._link = await self._find(may_join=False)
            return self._link

    async def replace(self, lost: Link) -> Link:
        """Return another link because ``lost`` does not answer, or ``lost`` itself if its owner lives."""
        async with self._deciding:
            if self._link is not None and self._link is not lost:
                return self._link  # another call found it already
            found = await self._find(beside=lost)
            if found is not lost:
                await lost.close()
                self._link = found
            return found

    async def _find(self, *, may_join: bool = True, beside: Link | None = None) -> Link:
        gate = await FileLock.acquire(self.folder.gate_file, self._wait_s)
        if gate is None:
            raise FolderBusy(self.folder, self.folder.owner(), "It did not become ready in time; try again.")
        try:
            return await self._decide(may_join=may_join, beside=beside)
        finally:
            gate.release()

    async def _decide(self, *, may_join: bool, beside: Link | None) -> Link:
        lock = FileLock.try_acquire(self.folder.lock_file)
        owner = self.folder.owner() if lock is None else None
        if owner is not None and owner.role == "serve store":
            raise FolderBusy(self.folder, owner, _APART_REMEDY)
        if owner is not None and may_join:
            return beside if beside is not None and beside.owner == owner else await self._join(owner)
        if lock is None and (owner is None or owner.role == "command"):
            # The owner is closing, or is one call long: the lock comes free without our doing.
            lock = await FileLock.acquire(self.folder.lock_file, self._wait_s)
        if lock is None:
            raise FolderBusy(self.folder, owner, _STOP_REMEDY)
        return await self._become(lock)

    async def _join(self, owner: Owner) -> Link:
        opened = self._connect(owner.grpc)
        channel = await opened.__aenter__()

        async def close() -> None:
            await opened.__aexit__(None, None, None)

        return Link(channel, owner, own=False, close=close)

    async def _become(self, lock: FileLock) -> Link:
        # The services are entered and left by one task of their own: calls come from any task, and what
        # the services start must not inherit the context (such as the trace) of the call that came first.
        ready: asyncio.Future[Link] = asyncio.get_running_loop().create_future()
        stop = asyncio.Event()
        keeper = asyncio.create_task(
            self._keep(Ownership(lock), ready, stop), name="satchel-owner", context=contextvars.Context()
        )

        async def close() -> None:
            stop.set()
            await keeper

        try:
            link = await ready
        except asyncio.CancelledError:
            keeper.cancel()
            raise
        return Link(link.channel, link.owner, own=True, close=close)

    async def _keep(self, ownership: Ownership, ready: "asyncio.Future[Link]", stop: asyncio.Event) -> None:
        try:
            async with self._start(self.folder) as running:
                owner = self._describe(running)
                ownership.publish(owner)
                if not ready.done():
                    ready.set_result(Link(running.channel, owner, own=True, close=_nothing))
                await stop.wait()
                ownership.retract()
        except Exception as exc:
            if ready.done():
                raise
            ready.set_exception(exc)
        finally:
            ownership.release()

    def _describe(self, running: Running) -> Owner:
        return Owner(
            pid=os.getpid(),
            grpc=running.grpc_address,
            http=running.http_address,
            version=self._version,
            started_at=datetime.now(UTC).isoformat(timespec="microseconds"),
            role=self._role,
        )

    async def _leave(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()


async def _nothing() -> None:
    """Close nothing: the keeper closes what it opened."""
