"""Provides the data folder: its layout, its rights, and the locks that give it one owner.

Two files in the folder are locked with `flock`, so a lock ends with its process and never goes stale:

- ``satchel.lock`` is held by the owner as long as it lives; its text says where the owner listens.
- ``satchel.gate`` is held while a process finds out whether it becomes the owner, and until the new
  owner has published where it listens. Whoever waits, waits for this lock, asleep, not by polling.

An owner that is no server of its own accord listens on a Unix socket in the folder, which only the folder's
user can reach; a loopback port would be open to every user of the machine.

Neither file is ever removed: removing a locked file would let two processes lock two files of one name.
"""

import asyncio
import errno
import fcntl
import json
import logging
import os
import secrets
import socket
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from satchel.runtime.errors import Code, PeerUnavailable, ServiceError

_log = logging.getLogger("satchel.home")

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600
_MAX_OWNER_BYTES = 65536
_LEAST_OWNER_BYTES = 512
# The kernel keeps 104 (macOS) or 108 bytes (Linux, unix(7)) for a socket's path with its closing zero.
_MAX_SOCKET_PATH_BYTES = 100


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that runs on a data folder, as its lock file names it.

    ``grpc`` is a ``host:port`` or ``unix:`` and a path; ``socket`` another of the latter kind, where ``grpc``
    asks for a key; ``http`` a URL, empty when there is no HTTP door;
    ``role`` is ``up``, ``mcp``, ``serve store`` or ``command`` (a single call of the command line);
    ``started_at`` an RFC 3339 time.
    """

    pid: int
    grpc: str
    http: str = ""
    version: str = ""
    started_at: str = ""
    role: str = "up"
    socket: str = ""

    def describe(self) -> str:
        """Name the owner for a message to a person."""
        return f"process {self.pid} ('satchel {self.role}', gRPC at {self.grpc or 'no address yet'})"


class DataFolder:
    """A folder that belongs to one user, readable by nobody else."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()

    @property
    def database(self) -> Path:
        """File of the store."""
        return self.path / "satchel.db"

    @property
    def index(self) -> Path:
        """Folder of the index's snapshots."""
        return self.path / "index"

    @property
    def lock_file(self) -> Path:
        """File whose lock the owner holds."""
        return self.path / "satchel.lock"

    @property
    def gate_file(self) -> Path:
        """File whose lock is held while the owner is being found out."""
        return self.path / "satchel.gate"

    def prepare(self) -> None:
        """Make the folder with mode 0700, or take group's and others' rights from it.

        Raises:
            FolderUnusable: the folder cannot be made or belongs to somebody else.
        """
        try:
            self.path.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            if self.path.stat().st_mode & 0o077:
                self.path.chmod(_FOLDER_MODE)
        except OSError as exc:
            raise FolderUnusable(self.path, exc) from exc

    def owner(self) -> Owner | None:
        """Return the owner that the lock file names; `None` when it names none or cannot be read.

        The text outlives an owner that was killed: only `is_owned` tells whether there is one.
        """
        try:
            with self.lock_file.open("rb") as file:
                return _decode_owner(file.read(_MAX_OWNER_BYTES))
        except OSError:
            return None

    def is_owned(self) -> bool:
        """Tell whether a living process holds the lock, or is about to.

        It tries the lock behind the gate, so that nobody who decides meanwhile finds it taken.

        Raises:
            FolderUnusable: the lock files can neither be opened nor made.
        """
        gate = FileLock.try_acquire(self.gate_file)
        if gate is None:
            return True
        lock = FileLock.try_acquire(self.lock_file)
        if lock is not None:
            lock.release()
        gate.release()
        return lock is None

    def new_socket(self) -> str | None:
        """Return the gRPC name of a new Unix socket in the folder, ``unix:/...``, for the owner to listen on.

        `None` when there can be none: the path is too long, or the file system has no sockets. Sockets that
        killed owners left behind are removed. No name comes twice: an owner that ends late must not remove
        the socket of the next one.
        """
        for left in self.path.glob("owner-*.sock"):
            with suppress(OSError):
                left.unlink()
        path = self.path / f"owner-{secrets.token_hex(4)}.sock"
        if len(os.fsencode(path)) > _MAX_SOCKET_PATH_BYTES or not _can_bind(path):
            return None
        return f"unix:{quote(os.fsencode(path))}"


