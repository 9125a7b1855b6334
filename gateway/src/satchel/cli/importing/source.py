"""Opens what `satchel import` was pointed at, and finds out which format it has."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from satchel.cli.importing.chat import is_message_list, read_chat
from satchel.cli.importing.formats import ImportFormat
from satchel.cli.importing.jsonl import read_lines, read_objects
from satchel.cli.importing.locomo import is_locomo, read_locomo
from satchel.cli.importing.markdown import MARKDOWN_SUFFIXES, TEXT_SUFFIXES, read_document
from satchel.cli.importing.records import ImportFormatError, Json, Record, Refused

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
        return _open_lines(path)
    return _of_json(_load(path), path.stem, chosen)


def _open_stdin(chosen: ImportFormat) -> Source:
    if chosen in {ImportFormat.AUTO, ImportFormat.JSONL}:
        return Source(ImportFormat.JSONL, read_lines(sys.stdin, "stdin"), None)
    if chosen is ImportFormat.FOLDER:
        return Source(chosen, read_document("stdin", sys.stdin.read(), markdown=True), None)
    return _of_json(_parse(sys.stdin.read(), "stdin"), "stdin", chosen)


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
    for file in files:
        name = file.relative_to(root).as_posix()
        try:
            text = file.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            yield Refused(name, "The file is not UTF-8 text; convert it first.")
        except OSError as exc:
            yield Refused(name, f"The file cannot be read: {exc.strerror}.")
        else:
            yield from read_document(name, text, markdown=file.suffix.lower() in MARKDOWN_SUFFIXES)


def _open_lines(path: Path) -> Source:
    with path.open(encoding="utf-8-sig") as file:
        first = file.read(256).lstrip()[:1]
        if first == "[":
            return _of_json(_load(path), path.stem, ImportFormat.JSONL)
        file.seek(0)
        total = sum(1 for line in file if line.strip())
    return Source(ImportFormat.JSONL, _lines_of(path), total)


def _lines_of(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8-sig") as file:
        yield from read_lines(file, path.name)


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
    try:
        return _parse(path.read_text(encoding="utf-8-sig"), str(path))
    except UnicodeDecodeError as exc:
        raise ImportFormatError(f"{path} is not UTF-8 text.") from exc


def _parse(text: str, name: str) -> Json:
    try:
        parsed: Json = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ImportFormatError(f"{name} is no JSON: {exc}.") from exc
    return parsed
