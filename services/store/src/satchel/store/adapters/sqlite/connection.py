"""Connections to the SQLite file, and SQLite's errors as the store's own.

A unit of work is a plain function over a `sqlite3.Connection` that runs on the connection's own thread:
one hop between threads for many statements, and no point at which a cancelled caller can leave a
transaction half done.
"""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import aiosqlite

from satchel.runtime.errors import Overloaded
from satchel.store.errors import StoreFull, StoreUnavailable

T = TypeVar("T")

log = logging.getLogger(__name__)

_FULL_CODES = frozenset({sqlite3.SQLITE_FULL})
_MIB = 1 << 20
_STATEMENTS = 256
_PRIMARY = 0xFF  # the low byte of an extended result code is its primary code: sqlite.org/rescode.html


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How connections are opened; sizes in bytes, times in milliseconds."""

    path: Path
    synchronous: str = "full"
    busy_timeout_ms: int = 5000
    cache_bytes: int = 32 * _MIB
    mmap_bytes: int = 256 * _MIB


class Connection(aiosqlite.Connection):
    """A connection whose thread runs whole units of work."""

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` on the connection's thread and return its result.

        Raises:
            StoreUnavailable: SQLite failed in a way that is no fault of the caller.
            StoreFull: there is no space left.
        """
        with translated():
            result: T = await self._execute(work, self._conn)  # type: ignore[no-untyped-call]  # aiosqlite's own seam
            return result


@contextmanager
def translated() -> Iterator[None]:
    """Turn SQLite's errors into the store's; the cause goes to the log and stays there."""
    try:
        yield
    except sqlite3.Error as error:
        raise domain_error(error) from error
    except ValueError as error:  # what aiosqlite says of a closed connection
        if "closed" not in str(error) and "no active connection" not in str(error):
            raise
        raise StoreUnavailable from error


def domain_error(error: sqlite3.Error) -> StoreFull | StoreUnavailable:
    """Return the error that a client may see, and log the cause."""
    code = getattr(error, "sqlite_errorcode", None)
    log.error("store.sqlite_failed", extra={"sqlite_code": code}, exc_info=error)
    if code is not None and code & _PRIMARY in _FULL_CODES:
        return StoreFull()
    return StoreUnavailable()


async def open_connection(options: Options, *, read_only: bool) -> Connection:
    """Open the file; a writer creates it. The caller closes the connection.

    Raises:
        StoreUnavailable: the file cannot be opened, or is no database.
    """
    mode = "ro" if read_only else "rwc"
    address = f"{options.path.absolute().as_uri()}?mode={mode}"

    def connector() -> sqlite3.Connection:
        return sqlite3.connect(address, uri=True, isolation_level=None, cached_statements=_STATEMENTS)

    connection = Connection(connector, iter_chunk_size=64)
    with translated():
        await connection
    try:
        await connection.run(lambda raw: _prepare(raw, options, read_only=read_only))
    except BaseException:
        await connection.close()
        raise
    return connection


def _prepare(raw: sqlite3.Connection, options: Options, *, read_only: bool) -> None:
    raw.execute(f"PRAGMA busy_timeout = {options.busy_timeout_ms}")
    raw.execute(f"PRAGMA cache_size = -{options.cache_bytes // 1024}")
    raw.execute(f"PRAGMA mmap_size = {options.mmap_bytes}")
    raw.execute("PRAGMA temp_store = MEMORY")
    raw.execute("PRAGMA foreign_keys = ON")
    if read_only:
        raw.execute("PRAGMA query_only = ON")
        return
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute(f"PRAGMA synchronous = {options.synchronous.upper()}")
    raw.execute("PRAGMA secure_delete = FAST")
    raw.execute("PRAGMA journal_size_limit = 67108864")


class ReaderPool:
    """Read-only connections for one unit of work at a time; at most ``max_waiting`` callers wait."""

    def __init__(self, connections: list[Connection], max_waiting: int) -> None:
        self._free: asyncio.LifoQueue[Connection] = asyncio.LifoQueue()
        for connection in connections:
            self._free.put_nowait(connection)
        self._all = connections
        self._waiting = 0
        self._max_waiting = max_waiting

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` in a read transaction: it sees one state of the store.

        Raises:
            Overloaded: too many callers wait already.
            StoreUnavailable: the database cannot be read.
        """
        async with self._connection() as connection:
            return await connection.run(lambda raw: _in_snapshot(raw, work))

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        if self._free.empty() and self._waiting >= self._max_waiting:
            raise Overloaded(queue="store.readers", limit=self._max_waiting, retry_after_s=0.5)
        self._waiting += 1
        try:
            connection = await self._free.get()
        finally:
            self._waiting -= 1
        try:
            yield connection
        finally:
            self._free.put_nowait(connection)

    async def close(self) -> None:
        """Close every connection after the work that it has."""
        for connection in self._all:
            await connection.close()


def _in_snapshot(raw: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    raw.execute("BEGIN")
    try:
        return work(raw)
    finally:
        raw.execute("ROLLBACK")
