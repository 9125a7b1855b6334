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
from satchel.runtime.metrics.queues import count_rejection, watch_queue
from satchel.store.errors import StoreFull, StoreUnavailable

T = TypeVar("T")

log = logging.getLogger(__name__)

_READS = "store.readers"

_SHM_SIZE = sqlite3.SQLITE_IOERR_SHMSIZE  # no space for the log's index
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_UNWRITABLE = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
)
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
    """Return the error that a client may see, and log the cause: where it says all, without a traceback."""
    known = _known_error(_code_of(error))
    details = {"sqlite_code": _code_of(error), "cause": str(error)}
    log.error("store.sqlite_failed", extra=details, exc_info=None if known else error)
    return known or StoreUnavailable()


def _known_error(code: int) -> StoreFull | StoreUnavailable | None:
    primary = code & _PRIMARY
    if primary == sqlite3.SQLITE_FULL or code == _SHM_SIZE:
        return StoreFull()
    if primary in _DAMAGED:
        return StoreUnavailable.damaged()
    return StoreUnavailable.read_only() if primary == sqlite3.SQLITE_READONLY else None


def _code_of(error: BaseException | None) -> int:
    """Return SQLite's extended code; 0 for an error that Python's driver found itself."""
    return getattr(error, "sqlite_errorcode", 0)


async def open_connection(options: Options, *, read_only: bool) -> Connection:
    """Open the file; a writer creates it. The caller closes the connection.

    A file that lies on a full disk or in a folder that cannot be written, where SQLite finds no place for the
    index of its log, is opened as one that nobody changes: it is read as ever, and writes are refused.

    Raises:
        StoreUnavailable: the file cannot be opened, or is no database.
        StoreFull: there is no space for a new file.
    """
    try:
        return await _open(options, "ro" if read_only else "rwc", read_only=read_only)
    except (StoreUnavailable, StoreFull) as error:
        if not _can_be_read_alone(options.path, error.__cause__):
            raise
    log.warning("store.opened_for_reading_only")
    return await _open(options, "ro&immutable=1", read_only=True)


def _can_be_read_alone(path: Path, cause: BaseException | None) -> bool:
    """Tell whether only writing beside the file failed, and the file has all of the data."""
    log_file = path.with_name(path.name + "-wal")
    is_whole = path.is_file() and path.stat().st_size and not (log_file.exists() and log_file.stat().st_size)
    return bool(is_whole) and _code_of(cause) & _PRIMARY in _UNWRITABLE


async def _open(options: Options, mode: str, *, read_only: bool) -> Connection:
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
        raw.execute("SELECT count(*) FROM sqlite_master").fetchone()  # what cannot be read shows itself here
        return
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute(f"PRAGMA synchronous = {options.synchronous.upper()}")
    raw.execute("PRAGMA secure_delete = ON")
    raw.execute("PRAGMA journal_size_limit = 67108864")


class ReaderPool:
    """Read-only connections, each for one unit of work at a time; at most ``max_waiting`` callers wait.

    Who opened the connections closes them.
    """

    def __init__(self, connections: list[Connection], max_waiting: int) -> None:
        self._free: asyncio.LifoQueue[Connection] = asyncio.LifoQueue()
        for connection in connections:
            self._free.put_nowait(connection)
        self._waiting = 0
        self._max_waiting = max_waiting
        watch_queue(self, _READS, limit=max_waiting, depth=lambda pool: pool.waiting)

    @property
    def waiting(self) -> int:
        """Number of callers that wait for a connection."""
        return self._waiting

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
            count_rejection(_READS)
            raise Overloaded(queue=_READS, limit=self._max_waiting, retry_after_s=0.5)
        self._waiting += 1
        try:
            connection = await self._free.get()
        finally:
            self._waiting -= 1
        try:
            yield connection
        finally:
            self._free.put_nowait(connection)


def _in_snapshot(raw: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    raw.execute("BEGIN")
    try:
        return work(raw)
    finally:
        raw.execute("ROLLBACK")
