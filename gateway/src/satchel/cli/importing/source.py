"""Opens what `satchel import` was pointed at, and finds out which format it has."""

import codecs
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from satchel.cli.importing.chat import is_message_list, read_chat
from satchel.cli.importing.formats import ImportFormat
from satchel.cli.importing.jsonl import parse_json, read_lines, read_objects
from satchel.cli.importing.locomo import is_locomo, read_locomo
from satchel.cli.importing.markdown import MARKDOWN_SUFFIXES, TEXT_SUFFIXES, read_document
from satchel.cli.importing.records import ImportFormatError, Json, Record, Refused

_LOOKED_AT = 4096
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv"})


@dataclass(frozen=True, slots=True)
class Source:
    """Records in order, and how many there are if that is known before they are read."""

    format: ImportFormat
    records: Iterator[Record]
    total: int | None


def open_source(path: Path, chosen: ImportFormat) -> Source:
    """Open a file, a folder, or ``-`` for stdin.

    Raises:
        ImportFormatError: the format cannot be told, or the input does not have it.
        OSError: the path cannot be read.
    """
    if str(path) == "-":
        return _open_stdin(chosen)
    if path.is_dir() or path.suffix.lower() in MARKDOWN_SUFFIXES | TEXT_SUFFIXES:
        return _open_documents(path, chosen)
    if chosen is ImportFormat.FOLDER:
        return Source(ImportFormat.FOLDER, _documents([path], path.parent), None)
    if chosen is ImportFormat.JSONL or (chosen is ImportFormat.AUTO and path.suffix != ".json"):
        return _open_lines(path, is_named=chosen is ImportFormat.JSONL)
    return _of_json(_load(path), path.stem, chosen)


def _open_stdin(chosen: ImportFormat) -> Source:
    if chosen in {ImportFormat.AUTO, ImportFormat.JSONL}:
        return Source(ImportFormat.JSONL, read_lines(_lines_of_stdin(), "stdin"), None)
    if chosen is ImportFormat.FOLDER:
        return Source(chosen, _document("stdin", sys.stdin.buffer.read(), markdown=True), None)
    return _of_json(_parse(sys.stdin.buffer.read(), "stdin"), "stdin", chosen)


def _lines_of_stdin() -> Iterator[bytes]:
    """Yield the lines of stdin; Ctrl-C ends a wait for one.

    The event loop cannot, although it catches the signal: it waits for the line itself.
    """
    lines = iter(sys.stdin.buffer)
    while True:
        of_loop = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            line = next(lines, None)
        finally:
            signal.signal(signal.SIGINT, of_loop)
        if line is None:
            return
        yield line


def _open_documents(path: Path, chosen: ImportFormat) -> Source:
    if chosen not in {ImportFormat.AUTO, ImportFormat.FOLDER}:
        raise ImportFormatError(f"{path} is a folder or a text; import it with --format folder.")
    files = _text_files(path) if path.is_dir() else [path]
    if not files:
        raise ImportFormatError(f"The folder {path} holds no Markdown or text files.")
    records = [*_documents(files, path if path.is_dir() else path.parent)]
    return Source(ImportFormat.FOLDER, iter(records), len(records))


def _text_files(folder: Path) -> list[Path]:
    """List Markdown and text files by path.

    Hidden ones, folders of dependencies, and links that lead out of the folder are left out: who imports a
    folder that somebody else made must not read files of their own from elsewhere.
    """
    known = MARKDOWN_SUFFIXES | TEXT_SUFFIXES
    root = folder.resolve()
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in known
        and not any(
            part.startswith(".") or part in _SKIPPED_FOLDERS for part in path.relative_to(folder).parts
        )
        and path.is_file()
        and path.resolve().is_relative_to(root)
    )


def _documents(files: list[Path], root: Path) -> Iterator[Record]:
    folder = root.resolve().name
    for file in files:
        # The folder's own name keeps two folders that both have a README apart.
        name = _shown("/".join((folder, *file.relative_to(root).parts)).lstrip("/"))
        try:
            text = file.read_bytes()
        except OSError as exc:
            yield Refused(name, f"The file cannot be read: {exc.strerror}.")
        else:
            yield from _document(name, text, markdown=file.suffix.lower() in MARKDOWN_SUFFIXES)


def _document(name: str, text: bytes, *, markdown: bool) -> Iterator[Record]:
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError:
        yield Refused(name, "The file is not UTF-8 text; convert it first.")
    else:
        yield from read_document(name, decoded.replace("\r\n", "\n"), markdown=markdown)


def _shown(name: str) -> str:
    """Return a file's name as text; bytes that are not UTF-8 are written in hexadecimal."""
    return os.fsencode(name).decode(errors="backslashreplace")


def _open_lines(path: Path, *, is_named: bool) -> Source:
    name = _shown(path.name)
    if path.exists() and not path.is_file():
        return Source(ImportFormat.JSONL, _lines_of(path, name), None)  # a pipe can be read only once
    with path.open("rb") as file:
        begin = file.read(_LOOKED_AT)
        if b"\0" in begin and not is_named:
            raise ImportFormatError(f"{path} is no text. Name its format with --format if it is one.")
        if begin.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"[":
            return _of_json(_load(path), path.stem, ImportFormat.JSONL)
        file.seek(0)
        total = sum(1 for line in file if line.strip())
    return Source(ImportFormat.JSONL, _lines_of(path, name), total)


def _lines_of(path: Path, name: str) -> Iterator[Record]:
    with path.open("rb") as file:
        yield from read_lines(file, name)


def _of_json(data: Json, stem: str, chosen: ImportFormat) -> Source:
    found = _detect(data) if chosen is ImportFormat.AUTO else chosen
    if found is ImportFormat.LOCOMO:
        records = list(read_locomo(data, stem))
    elif found is ImportFormat.CHAT:
        records = list(read_chat(data, stem))
    else:
        records = list(read_objects(data if isinstance(data, list) else [data], stem))
    return Source(found, iter(records), len(records))


def _detect(data: Json) -> ImportFormat:
    if is_locomo(data):
        return ImportFormat.LOCOMO
    first: Any = data[0] if isinstance(data, list) and data else data
    if isinstance(first, dict) and isinstance(first.get("messages"), list):
        return ImportFormat.CHAT
    if isinstance(first, dict) and "wing" not in first and is_message_list(data):
        return ImportFormat.CHAT
    if isinstance(first, dict) and "content" in first:
        return ImportFormat.JSONL
    raise ImportFormatError(
        "The JSON file is no export, no chat and no LoCoMo file. Name its format with --format."
    )


def _load(path: Path) -> Json:
    return _parse(path.read_bytes(), str(path))


def _parse(text: bytes, name: str) -> Json:
    try:
        return parse_json(text)
    except ValueError as exc:
        raise ImportFormatError(f"{name} {exc}.") from exc
