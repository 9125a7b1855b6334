"""Where an export goes: stdout, a file that takes its place when it is complete, or a device or pipe."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from satchel.cli.exits import CommandError, Exit


@contextmanager
def opened_output(output: Path) -> Iterator[IO[bytes]]:
    """Open where ``output`` leads, symbolic links followed, for a ``with`` block; ``-`` is stdout.

    A regular file is written beside its place, and takes it once it is complete and on disk. Anything else
    that is there, such as a pipe or ``/dev/stdout``, is written into and stays what it is.

    Raises:
        CommandError: it is a folder, or its folder does not exist.
        OSError: it cannot be written.
    """
    if str(output) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(os.path.realpath(output))  # not `resolve`: the descriptors in /proc/self/fd lead nowhere
    if output.is_dir():
        raise CommandError(f"{output} is a folder. Name a file with --output.", Exit.USAGE)
    if output.exists() and not output.is_file():
        with output.open("wb", buffering=0) as file:
            yield file
        return
    if not target.parent.is_dir():
        raise CommandError(f"The folder {target.parent} does not exist. Make it first.", Exit.USAGE)
    with _replacing(target) as file:
        yield file


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    with _named_after(target), _new_file_beside(target) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            _take_rights(file.fileno(), target)
            Path(file.name).replace(target)
            _sync_folder(target.parent)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def _new_file_beside(target: Path) -> "tempfile._TemporaryFileWrapper[bytes]":
    return tempfile.NamedTemporaryFile(dir=target.parent, prefix=".satchel-export-", delete=False)


@contextmanager
def _named_after(target: Path) -> Iterator[None]:
    """Let an error about the unfinished file name the file that a person asked for."""
    try:
        yield
    except OSError as exc:
        exc.filename = str(target)
        raise


def _take_rights(descriptor: int, target: Path) -> None:
    """Give the new file the rights of the one that it replaces; a new one is its user's alone."""
    if target.exists():
        os.fchmod(descriptor, target.stat().st_mode & 0o7777)


def _sync_folder(folder: Path) -> None:
    """Make sure that a new name in a folder survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
