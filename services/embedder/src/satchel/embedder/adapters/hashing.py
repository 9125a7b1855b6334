"""SHA-256 of files and of what else decides which vectors a model makes."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def sha256_of_file(path: Path) -> str:
    """Return the digest of a file as 64 lower-case hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_lines(lines: Iterable[str]) -> str:
    """Return the digest of lines, each ended by a line feed, in UTF-8."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode("utf-8") + b"\n")
    return digest.hexdigest()
