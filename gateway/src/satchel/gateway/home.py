"""One data folder, one owner: finds the Satchel that runs on a folder, or becomes it.

Every process that wants to work on a folder opens a `Home`. The first one becomes the owner: it starts
the services in its own process and publishes their address. The others are guests: they call the owner
over gRPC. When the owner goes away, the next call of a guest finds a new owner or becomes it, so that an
agent never notices that another one ended. Nothing here knows what the services do.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import grpc

from satchel.gateway.data_folder import DataFolder, FileLock, FolderBusy, Owner, Ownership
from satchel.gateway.home_channel import HomeChannel, Link
from satchel.gateway.home_services import OwnServices, Running, ServicesEnded, Start

_WAIT_S = 60.0
_DYING_PAUSES_S = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16)
_APART_REMEDY = "Its services run apart: name them with --url store=host:port,allocator=host:port."
_STOP_REMEDY = "Stop it, or choose another folder with --data-dir."


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
        self._services: OwnServices | None = None
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

        A link to services of this process that have failed is dropped: they are started again, or another
        process has become the owner meanwhile.

        Raises:
            FolderBusy: an owner neither became ready nor went away within the wait.
        """
        async with self._deciding:
            if self._services is not None and self._services.is_over:
                await self._leave()
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

    async def ended(self) -> ServicesEnded | None:
        """Wait until the services that this process runs end, if it runs any; return why, if they failed."""
        return None if self._services is None else await self._services.ended()

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
        if beside is not None and beside.owner == owner:
            lock = await self._lock_of_the_dying()
            if lock is None:
                return beside
        elif owner is not None and may_join:
            return await self._join(owner)
        if lock is None and (owner is None or owner.role == "command"):
            # The owner is closing, or is one call long: the lock comes free without our doing.
            lock = await FileLock.acquire(self.folder.lock_file, self._wait_s)
        if lock is None:
            raise FolderBusy(self.folder, owner, _STOP_REMEDY)
        return await self._become(lock)

    async def _lock_of_the_dying(self) -> FileLock | None:
        """Take the lock of an owner that does not answer; `None` when it lives.

        The kernel closes the files of a killed process one by one: its connections may break a moment before
        its lock is free.
        """
        for pause_s in _DYING_PAUSES_S:
            lock = FileLock.try_acquire(self.folder.lock_file)
            if lock is not None:
                return lock
            await asyncio.sleep(pause_s)
        return None

    async def _join(self, owner: Owner) -> Link:
        opened = self._connect(owner.socket or owner.grpc)
        channel = await opened.__aenter__()

        async def close() -> None:
            await opened.__aexit__(None, None, None)

        return Link(channel, owner, own=False, close=close)

    async def _become(self, lock: FileLock) -> Link:
        services = OwnServices(self.folder, Ownership(lock), self._start, self._describe)
        channel, owner = await services.ready()
        self._services = services
        return Link(channel, owner, own=True, close=services.close)

    def _describe(self, running: Running) -> Owner:
        return Owner(
            pid=os.getpid(),
            grpc=running.grpc_address,
            socket=running.local_address,
            http=running.http_address,
            version=self._version,
            started_at=datetime.now(UTC).isoformat(timespec="microseconds"),
            role=self._role,
        )

    async def _leave(self) -> None:
        link, self._link, self._services = self._link, None, None
        if link is not None:
            await link.close()
