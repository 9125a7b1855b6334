"""Reads a client's configuration file, and puts another in its place."""

import codecs
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from satchel.cli.registering.entry import FileUnusable


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file as it was read: ``path`` is the file itself where the client's place is a link to it."""

    path: Path
    content: bytes | None

    @property
    def text(self) -> str:
        """What it holds, without a byte order mark; nothing where it is not there.

        Raises:
            FileUnusable: it is not UTF-8.
        """
        try:
            return (self.content or b"").decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FileUnusable("It is not UTF-8.") from error


def read_file(place: Path) -> ConfigFile:
    """Read the file at a client's place.

    Raises:
        OSError: it cannot be read.
    """
    path = Path(os.path.realpath(place))
    return ConfigFile(path, path.read_bytes() if path.exists() else None)


def replace_file(before: ConfigFile, text: str) -> Path | None:
    """Put a new text in place of a file at once, and return where the old one is kept, if there was one.

    Raises:
        FileUnusable: the file was changed since it was read; it is left as it is.
        OSError: it cannot be written.
    """
    path = before.path
    path.parent.mkdir(parents=True, exist_ok=True)
    mark = codecs.BOM_UTF8 if (before.content or b"").startswith(codecs.BOM_UTF8) else b""
    backup = None
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        try:
            file.write(mark + text.encode())
            file.flush()
            os.fsync(file.fileno())
            _require_unchanged(before)
            if before.content is not None:
                Path(file.name).chmod(path.stat().st_mode & 0o7777)
                backup = _kept(path)
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            if backup is not None:
                backup.unlink(missing_ok=True)
            raise
    return backup


def _require_unchanged(before: ConfigFile) -> None:
    if read_file(before.path).content != before.content:
        raise FileUnusable("It was changed just now; run the command again.")


def _kept(path: Path) -> Path:
    """Copy a file beside itself, under a name that says when; an earlier copy is never overwritten."""
    stamp, number = time.strftime("%Y%m%d-%H%M%S"), 0
    while (backup := path.with_name(f"{path.name}.{stamp}{f'-{number}' if number else ''}.bak")).exists():
        number += 1
    shutil.copy2(path, backup)
    return backup