class FileLock:
    """An exclusive `flock` on a file, held until `release` or the end of the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def try_acquire(cls, path: Path) -> "FileLock | None":
        """Take the lock if it is free, without waiting.

        Raises:
            FolderUnusable: the file can neither be opened nor made.
        """
        descriptor = _open(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return cls(descriptor)

    @classmethod
    async def acquire(cls, path: Path, timeout_s: float) -> "FileLock | None":
        """Take the lock, waiting at most ``timeout_s``; `None` when it did not come free.

        The wait is a blocking `flock` on a thread of its own. A wait that is given up cannot be woken:
        its thread gives the lock back as soon as it gets it, and does not keep the process alive.
        """
        lock = cls.try_acquire(path)
        if lock is not None or timeout_s <= 0:
            return lock
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[FileLock] = loop.create_future()
        descriptor = _open(path)

        def deliver() -> None:
            if waiting.done():
                os.close(descriptor)
            else:
                waiting.set_result(cls(descriptor))

        def wait() -> None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            try:
                loop.call_soon_threadsafe(deliver)
            except RuntimeError:  # the loop is closed: nobody waits any more
                os.close(descriptor)

        threading.Thread(target=wait, name="satchel-lock", daemon=True).start()
        try:
            return await asyncio.wait_for(waiting, timeout_s)
        except TimeoutError:
            return None

    def write(self, text: bytes) -> None:
        """Replace the text of the locked file; a reader sees the old text, the new one, or half of it.

        The file never shrinks, blanks fill it up: what it takes on disk is there when the disk is full.

        Raises:
            OSError: the file has no place on disk yet, and there is none.
        """
        size = max(os.fstat(self._descriptor).st_size, _LEAST_OWNER_BYTES)
        os.pwrite(self._descriptor, text.ljust(size), 0)

    def release(self) -> None:
        """Give the lock back. Calling it again does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class Ownership:
    """The right to open the data folder, until `release`.

    On a full disk an owner may be unable to say where it listens: it works, but by itself.
    """

    def __init__(self, lock: FileLock) -> None:
        self._lock = lock
        self.retract()  # what a killed owner left behind names nobody

    def publish(self, owner: Owner) -> None:
        """Write down who owns the folder and where it listens."""
        try:
            self._lock.write(json.dumps(asdict(owner)).encode() + b"\n")
        except OSError as exc:
            _log.warning("owner.not_published", extra={"cause": exc.strerror})

    def retract(self) -> None:
        """Name nobody: those who come now wait for the lock instead of calling a closing owner."""
        with suppress(OSError):  # where nothing can be written, nothing is
            self._lock.write(b"")

    def release(self) -> None:
        """Let somebody else become the owner."""
        self._lock.release()


class FolderBusy(PeerUnavailable):
    """Another process owns the data folder, and this one cannot work beside it."""

    def __init__(self, folder: DataFolder, owner: Owner | None, remedy: str) -> None:
        who = "another process, which is starting or stopping" if owner is None else owner.describe()
        super().__init__(f"The data folder {folder.path} is owned by {who}. {remedy}", retry_after_s=None)


class FolderUnusable(ServiceError):  # noqa: N818  # as the errors of the runtime
    """The data folder cannot be made, or its locks cannot be opened: reading needs them too."""

    code = Code.UNAVAILABLE
    reason = "ERROR_REASON_STORE_UNAVAILABLE"

    def __init__(self, path: Path, cause: OSError) -> None:
        why, self.remedy = _TROUBLES.get(cause.errno or 0, (cause.strerror or str(cause), _CHOOSE))
        super().__init__(
            f"The data folder cannot be used: {path} cannot be opened or made ({why}). {self.remedy}",
            remedy=self.remedy,
        )


_CHOOSE = "Choose another folder with --data-dir."
_ALLOW = (
    "Even reading needs its locks: allow writing to the folder, or copy it to where you may write and name "
    "the copy with --data-dir."
)
_TROUBLES = {
    errno.EACCES: ("permission denied", _ALLOW),
    errno.EPERM: ("permission denied", _ALLOW),
    errno.EROFS: ("the file system is read-only", _ALLOW),
    errno.ENOSPC: ("the disk is full", "Free space on that disk, then try again."),
    errno.EDQUOT: ("the disk quota is used up", "Free space on that disk, then try again."),
}


def _can_bind(path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.bind(os.fsencode(path))
    except OSError:
        return False
    path.unlink()
    return True


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _FILE_MODE)
    except OSError as exc:
        raise FolderUnusable(path, exc) from exc


def _decode_owner(text: bytes) -> Owner | None:
    try:
        found = json.loads(text)
        return Owner(**{key: found[key] for key in Owner.__slots__ if key in found})
    except (ValueError, TypeError):
        return None
